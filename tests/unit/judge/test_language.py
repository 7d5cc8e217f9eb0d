"""The language contract: switches, mixes, encodings; and the foreign matter that is none of these."""

from __future__ import annotations

import pytest

from routecanary.domain.names import LANGUAGE
from routecanary.domain.probe import Json, ProbeKind
from routecanary.judge.examine import judge_transcript
from tests.answers import a_document, a_request, a_stream, said

PT = (
    "A balsa ainda estava presa ao cais quando Iara ouviu os passos do professor. Ela levantou a "
    "lamparina e a luz tremeu sobre a água escura. Ninguém na outra margem respondia, e o vento trazia "
    "um cheiro de chuva. “Não vamos sair hoje”, disse ela, sem olhar para trás. Ele segurou a corda "
    "com as duas mãos e ficou em silêncio por muito tempo, como quem espera uma resposta que já "
    "conhece."
)
ES = (
    "La balsa todavía estaba atada al muelle cuando Iara oyó los pasos del profesor. Ella levantó la "
    "lámpara y la luz tembló sobre el agua oscura. Nadie en la otra orilla respondía, y el viento "
    "traía un olor a lluvia. «No vamos a salir hoy», dijo ella, sin mirar atrás. Él sujetó la cuerda "
    "con las dos manos y se quedó en silencio mucho tiempo."
)
MIXED = (
    "A balsa ainda estava presa ao cais quando Iara oyó los pasos del profesor en la oscuridad. Ela "
    "levantou a lamparina y la luz tembló sobre el agua negra. Ninguém na outra margem respondia, pero "
    "el viento traía un olor a lluvia. Ela não olhou para trás. Él sujetó la cuerda con las dos manos "
    "y se quedó en silencio mucho tiempo, como quem espera uma resposta que já conhece."
)
QUOTING = (
    "A balsa ainda estava presa ao cais quando Iara ouviu a voz do velho espanhol. “¡Espera, muchacha, "
    "que ya voy y no quiero quedarme aquí toda la noche!”, gritou ele da escada. Ela riu e levantou a "
    "lamparina. Ele chegou sem fôlego, largou a mala no chão e apertou a mão dela. Depois os dois "
    "olharam para o rio, e ninguém mais disse nada até que a neblina desceu sobre a outra margem."
)
EN = (
    "The ferry was still tied to the quay when Iara heard the steps of the professor. She raised the "
    "lamp, and the light trembled over the dark water. Nobody answered from the other side, and the "
    "wind carried a smell of rain."
)
DE = (
    "Die Fähre lag noch am Steg, als Iara die Schritte des Lehrers hörte. Sie hob die Lampe, und das "
    "Licht zitterte über dem dunklen Wasser. Niemand antwortete vom anderen Ufer, und der Wind brachte "
    "den Geruch von Regen."
)
RU = (
    "Паром ещё стоял у причала, когда Ира услышала шаги учителя. Она подняла лампу, и свет задрожал "
    "над тёмной водой. Никто не отвечал с другого берега, и ветер принёс запах дождя."
)
UK = (
    "Пором ще стояв біля причалу, коли Іра почула кроки вчителя. Вона підняла лампу, і світло "
    "затремтіло над темною водою. Ніхто не відповідав з того берега, і вітер приніс запах дощу."
)
TH = (
    "เรือข้ามฟากยังผูกอยู่ที่ท่าเมื่อมาลีได้ยินเสียงฝีเท้าของครู เธอยกตะเกียงขึ้น "
    "แสงไฟสั่นไหวบนผิวน้ำมืด ไม่มีใครตอบจากอีกฝั่งหนึ่ง และลมก็พัดกลิ่นฝนมาด้วย"
)
JA = (
    "渡し船はまだ岸につながれていた。マリは先生の足音を聞いて、ランプを持ち上げた。光が暗い水の上で揺れ"
    "た。向こう岸からは誰も答えず、風が雨の匂いを運んできた。"
)
ZH = (
    "渡船还系在码头上，玛丽听见老师的脚步声，举起了灯。灯光在黑色的水面上颤动。对岸没有人回答，风里带着"
    "雨的气味，他们就这样站了很久。"
)
KO = (
    "나룻배는 아직 부두에 묶여 있었다. 마리는 선생님의 발소리를 듣고 등불을 들어 올렸다. 빛이 어두운 "
    "물 위에서 흔들렸다. 건너편에서는 아무도 대답하지 않았고, 바람은 비 냄새를 실어 왔다."
)
TEXTS = {
    "pt-BR": PT,
    "es": ES,
    "en": EN,
    "de": DE,
    "ru": RU,
    "uk": UK,
    "th": TH,
    "ja": JA,
    "zh-Hans": ZH,
    "ko": KO,
}
SPRINKLED = "First 测量 the ground. See which 植物 need sun, as 这很重要 for them. Put tall ones 在后面 then."
FRAGMENTS = (
    "쉼표는 문장을 읽기 쉽게 나누는 уточнение 기능을 합니다. "
    "마침표는 предложение 끝에 쓰며 поэтом도 빠뜨리면 안 됩니다."
)


def of(text: str, locale: str, prompt: str = "Continue.", **stream: Json) -> str:
    return said(LANGUAGE, a_stream(text, locale=locale, request=a_request(prompt), **stream))


@pytest.mark.parametrize("locale", TEXTS)
def test_text_in_the_asked_language_passes(locale: str):
    """Narrative and speech, in ten languages."""
    assert of(TEXTS[locale], locale) == "pass"


@pytest.mark.parametrize("locale", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_text_in_another_language_fails(locale: str, other: str):
    """Every pair but a language with itself."""
    if locale != other:
        assert of(TEXTS[other], locale) == "fail:wrong_language"


@pytest.mark.parametrize(
    ("text", "locale", "verdict"),
    [
        (MIXED, "pt-BR", "fail:language_mixing"),
        (MIXED, "es", "fail:language_mixing"),
        (QUOTING, "pt-BR", "pass"),
        (f"{PT} {ES}", "pt-BR", "fail:language_switch"),
        (f"{EN} {DE}", "en", "fail:language_switch"),
        (f"{RU} {UK}", "ru", "fail:language_switch"),
        (f"{EN} {RU}", "en", "fail:language_switch"),
        (f"{RU} {EN}", "ru", "fail:language_switch"),
        (f"{TH} {EN}", "th", "fail:language_switch"),
        (f"{EN[:120]} {RU} {EN[120:]}", "en", "fail:language_mixing"),
        (SPRINKLED, "en", "fail:language_mixing"),
        (FRAGMENTS, "ko", "fail:language_mixing"),
        (f"{JA}我们已经没有时间了，你们还在这里做什么呢？快给他们让路吧。", "ja", "fail:language_mixing"),
    ],
)  # fmt: skip
def test_mixes_and_switches(text: str, locale: str, verdict: str):
    """Sustained mixing fails wherever it stands; a speech in another tongue does not."""
    assert of(text, locale) == verdict


@pytest.mark.parametrize(
    ("addition", "locale"),
    [
        (" Ela cantou “La vie en rose” e riu.", "pt-BR"),
        (" O bar se chamava El Viejo Muelle de los Santos.", "pt-BR"),
        (" *smiles* Ela fez um upload no Google Drive pelo smartphone.", "pt-BR"),
        (
            " Leia https://example.org/the/quick/brown/fox/over/there e escreva a the.fox@example.org.",
            "pt-BR",
        ),
        ("\n```py\nfor word in the_list: print('not the right word for it', word)\n```", "pt-BR"),
        (" Splash! Crack! Hahaha! 😂 🎉", "pt-BR"),
        (" “Ja, das weiß ich doch schon lange”, disse o alemão.", "pt-BR"),
        (" USB-C と Wi-Fi で Google Drive に保存した。", "ja"),
        (" The Yangtze is written 长江.", "en"),
        (" The letters λ, μ and ν stand for it.", "en"),
        (" The sign said “Закрыто на ремонт”.", "en"),
        (" เขาพูดว่า OK แล้วเปิด Facebook บน iPhone", "th"),
        (" 그는 USB를 꽂고 Google Drive를 열었다.", "ko"),
    ],
)
def test_foreign_matter_of_every_day_passes(addition: str, locale: str):
    """Titles, names, brands, addresses, code, sounds, a quoted sentence, single signs."""
    assert of(TEXTS[locale] + addition, locale) == "pass"


def test_words_that_were_asked_for_are_no_mix():
    """The request names the other language."""
    text = "Here are three lines: " + ES
    assert of(text, "en", "Give me the Spanish version.") == "pass"
    assert of(RU, "en", "Translate this into Russian: the ferry waits.") == "pass"


@pytest.mark.parametrize(
    ("text", "locale", "stream", "verdict"),
    [
        ("27 km", "de", {}, "inconclusive:too_short"),
        ("Carrot\nBeetroot\nParsnip", "en", {}, "pass"),
        ("Carrot\nBeetroot\nParsnip", "en", {"min_words": 150}, "inconclusive:too_short"),
        ("La balsa está en el muelle.", "en", {}, "pass"),
        ("Паром стоит у причала.", "en", {}, "inconclusive:too_short"),
        ("27 km", "de", {"kind": ProbeKind.ANY}, "skipped:too_short"),
        ("", "de", {}, "inconclusive:too_short"),
    ],
)
def test_short_answers_never_fail(text: str, locale: str, stream: Json, verdict: str):
    """Below a dozen words nothing fails, and only what is long enough for the request may pass."""
    assert of(text, locale, **stream) == verdict


def test_some_foreign_words_are_doubtful():
    """Eight words in a long text: neither a mix nor a pass."""
    text = f"{PT} {PT} Pero el viento de la noche ya no traía nada más que el frío. {PT}"
    assert of(text, "pt-BR") in ("pass", "inconclusive:ambiguous")


SV = (
    "Färjan låg fortfarande vid kajen när Iris hörde lärarens steg. Hon lyfte lampan, och ljuset darrade "
    "över det mörka vattnet. Ingen svarade från den andra stranden, och vinden bar med sig en lukt av regn."
)


def test_language_of_a_small_table_is_judged_with_more_doubt():
    """Swedish passes, English in its place fails, its neighbour is not told apart."""
    assert of(SV, "sv") == "pass"
    assert of(EN, "sv") == "fail:wrong_language"
    assert not of(SV, "da").startswith("fail")


def test_language_without_a_table_is_not_guessed():
    """A Latin locale that no table knows is inconclusive, never a fail."""
    assert of(PT, "eu") == "inconclusive:no_table"


@pytest.mark.parametrize(
    ("text", "locale", "code"),
    [
        ("Hello \ud83d there", "en", "surrogate"),
        ("The moon is round\ufffd", "en", "replacement_char"),
        ("잠을 <0xEA><0xB9><0xB0> 수 있는", "ko", "byte_fallback"),
        ("RainĠtapsĠonĠtheĠroof.Ċ", "en", "byte_fallback"),
        ("The▁moon▁rises", "en", "byte_fallback"),
        ("L'Ã©tÃ©, elles dÃ®nent prÃ¨s du port", "fr", "encoding"),
        ("Ð’ÐµÑÐ½Ð¾Ð¹ ÑÐ½ÐµÐ³ Ñ‚Ð°ÐµÑ‚", "ru", "encoding"),
        ("She couldnâ€™t say â€œnoâ€\u009d", "en", "encoding"),
        ("En mayo, la romer\\u00eda con m\\u00fasica hasta la ma\\u00f1ana", "es", "encoding"),
        ("La mamГЎ y los niГ±os van maГ±ana", "es", "encoding"),
        ("una peque帽a onda de energ铆a se fue as铆", "es", "encoding"),
        ("L&eacute;t&eacute; &agrave; la mer", "fr", "encoding"),
        ("caf\x85 \x92 \x93", "fr", "encoding"),
        ("La ma?ana est? fr?a y el ni?o duerme", "es", "encoding"),
        ("????? ???? ??????, ??? ???? ?????? ??", "ru", "encoding"),
        ("a\x00b\x01c", "en", "encoding"),
    ],
)
def test_broken_encoding_fails_on_the_chat_probe(text: str, locale: str, code: str):
    """Each damage with its word."""
    assert of(text, locale) == f"fail:{code}"


@pytest.mark.parametrize(
    ("text", "locale", "prompt"),
    [
        ("ATENÇÃO: NÃO ESTACIONAR. A REUNIÃO COMEÇA AMANHÃ DE MANHÃ, ÀS OITO, NO SALÃO.", "pt", "Um aviso."),
        ("«MANHÃ»… “AMANHÔ disse ele, e foi embora sem olhar para trás naquela noite.", "pt", "Uma cena."),
        ("»Ägypten«, sagte er, »Österreich und Übersee sind weit fort, Freund.«", "de", "Eine Szene."),
        ("Il-Ġimgħa filgħodu morna Ħal Qormi u ġejna lura mat-triq tal-baħar flimkien.", "mt", "Sentenza."),
        ("It is drawn as a dark diamond with a question mark in it, like this: \ufffd.", "en",
         "What does U+FFFD look like?"),
        ("Write \\u00e9 in the source and the reader shows é; so for \\u00f1 and \\u00fa.", "en",
         "How do I escape é in JSON?"),
        ("Really? You mean it? “Yes?” she said? Well? Then go and do not look back.", "en", "A scene."),
        ("The Greek μm and the Chinese T恤 stand in two of these words, and nothing more.", "en", "Units."),
        ("Tom & Jerry; AT&T; R&D; all of these are names that hold an ampersand somewhere.", "en", "Names."),
    ],
)  # fmt: skip
def test_odd_characters_that_are_right_do_not_fail(text: str, locale: str, prompt: str):
    """Capitals with tilde, reversed guillemets, Maltese letters, and what was asked for."""
    assert not of(text, locale, prompt).startswith("fail")


def test_bytes_that_are_no_utf8_are_broken_encoding():
    """Latin-1 on the wire."""
    body = '{"choices":[{"message":{"content":"Un café très chaud"},"finish_reason":"stop"}]}'.encode(
        "latin-1"
    )
    request = a_request(provider=None)
    assert said(LANGUAGE, a_document(body, locale="fr", request=request)) == "fail:encoding"


@pytest.mark.parametrize("kind", [ProbeKind.FILTER, ProbeKind.STRUCTURED])
def test_only_the_chat_probe_feeds_language(kind: ProbeKind):
    """And only where a locale is expected."""
    assert LANGUAGE not in judge_transcript(a_stream(PT, kind=kind, locale="pt-BR"))
    assert LANGUAGE not in judge_transcript(a_stream(PT, locale=None))
