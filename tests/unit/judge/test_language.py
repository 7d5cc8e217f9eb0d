"""The language contract: switches, mixes, encodings; and the foreign matter that is none of these."""

from __future__ import annotations

import pytest

from routecanary.domain.names import LANGUAGE
from routecanary.domain.probe import Json, ProbeKind
from routecanary.judge.examine import judge_transcript
from routecanary.judge.language import LanguageContract
from routecanary.judge.settings import Settings
from tests.answers import a_document, a_request, a_stream, an_answer, said
from tests.unit.judge.language_texts import DE, EN, ES, JA, MIXED, PT, QUOTING, RU, TEXTS, TH, UK, ZH, ZH_HANT

SPRINKLED = "First 测量 the ground. See which 植物 need sun, as 这很重要 for them. Put tall ones 在后面 then."
FRAGMENTS = (
    "쉼표는 문장을 읽기 쉽게 나누는 уточнение 기능을 합니다. "
    "마침표는 предложение 끝에 쓰며 поэтом도 빠뜨리면 안 됩니다."
)


def of(text: str, locale: str, prompt: str = "Continue.", **stream: Json) -> str:
    return said(LANGUAGE, a_stream(text, locale=locale, request=a_request(prompt), **stream))


@pytest.mark.parametrize("locale", TEXTS)
def test_text_in_the_asked_language_passes(locale: str):
    """Narrative and speech, in all locales."""
    assert of(TEXTS[locale], locale) == "pass"


def test_a_few_short_sentences_in_a_long_answer_are_no_sustained_mixing():
    """Three of them are, where they are a tenth of it."""
    own = TEXTS["ko"].split(". ")
    mixed = ". ".join(
        [own[0], "他没有回来。" + own[1], "雨还在下。" + ". ".join(own[2:]), "门慢慢关上了。" + TEXTS["ko"]]
    )
    assert of(mixed + TEXTS["ko"], "ko") in ("pass", "inconclusive:ambiguous")
    assert of(FRAGMENTS, "ko") == "fail:language_mixing"


@pytest.mark.parametrize("locale", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_text_in_another_language_fails(locale: str, other: str):
    """Every pair but a language with itself; the variants of Chinese need more letters to be told apart."""
    if locale != other and {locale, other} != {"zh-Hans", "zh-Hant"}:
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


def test_language_that_nothing_was_measured_of_is_judged_with_more_doubt():
    """Swedish passes, English in its place fails, and a mix is doubtful only."""
    assert of(SV, "sv") == "pass"
    assert of(EN, "sv") == "fail:wrong_language"
    assert not of(f"{SV} {EN}", "sv").startswith("fail")


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


THOROUGH = LanguageContract(settings=Settings(), thorough=True)
CHEAP = LanguageContract(settings=Settings())


@pytest.mark.parametrize("locale", TEXTS)
def test_the_cheap_acquittal_moves_no_verdict(locale: str):
    """Each text in each locale, whole and beside another: the same finding with and without it."""
    for text in TEXTS.values():
        for shown in (text, f"{TEXTS[locale]} {text[:60]}"):
            answer = an_answer(shown, locale=locale)
            assert CHEAP.judge(answer) == THOROUGH.judge(answer)


def sentences(text: str) -> list[str]:
    """Cut a text after its full stops."""
    parts = text.replace("। ", "।\n").replace("。", "。\n").replace(". ", ".\n").split("\n")
    return [part for part in parts if part]


NEIGHBOURS = [
    ("pt-BR", "es"), ("es", "pt-BR"), ("es", "it"), ("fr", "es"), ("it", "fr"), ("nl", "de"), ("de", "nl"),
    ("de", "en"), ("ru", "uk"), ("uk", "ru"), ("pl", "ru"), ("ja", "zh-Hans"), ("zh-Hans", "ja"),
    ("ko", "zh-Hans"), ("th", "en"), ("ar", "en"), ("hi", "en"), ("tl", "en"), ("id", "en"), ("vi", "en"),
    ("tr", "en"), ("tr", "de"), ("ko", "en"), ("zh-Hant", "en"), ("en", "es"), ("en", "ru"),
]  # fmt: skip


@pytest.mark.parametrize(("locale", "other"), NEIGHBOURS)
def test_sentences_of_two_languages_in_turn_are_a_mix(locale: str, other: str):
    """Every second sentence is of the other language."""
    pairs = zip(sentences(TEXTS[locale]), sentences(TEXTS[other]), strict=False)
    mixed = " ".join(sentence for pair in pairs for sentence in pair)
    assert of(mixed, locale).startswith("fail:")


LOOK_ALIKES = {
    "names": "Gonzalo Ibáñez, Siobhán O’Rourke, Jürgen Müller y Nguyễn Văn An",
    "a quoted phrase": "“c’est la vie, mon pauvre vieil ami”",
    "brands": "Burger King, Google Drive, World of Warcraft, Red Hot Chili Peppers",
    "sounds": "Haha! Pff! Ding dong! Brrrm! Kkkkk!",
    "an action": "*smiles softly and looks away*",
    "code": "`for the word in the list: print(word)`",
    "a fence within a line": '```json\n{"name": "the quick brown fox runs over the lazy dog"}\n```',
    "addresses": "https://example.org/the/quick/brown/fox/over/there the.fox@example.org #TheQuickBrownFox",
    "faces": "(╯°□°)╯ ʕ•ᴥ•ʔ ¯\\_(ツ)_/¯ 😂🎉",
}


@pytest.mark.parametrize("locale", TEXTS)
@pytest.mark.parametrize("kind", LOOK_ALIKES)
def test_what_is_legitimately_foreign_passes_in_every_locale(locale: str, kind: str):
    """Set between the sentences of a healthy text."""
    first, *rest = sentences(TEXTS[locale])
    assert of(f"{first} {LOOK_ALIKES[kind]} {' '.join(rest)}", locale) == "pass"


def test_a_short_speech_is_excused_and_a_long_one_is_not():
    """A sentence of twelve words between quotation marks may be in another tongue."""
    speech = " ".join(ES.split()[:14])
    assert of(f"{PT} “{speech}” {PT}", "pt-BR") == "pass"
    assert of(f"{PT} “{ES.replace('«', '').replace('»', '')}”", "pt-BR").startswith("fail")


def test_names_of_the_prompt_weigh_nothing():
    """Names that the prompt gave are no words of another language, however often they come."""
    names = "Will May Rose Grace Hope Mark Bill Rich Summer Dawn"
    text = " ".join(f"{name} nahm die Lampe und {name} schwieg." for name in names.split())
    assert of(text, "de", f"Schreibe eine Szene mit {', '.join(names.split())}.") == "pass"


def test_titles_and_names_of_works_are_no_running_text():
    """Small words between capitals, as titles write them, and what is left of a broken address."""
    titles = (
        "Sie spielte in The Lord of the Rings und in The Night of the Hunter, später in A Tale of Two "
        "Cities und in The Curse of the Black Pearl, und niemand im Dorf hat sie je vergessen oder nicht "
        "erkannt, als sie nach so vielen Jahren wieder am Hafen stand und auf die Fähre wartete."
    )
    assert of(titles, "de") == "pass"
    broken = "example. com/path/to/the/page?query=some+english+words+for+you&lang=en"
    assert of(f"{TEXTS['uk']} {broken}", "uk") == "pass"


def test_the_fewest_words_of_a_mix_need_strong_evidence():
    """Twelve words that both languages nearly share are doubtful; twelve clear ones are a mix."""
    clear = "the children were waiting beside that fence until their father came back"
    near = "a porta aberta deixa entrar a luz de manhã, pero la noche fría continúa y nadie canta"
    assert len(clear.split()) == 12
    assert of(f"{PT[:250]} {clear}.", "pt-BR").startswith("fail")
    assert not of(f"{PT[:250]} {near}.", "pt-BR").startswith("fail")
    english = "remember this one is not letting anybody in again, Anna"
    assert not of(f"{TEXTS['tr']} {english}.", "tr").startswith("fail")


def test_everyday_english_in_tagalog_and_hindi_is_doubtful_up_to_a_quarter():
    """Their speech is part English: what is a mix elsewhere is not sure there."""
    english = (
        "you should never have come here alone, because the river is very deep tonight and nobody helps you."
    )
    assert of(f"{TEXTS['tl']} {english} {TEXTS['tl'][:140]}", "tl") == "inconclusive:ambiguous"
    assert of(f"{TEXTS['id']} {english} {TEXTS['id'][:140]}", "id").startswith("fail")
    assert of(f"{TEXTS['hi']} {english} {TEXTS['hi'][:160]}", "hi") == "inconclusive:ambiguous"


def test_letters_without_a_known_language_are_doubtful():
    """Romanised Hindi, and an invented tongue, in place of Devanagari."""
    romanised = (
        "Naav ab bhi ghaat se bandhi thi jab Meera ne adhyapak ke kadmon ki aahat suni. Usne laalten uthaayi."
    )
    assert of(romanised, "hi") == "inconclusive:ambiguous"
    assert of(EN, "hi") == "fail:wrong_language"


@pytest.mark.parametrize(("locale", "text"), [("zh-Hans", ZH_HANT), ("zh-Hant", ZH)])
def test_the_other_variant_of_chinese_fails_only_overwhelmingly(locale: str, text: str):
    """Few letters pass, many are doubtful, a whole scene fails; both variants in turn do not."""
    own = TEXTS[locale]
    more = {
        "zh-Hans": "她沒有轉過頭來，只說今晚不會離開這裡。雨聲漸漸變大，遠處的鐘響了十二下，"
        "樓頂的瓦片發出輕微的聲響。他終於開口，問她還記不記得那個夏天，兩個人坐在橋頭寫給親友的書信，從來沒有寄出過。",
        "zh-Hant": "她没有转过头来，只说今晚不会离开这里。雨声渐渐变大，远处的钟响了十二下，"
        "楼顶的瓦片发出轻微的声响。他终于开口，问她还记不记得那个夏天，两个人坐在桥头写给亲友的书信，从来没有寄出过。",
    }
    assert of(text[:30], locale) == "pass"
    assert of(text + more[locale][:40], locale) == "inconclusive:ambiguous"
    assert of(text + more[locale], locale) == "fail:wrong_language"
    assert of(text + own + more[locale] + own, locale) == "pass"


def test_kana_in_chinese_is_a_mix():
    """Half of Japanese are Han letters: fewer kana are enough."""
    assert of(f"{ZH}彼女はランプを持ち上げて、暗い水の上を見つめていた。{ZH}", "zh-Hans").startswith("fail")
    assert of(f"{ZH}店名叫「さくら」，招牌上写着の字。", "zh-Hans") == "pass"


def test_a_loud_text_is_judged_by_its_words():
    """Capitals throughout are no names."""
    assert of(ES.upper(), "pt-BR") == "fail:wrong_language"
    assert of(PT.upper(), "pt-BR") == "pass"


def test_a_text_of_unknown_words_is_doubtful():
    """Next to nothing of it stands in the table of the language that was asked for."""
    basque = (
        "Itsasontzia oraindik kaiari lotuta zegoen Irisek irakaslearen urratsak entzun zituenean. Lanpara "
        "altxatu zuen, eta argia ur ilunaren gainean dardarka hasi zen. Inork ez zuen erantzun beste "
        "ertzetik, eta haizeak euri usaina zekarren berekin gau hartan."
    )
    assert of(basque, "nl") == "inconclusive:ambiguous"


@pytest.mark.parametrize(
    ("text", "locale", "code"),
    [
        ("Als de pont direct Ã©Ã©n keer per uur vaart, wachten we hier.", "nl", "encoding"),
        ("Wer wagt es, die Ruhe zu stÃ¶ren, die hier herrscht?", "de", "encoding"),
        ("Nous partirons demainÂ\u00a0! dit-elle sans se retourner.", "fr", "encoding"),
        ("РїСЂРёР±СѓРІ Р·Р°РіР°РґРєРѕРІРёР№ РіС–СЃС‚СЊ", "uk", "encoding"),
        ("Perch茅 non vieni? c'猫 ancora luce, e l矛 nessuno dorme.", "it", "encoding"),
        ("Minha pr?pria irm? tem a imagina??o de quem nunca viajou.", "pt-BR", "encoding"),
        ("Hab?a luz y nadie m?s lo vio jam?s en el puerto.", "es", "encoding"),
        ("对岸没有人回答。▁风里带着雨的气味。", "zh-Hans", "byte_fallback"),
        ("渡船还系在码头上。Ġ灯光在水面上颤动。", "zh-Hans", "byte_fallback"),
    ],
)
def test_single_damages_that_no_healthy_text_holds(text: str, locale: str, code: str):
    """One repairable pair, a few lost letters, one token mark in a script without spaces."""
    assert of(text, locale) == f"fail:{code}"


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("É… não sei. “É”, disse ela. Ô, meu amigo, você vem? E ela? Não sei, e você?", "pt-BR"),
        ("¿Vienes?dijo ella. ¿No?preguntó él. ¿Cuándo?y nadie contestó. ¿Sí?¿Tú?", "es"),
        ("„Größe“, „Ö“, „Ü“ und »Ä«: so heißen die Boote hier am See, sagt man.", "de"),
        ("Тут «Р», а там «С»… і все. Сіль, Рік, Січень, Рів, Світ, Ріг, Сад.", "uk"),
        ("Ela ergueu a lanterna: ▁▂▃▄▅ era o desenho das ondas na parede do cais.", "pt-BR"),
        ("Vraiment ? Tu viens ? Et lui ? Oui ? Non ? Alors pourquoi pas demain ?", "fr"),
    ],
)
def test_marks_and_letters_of_healthy_text_are_no_damage(text: str, locale: str):
    """Questions without a space, capitals before marks, bars that are drawn."""
    assert of(text, locale) == "pass"
