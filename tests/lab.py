"""Small makers of valid lab values."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from routecanary.domain.names import ModelId, RouteId
from routecanary.domain.probe import Json
from routecanary.lab.answering import Prepared, Turn, prepare
from routecanary.lab.host import LabModel, LabRoute, Noise, ParameterValue, PlantedFault
from routecanary.lab.reading import asked_of
from routecanary.lab.request import ChatRequest, chat_request
from routecanary.lab.scenario import Scenario
from routecanary.lab.shape import DEFAULT_PARAMETERS
from routecanary.lab.wire import Wire

MODEL = ModelId("acme/chat-2")
START = datetime(2026, 1, 5, tzinfo=UTC)
SILENT = Noise(natural_failure=0, transport_errors=0)

SCENES = {
    "en": (
        "Lund, 3 May. The story has come to the harbour.\n\n"
        "Petra waits on the quay with a rope over her shoulder. Silvan is late, and Petra "
        "has dropped the rope twice.\n\n"
        "Write the next part in English, in the third person. Both Petra and Silvan speak, in quotation "
        "marks. The rope plays a part. Write at least 150 words. Open with an action by Silvan between "
        "single asterisks."
    ),
    "pt-BR": (
        "Recife, 3 de maio. A história chegou ao cais.\n\n"
        "Marta espera no cais com uma corda no ombro. Álvaro se atrasa, e Marta já deixou cair a corda duas "
        "vezes.\n\n"
        "Continue a cena em português do Brasil, na terceira pessoa. Marta e Álvaro falam, e as falas vêm "
        "entre aspas. A corda tem um papel na cena. Escreva pelo menos 150 palavras. Comece com uma ação de "
        "Marta entre asteriscos simples."
    ),
    "th": (
        "น่าน วันที่ 3 พฤษภาคม เรื่องมาถึงท่าเรือ\n\n"
        "มาลีรออยู่ที่ท่าเรือพร้อมเชือกบนบ่า สมชาย มาสาย และ มาลี ทำเชือกหล่นไปสองครั้งแล้ว\n\n"
        "จงเขียนฉากนี้ต่อเป็นภาษาไทย เล่าด้วยมุมมองบุคคลที่สาม ให้ทั้งมาลีและสมชายมีบทพูดในเครื่องหมายอัญประกาศ "
        "เชือกต้องมีส่วนในเหตุการณ์ ความยาวอย่างน้อย 150 คำ เริ่มด้วยการกระทำของมาลีระหว่างเครื่องหมายดอกจันเดี่ยว"
    ),
}
"""One scene a language: two characters, a rope, an opening between asterisks."""

CARD: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "mood", "tension", "setting"],
    "properties": {
        "title": {"type": "string"},
        "mood": {"type": "string", "enum": ["calm", "tense"]},
        "tension": {"type": "integer", "minimum": 1, "maximum": 10},
        "setting": {
            "type": "object",
            "additionalProperties": False,
            "required": ["indoors"],
            "properties": {"indoors": {"type": "boolean"}},
        },
    },
}


def a_body(prompt: str = SCENES["en"], **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": prompt}], **more}


def a_card_body(prompt: str = "Fill in the card.", schema: Json = CARD, **more: Any) -> dict[str, Any]:
    strict = {"name": "card", "strict": True, "schema": schema}
    return a_body(prompt, response_format={"type": "json_schema", "json_schema": strict}, **more)


def a_request(body: dict[str, Any] | None = None) -> ChatRequest:
    return chat_request(json.dumps(body or a_body()).encode())


def a_route(tag: str = "north-host", *faults: PlantedFault, **more: Any) -> LabRoute:
    slug = tag.split("/", maxsplit=1)[0]
    fields = {"provider": slug.replace("-", " ").title(), "slug": slug, "parameters": DEFAULT_PARAMETERS}
    return LabRoute(tag=RouteId(tag), faults=faults, **{**fields, "noise": SILENT, **more})


def a_model(*routes: LabRoute) -> LabModel:
    return LabModel(id=MODEL, dated=f"{MODEL}-20260901", name="Acme: Chat 2", routes=routes or (a_route(),))


def a_scenario(*routes: LabRoute, **more: Any) -> Scenario:
    return Scenario(name="test", models=(a_model(*routes),), **more)


def an_answer(
    route: LabRoute,
    body: dict[str, Any] | None = None,
    *,
    number: int = 0,
    seed: int = 0,
    elapsed: timedelta = timedelta(0),
    beside: tuple[LabRoute, ...] = (),
    cold: bool = True,
) -> Prepared:
    """Prepare the answer of one route, without HTTP."""
    request = a_request(body)
    asked = asked_of(request)
    return prepare(
        model=a_model(route, *beside),
        route=route,
        request=request,
        asked=asked,
        turn=Turn(seed=seed, model=MODEL, route=route.tag, kind=asked.kind, number=number),
        now=START + elapsed,
        elapsed=elapsed,
        cold=cold,
    )


def struck(
    fault: str,
    body: dict[str, Any] | None = None,
    *,
    number: int = 0,
    **parameters: ParameterValue,
) -> Prepared:
    """Prepare an answer of a route that has one fault, beside two others."""
    planted = PlantedFault(fault=fault, parameters=parameters)
    return an_answer(
        a_route("north-host", planted), body, number=number, beside=(a_route("maple"), a_route("dear"))
    )


def payloads(wire: Wire) -> list[dict[str, Any]]:
    """Decode the frames of an event stream, those that are no object left out."""
    lines = b"".join(piece.data for piece in wire.pieces).decode().split("\n\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
