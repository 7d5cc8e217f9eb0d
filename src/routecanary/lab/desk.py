"""Who answers a request, and how? The gateway without its sockets.

The desk checks the key, routes the request, has the route's answer prepared and enters it in the ledger.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import Final

from routecanary.domain.names import ModelId
from routecanary.domain.probe import Json
from routecanary.lab.account import ACCOUNT_REFUSALS
from routecanary.lab.answering import Prepared, Turn, prepare
from routecanary.lab.guardrails import Guardrails
from routecanary.lab.host import Account, LabModel, LabRoute
from routecanary.lab.keyring import Keyring, LabKey
from routecanary.lab.ledger import Ledger, Served
from routecanary.lab.prefixes import Prefixes
from routecanary.lab.reading import Asked, asked_of
from routecanary.lab.refusal import Refusal, RefusedError
from routecanary.lab.request import ChatRequest
from routecanary.lab.restriction import Restriction
from routecanary.lab.routing import Candidates, candidates
from routecanary.lab.scenario import Scenario
from routecanary.lab.stream import usage_of

KEPT_BODY: Final = 64 * 1024  # bytes; a longer request is not kept in the ledger

SHORTHANDS: Final = (":nitro", ":floor", ":exacto")
"""Ends of a model id that change the routing and not the model."""


_PIPELINE_TYPES: Final = {
    "response-healing": "response_healing",
    "context-compression": "context_compression",
}
"""Plugins that the router's metadata names by a type of their own."""


class Desk:
    """Answers requests one after another; `account` may be set at any time."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int,
        now: Callable[[], datetime],
        route: Candidates = candidates,
    ) -> None:
        self.scenario = scenario
        self.account = scenario.account
        self.ledger = Ledger()
        self.spent = 0.0  # USD
        self._seed = seed
        self._candidates = route
        self._now = now
        self.began = now()
        self.keyring = Keyring(scenario.all_keys())
        self.guardrails = Guardrails(self.keyring, now, full_tags=scenario.guardrails_full_tags)
        self.guardrails.begin(scenario.guardrails)
        self._turns: Counter[tuple[str, str, str]] = Counter()
        self._prefixes = Prefixes()
        self._routings = 0
        self._models = {name: model for model in scenario.models for name in (model.id, model.dated)}

    @property
    def elapsed(self) -> timedelta:
        """Policy time since the lab began; never negative."""
        return max(timedelta(0), self._now() - self.began)

    def check_key(self, authorization: str) -> LabKey:
        """Find whose an `Authorization` header is.

        Raises:
            RefusedError: With 401.
        """
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise RefusedError(Refusal(status=401, message="No auth credentials found"))
        key = self.keyring.find(given.strip())
        if key is None or self.account is Account.KEY_REVOKED:
            raise RefusedError(ACCOUNT_REFUSALS[Account.KEY_REVOKED])
        return key

    def model(self, name: str) -> LabModel:
        """Look up a model by its id or dated slug, whatever routing shorthand stands at its end.

        Raises:
            RefusedError: With 404.
        """
        base = name
        for shorthand in SHORTHANDS:
            base = base.removesuffix(shorthand)
        model = self._models.get(ModelId(base))
        if model is None:
            message = f"No endpoints found for {name[:200]}."
            raise RefusedError(Refusal(status=404, message=message, metadata={"error_type": "not_found"}))
        return model

    def answer(
        self, request: ChatRequest, *, key: LabKey | None = None, wants_metadata: bool = False
    ) -> Prepared:
        """Prepare the answer to a request.

        A route that answers with an error gives way to the next that may be tried; the last error stands.

        Args:
            key: Whose request it is; None = one that no guardrail covers.
        Raises:
            RefusedError: The account is at fault, or no route is left.
        """
        refusal = ACCOUNT_REFUSALS.get(self.account)
        if refusal is not None:
            raise RefusedError(refusal)
        if key is not None and key.management:
            raise RefusedError(Refusal(status=403, message="Management keys cannot be used for inference"))
        asked = asked_of(request)
        restrictions = () if key is None else self.guardrails.restrictions(key)
        try:
            model, tried = self._route(request, restrictions)
        except RefusedError as error:
            if not wants_metadata:
                raise
            router = {"requested": request.models[0], "attempt": 0, "pipeline": self._pipeline(request)}
            raise RefusedError(replace(error.refusal, router=router)) from None
        attempts: list[tuple[LabRoute, int]] = []
        for route in tried:
            prepared = self._prepare(model, route, request, asked)
            attempts.append((route, prepared.status))
            if wants_metadata:
                metadata = router_metadata(request, model, tried, attempts, self._pipeline(request))
                prepared = replace(prepared, envelope=replace(prepared.envelope, metadata=metadata))
            if prepared.status == 200 or route is tried[-1]:
                break
            self.enter(prepared, request, key)
        return prepared

    def enter(self, prepared: Prepared, request: ChatRequest, key: LabKey | None = None) -> None:
        """Enter an answer in the ledger, and its cost, once all that strikes it has struck."""
        planned, usage = prepared.planned, usage_of(prepared.planned, prepared.envelope)
        sound = prepared.status == 200
        if sound:
            self.spent += float(usage["cost"])
        self.ledger.add(
            Served(
                id=prepared.turn.generation,
                at=self._now(),
                model=prepared.turn.model,
                route=prepared.route.tag,
                key=None if key is None else key.name,
                provider=planned.provider or "",
                kind=prepared.turn.kind,
                locale=planned.asked.locale,
                number=prepared.turn.number,
                status=prepared.status,
                faults=tuple(prepared.hand.struck),
                planted=prepared.planted,
                usage=usage,
                finish=planned.finish if sound else None,
                streamed=request.stream,
                body=request.body if request.size <= KEPT_BODY else {},
            )
        )

    def _route(
        self, request: ChatRequest, restrictions: Sequence[Restriction]
    ) -> tuple[LabModel, tuple[LabRoute, ...]]:
        """Try the wanted model, then its fallbacks; the refusal is that of the wanted one."""
        self._routings += 1
        rng = Random(f"{self._seed}|routing|{self._routings}")  # noqa: S311 - a lab
        wanted, *fallbacks = request.models

        def routed(name: str) -> tuple[LabModel, tuple[LabRoute, ...]]:
            model = self.model(name)
            rules = self.scenario.rules
            tried = self._candidates(model, request, self.elapsed, rng, rules, restrictions=restrictions)
            return model, tried

        try:
            return routed(wanted)
        except RefusedError:
            for name in fallbacks:
                with contextlib.suppress(RefusedError):
                    return routed(name)
            raise

    def _pipeline(self, request: ChatRequest) -> list[Json]:
        """List the plugins that run: the request's, and the account's, which no request can switch off."""
        names = dict.fromkeys((*request.plugins, *self.scenario.rules.plugins))
        return [{"type": _PIPELINE_TYPES.get(name, "plugin"), "name": name} for name in names]

    def _prepare(self, model: LabModel, route: LabRoute, request: ChatRequest, asked: Asked) -> Prepared:
        cold = not any(fault.only_cold for fault in route.faults) or self._prefixes.meet(
            (model.id, route.tag), request.prompt
        )
        counted = (model.id, route.tag, asked.kind)
        number = self._turns[counted]
        self._turns[counted] += 1
        return prepare(
            model=model,
            route=route,
            request=request,
            asked=asked,
            turn=Turn(seed=self._seed, model=model.id, route=route.tag, kind=asked.kind, number=number),
            now=self._now(),
            elapsed=self.elapsed,
            cold=cold,
        )


def router_metadata(
    request: ChatRequest,
    model: LabModel,
    tried: Sequence[LabRoute],
    attempts: Sequence[tuple[LabRoute, int]],
    pipeline: Sequence[Json] = (),
) -> dict[str, Json]:
    """Say how a request was routed.

    Args:
        tried: The routes that may serve it, in order.
        attempts: Those that were asked so far, with the HTTP status of each; the last one serves.
        pipeline: What was done to the request or the answer.
    Source: openrouter-wire.md §3.6.
    """
    serving, _ = attempts[-1]
    rows = [route for route in tried for _ in range(route.rows)]
    total = sum(route.rows for route in model.routes)
    return {
        "requested": request.models[0],
        "strategy": "direct",
        "summary": f"{len(rows)} of {total} endpoints available",
        "attempt": len(attempts),
        "is_byok": False,
        "endpoints": {
            "total": total,
            "available": [
                {"provider": route.provider, "model": model.dated, "selected": route is serving}
                for route in rows
            ],
        },
        "attempts": [
            {"provider": route.provider, "model": model.dated, "status": status} for route, status in attempts
        ],
        "params": sorted(request.parameters),
        "pipeline": list(pipeline),
        "generation_time": 0,
    }
