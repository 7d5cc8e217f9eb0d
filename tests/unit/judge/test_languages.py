"""Words of languages: how common they are, what they give away, and how prompts name a language."""

from __future__ import annotations

import pytest

from routecanary.adapters.config.texts import shipped_texts
from routecanary.domain.probe import ProbeSpec
from routecanary.judge.languages import CYRILLIC, KIN, LATIN, MEASURED
from routecanary.judge.languages.letters import LETTERS
from routecanary.judge.languages.lexicon import UNKNOWN, Lexicon, fold, lexicon_of, telltales
from routecanary.judge.languages.named import ARABIC_NAMES, SIGNS, WORDS
from routecanary.judge.languages.names import asks_for
from routecanary.judge.mixing import Word, evidence, find_foreign
from routecanary.judge.scripts import natives_of
from routecanary.probe.catalog import catalog_from_texts


def lexicon(code: str) -> Lexicon:
    found = lexicon_of(code)
    assert found is not None
    return found


@pytest.mark.parametrize("code", [*LATIN, *CYRILLIC])
def test_every_language_has_a_lexicon_and_letters(code: str):
    """Tables of ten thousand words and more, folded; letters that are letters."""
    words = lexicon(code)
    assert len(words.levels) > 10_000
    assert all(word == fold(word) for word in words.levels)
    assert all(UNKNOWN < level < 0 for level in words.levels.values())
    assert all(letter.isalpha() and letter > "\x7f" for letter in LETTERS[code])
    assert code not in KIN


def test_a_language_without_table_is_none():
    """Basque has none, nor has an invented code."""
    assert lexicon_of("eu") is None
    assert lexicon_of("qq") is None


def test_a_word_in_parts_is_as_common_as_its_rarest_part():
    """Elisions and hyphens."""
    french = lexicon("fr")
    assert french.level("l'eau") == min(french.level("l"), french.level("eau"))
    assert french.level("l'zzqx") == UNKNOWN
    assert lexicon("en").level("don't") > -4


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Straße", "strasse"), ("L’Eau", "l'eau"), ("İstanbul", "istanbul"), ("ÉTÉ", "été")],
)
def test_text_is_folded_as_the_tables_are(text: str, folded: str):
    """Sharp s, curved apostrophes, the dotted I."""
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("word", "expected", "other", "sign"),
    [
        ("pero", "pt", "es", 1),
        ("mas", "pt", "es", -1),
        ("muy", "pt", "es", 1),
        ("não", "es", "pt", 1),
        ("що", "ru", "uk", 1),
        ("было", "uk", "ru", 1),
        ("nicht", "nl", "de", 1),
        ("niet", "de", "nl", 1),
        ("the", "tl", "en", 1),
        ("zzqxñ", "pt", "es", 1),
        ("zzqx", "pt", "es", 0),
        ("zzqxß", "nl", "pl", 0),
    ],
)
def test_words_speak_for_their_language(word: str, expected: str, other: str, sign: int):
    """By how common they are; unknown ones by a letter that only one of the two has."""
    weight = evidence(word, lexicon(expected), lexicon(other))
    assert (weight > 0.5) - (weight < -0.5) == sign


def test_telltales_are_common_words_of_one_and_not_of_the_other():
    """What both have gives nobody away."""
    telling = telltales("pt", LATIN)
    spanish = 1 << LATIN.index("es")
    assert telling["pero"] & spanish
    assert "casa" not in telling
    assert "não" not in telling
    assert not any(bits & 1 << LATIN.index("pt") for bits in telling.values())


def said(text: str) -> list[Word]:
    return [Word(fold(word), quoted=False, name=False) for word in text.split()]


def test_spans_are_where_the_language_changes():
    """A clause in the middle, and none where a single word is strange."""
    words = said("ela abriu a porta devagar pero nadie estaba en la calle então voltou para a cama")
    found = find_foreign(words, lexicon("pt"), [lexicon("en"), lexicon("es"), lexicon("it")])
    assert found is not None
    assert found.code == "es"
    assert found.spans == ((5, 11),)
    lone = said("ela abriu a porta devagar e disse amigo tranquilo muchacho então voltou para a cama dela")
    assert find_foreign(lone, lexicon("pt"), [lexicon("en")]) is None


@pytest.mark.parametrize("place", ["start", "end"])
def test_spans_reach_the_ends(place: str):
    """Foreign words at the very start or the very end belong to the span."""
    home, abroad = "ela abriu a porta devagar e voltou para a cama", "pero nadie estaba en la calle"
    words = said(f"{abroad} {home}" if place == "start" else f"{home} {abroad}")
    found = find_foreign(words, lexicon("pt"), [lexicon("es")])
    assert found is not None
    assert found.spans[0][0 if place == "start" else 1] == (0 if place == "start" else len(words))


@pytest.mark.parametrize(
    ("name", "prompt", "asked"),
    [
        ("en", "Podaj trzy angielskie słowa.", True),
        ("en", "บอกคำศัพท์ภาษาอังกฤษสามคำ", True),
        ("en", "اكتب ثلاث كلمات بالإنجليزية.", True),
        ("es", "Diga em espanhol.", True),
        ("de", "독일어로 말해 줘.", True),
        ("fr", "用法语怎么说？", True),
        ("pl", "Say it in Polish.", True),
        ("pl", "She bends to polish the lamp by the tidal pools.", False),
        ("it", "Hãy viết bằng tiếng Ý.", True),
        ("Han", "How is it written in Chinese?", True),
        ("Latin", "ช่วยแปลเป็นภาษาอังกฤษ", True),
        ("Latin", "Напиши это по-английски.", True),
        ("Greek", "Which letter stands for wavelength?", True),
        ("Greek", "She reads the letter twice.", False),
        ("ru", "Translate this, please.", True),
        ("ru", "Russet apples roll over the deck.", False),
        ("es", "Write a scene by the river.", False),
        ("Han", "Schreibe eine Szene.", False),
        ("en", "ชายแปลกหน้าเดินเข้ามาในร้าน", False),
        ("Latin", "ชายแปลกหน้าเดินเข้ามาในร้าน", False),
        ("Devanagari", "Hindi niya binuksan ang pinto noong hapon.", False),
        ("kana", "Hindi niya binuksan ang pinto noong hapon.", False),
        ("en", "Die Fähre soll bei Nacht übersetzen; er wendet den Kopf.", False),
        ("en", "Adam başını çevirdi ve denize baktı.", False),
        ("en", "Она перевела дух и перевела взгляд на море.", False),
        ("fr", "바람이 불어 등불이 흔들렸다.", False),
        ("tr", "يحتاج الأمر إلى تركيز وتركيبة جديدة.", False),
        ("tr", "La puerta turquesa se abre.", False),
    ],
)
def test_prompts_name_languages_by_word(name: str, prompt: str, asked: bool):
    """Requested content is not a fault; a word that only holds the name of a language asks for nothing."""
    assert asks_for(name, prompt) is asked


def test_every_language_and_script_can_be_named():
    """None of those that are asked for, nor of their scripts, is forgotten."""
    assert WORDS.keys() >= MEASURED
    assert SIGNS.keys() <= WORDS.keys()
    assert ARABIC_NAMES.keys() <= WORDS.keys()


@pytest.mark.parametrize(
    "spec", catalog_from_texts(shipped_texts()).specs, ids=lambda spec: f"{spec.kind}-{spec.locale}"
)
def test_no_shipped_prompt_asks_for_a_foreign_language(spec: ProbeSpec):
    """Each names its own language at most: no answer to it is excused from being in that."""
    assert spec.locale is not None
    own = {spec.locale.split("-")[0], *natives_of(spec.locale)}
    for scene in spec.scenes:
        prompt = f"{spec.system or ''}\n{scene.prompt}"
        assert {name for name in WORDS if name not in own and asks_for(name, prompt)} <= _scripts_of(own)


def _scripts_of(own: set[str]) -> set[str]:
    """Name the scripts that naming the own language names."""
    scripts = {"Latin": set(LATIN), "Cyrillic": set(CYRILLIC)}
    return {script for script, codes in scripts.items() if codes & own}
