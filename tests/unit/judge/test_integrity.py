"""The integrity contract: each damage, and the nearest text that is healthy."""

from __future__ import annotations

import pytest

from routecanary.domain.names import INTEGRITY
from routecanary.domain.probe import Json, ProbeKind
from tests.answers import a_frame, a_request, a_stream, a_transcript, as_event, said

SCENE = (
    "The ferry leaves at dusk and the deck lamps come on one by one. Nobody speaks. A boy counts the gulls "
    "on the rail, loses count, and begins again; his sister holds the rope and watches the harbour shrink."
)


def of(text: str, prompt: str = "Write a scene.", **stream: Json) -> str:
    request = a_request(prompt, **stream.pop("request", {}))
    return said(INTEGRITY, a_stream(text, request=request, **stream))


@pytest.mark.parametrize(
    "text", [SCENE, "A fig.", "👍", "*She nods.* “Yes.”", "「雨です。」と彼は言った。", "- a\n- b"]
)
def test_healthy_text_passes(text: str):
    """Nothing to find."""
    assert of(text) == "pass"


OPENING_SPOILED = [
    ").*The lamp swings.*",
    ",*The lamp swings.*",
    "，*The lamp swings.*",
    "!*The lamp swings.*",
    "ing *The lamp swings.*",
    "tion*The lamp swings.*",
    "ed*The lamp swings.*",
    '":*The lamp swings.*',
    "</*The lamp swings.*",
    "的*The lamp swings.*",
    "ий *The lamp swings.*",
    "7*The lamp swings.*",
    "();*The lamp swings.*",
    "s *The lamp swings.*",
    "ção*A lâmpada balança.*",
    "ing *ลมพัดแรง* เขาพูด",
    "tionThe lamp swings.* Nobody moves.",
    ")The lamp swings.* Nobody moves.",
    "ing Mara waits.* Nobody moves.",
]
OPENING_HEALTHY = [
    "*The lamp swings.*",
    "\n\n*The lamp swings.*",
    "**The lamp** swings.",
    "The lamp swings, and *then* it stops.",
    "Mara waits. *The lamp swings.*",
    "> *The lamp swings.*",
    "— *The lamp swings.*",
    "- *The lamp swings.*",
    "...*The lamp swings.*",
    "hey *waves* at her",
    "Oh *Mara* waits.",
    "1. *The lamp* swings.",
    "iPhone *rings* in her bag.",
    "Hmm *The lamp swings.*",
    "hmm *The lamp swings.*",
    "“Wait,” *she* said.",
]
OPENING_UNSURE = [
    "“*The lamp swings.*",
    "(*The lamp swings.*",
    "The lamp swings.* Nobody moves.",
    "well *The lamp swings.*",
]


@pytest.mark.parametrize("text", OPENING_SPOILED)
def test_debris_before_the_asked_opening_fails(text: str):
    """Punctuation or a piece of an unrelated token where `*` was asked for (product.md §1, case a)."""
    assert of(text, opening="*") == "fail:corrupt_start"


@pytest.mark.parametrize("text", OPENING_HEALTHY)
def test_opening_that_was_not_obeyed_is_not_spoiled(text: str):
    """A well-formed start of another kind is the model's choice."""
    assert of(text, opening="*") == "pass"


@pytest.mark.parametrize("text", OPENING_UNSURE)
def test_doubtful_starts_are_inconclusive(text: str):
    """A mark forgotten, or one that could open something."""
    assert of(text, opening="*") == "inconclusive:corrupt_start"


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        (") A lighthouse shows a light.", "What is a lighthouse?"),
        ("} A lighthouse shows a light.", "What is a lighthouse?"),
        ("，Keep the pot in the sun.", "A tip, please."),
        ("。灯台は光ります。", "灯台とは？"),
        (", keep the pot in the sun.", "A tip, please."),
        ("'\nAnswer: in 1825.", "When?"),
        ("`\nIt opened in 1825.", "When?"),
        ("think>\nHello there!", "Say hello."),
        ("|>Hello there!", "Say hello."),
        ("im_end|>Hello there!", "Say hello."),
        ("ing The lighthouse shows a light.", "What is a lighthouse?"),
        ("\u0e31ตลาดเช้าคึกคัก", "ตลาด"),
        ("的The lighthouse shows a light at night.", "What is a lighthouse?"),
        ("ийA casa fica perto do rio e da ponte.", "Uma frase."),
        (" is the capital of Poland.", 'Reply with exactly this: "Warsaw is the capital of Poland."'),
        ("UBMIT the form before Friday.", 'Reply with exactly: "SUBMIT the form before Friday."'),
        ("n Garten ist es still.", "Schreibe genau diesen Satz: „Im alten Garten ist es still.“"),
    ],
)
def test_starts_that_no_text_has_fail(text: str, prompt: str):
    """Without an asked opening only the impossible counts."""
    assert of(text, prompt) == "fail:corrupt_start"


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("„Wo ist mein Schal?“, rief Mina.", "Eine Geschichte."),
        ("»Wo?« Sie lief.", "Eine Geschichte."),
        ("…and then the door opened.", "A scene."),
        ("...and then the door opened.", "A scene."),
        ("(Softly) She sings.", "A scene."),
        ("'Tis late.", "A line of verse."),
        ("¿Quién es?", "Una frase."),
        ("# Title\n\nText.", "An essay."),
        ("| a | b |\n|---|---|", "A table."),
        ("```py\nx\n```", "Code."),
        (".NET is a platform.", "What is .NET?"),
        ("長江 is how the river is written in that country.", "A river."),
        ("이메일email 주소를 알려 주세요. 저는 여기서 기다리겠습니다.", "문장"),
        ("πr² is the area of a circle with the radius r.", "Area?"),
        ("[Link](x) is here.", "A link."),
        (":) Hello!", "Say hello."),
        ("</div> closes a block.", "What does </div> do?"),
        ("> A quote.", "Quote it."),
        ("~ 5 minutes", "How long?"),
        ("$5 is enough.", "How much?"),
        (", and then it rained.", "Continue this sentence: It was dark"),
        (") + 1", "Complete the code: f(x"),
        (
            "is the capital of Poland.",
            'What does the sentence "Warsaw is the capital of Poland." say of Warsaw?',
        ),
        ("Warsaw is the capital of Poland.", 'Reply with exactly: "Warsaw is the capital of Poland."'),
    ],
)
def test_odd_but_healthy_starts_pass(text: str, prompt: str):
    """Quotes, dialogue, mark-up, continuations and what was asked for."""
    assert of(text, prompt) == "pass"


def test_continuing_a_prefilled_turn_may_begin_anywhere():
    """After an assistant's message the answer starts in the middle of a text."""
    messages = [{"role": "user", "content": "A scene."}, {"role": "assistant", "content": "It was dark"}]
    assert of(", and it rained.", request={"messages": messages}) == "pass"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Welcome!<|end|>", "special_token"),
        ("您好<|im_end|>\n茶馆很好。", "special_token"),
        ("<bos>The tide rises.<eos>", "special_token"),
        ("Many look alike <｜begin▁of▁sentence｜> once ground.", "special_token"),
        ("The tide rises.</s>", "special_token"),
        ("<s>The tide rises.", "special_token"),
        ("[INST] The tide rises. [/INST]", "special_token"),
        ("The tide<end_of_turn> rises.", "special_token"),
        ("analysisThe user wants one word.assistantfinalThirteen", "special_token"),
        ("assistant\n\nThe tide rises.", "special_token"),
        ("The tide rises.user\n\nAnd then?", "special_token"),
        ("<think>Let me see.</think>The tide rises.", "reasoning_leak"),
        ("Kittens do it.</think>Cats knead.", "reasoning_leak"),
        ("<thinking>51 = 3 × 17", "reasoning_leak"),
        ("◁think▷so◁/think▷Yes.", "reasoning_leak"),
        ("<tool_call>\n<function=get_weather>\n</function>\n</tool_call>", "tool_text"),
        ('[TOOL_CALLS][{"name":"x","arguments":{}}]', "tool_text"),
        ("<｜tool▁calls▁begin｜>function<｜tool▁sep｜>x\n```json\n{}\n```<｜tool▁calls▁end｜>", "tool_text"),
        ("<|tool_calls_section_begin|>functions.get_weather:0{}", "tool_text"),
        ("<|channel|>commentary to=functions.get_weather {}", "tool_text"),
        ("<｜DSML｜tool_calls>\n<｜DSML｜invoke>", "tool_text"),
        ('functools[{"name": "x"}]', "tool_text"),
        ("[TOOL_REQUEST]\n{}\n[END_TOOL_REQUEST]", "tool_text"),
        ("<tool_response>4</tool_response> It is cold.", "tool_text"),
        ("<m:tool_call>x</m:tool_call>", "tool_text"),
        ("<analysis>Short.</analysis>The tide rises.", "reasoning_leak"),
        ("<THINK>Short.</THINK>The tide rises.", "reasoning_leak"),
        ("<|channel>thought\nShort.\n<channel|>The tide rises.", "special_token"),
        ("```sh\nls\n<|im_end|>", "special_token"),
    ],
)
def test_marks_of_the_machinery_fail(text: str, code: str):
    """Template tokens, hidden reasoning and tool calls as text."""
    assert of(text) == f"fail:{code}"


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("In ChatML, `<|im_end|>` ends a turn.", "What does <|im_end|> mean?"),
        ("The mark <|im_end|> ends a turn.", "What does <|im_end|> mean?"),
        ("`<p><s>12.00</s> now 9.50</p>`", "Strike a price in HTML."),
        ("<p><s>12.00</s> now 9.50</p>", "Strike a price in HTML."),
        ("```xml\n<think>x</think>\n```", "Show the block."),
        ("<thinking>51 = 3 × 17</thinking>No.", "Reason in <thinking> tags, then answer."),
        ("She drew [a map] and <sighed>.", "A scene."),
        ("His final analysis: The dam holds.", "A scene."),
        ("An assistant finally came.", "A scene."),
        ("He asked the assistant\n\nand the user\n\nwaited.", "A poem."),
        ("Use if a < b and b > c.", "A tip."),
    ],
)
def test_marks_that_were_asked_for_or_are_none_pass(text: str, prompt: str):
    """Requested content, code and look-alikes."""
    assert of(text, prompt) == "pass"


TOOLS = {"tools": [{"type": "function", "function": {"name": "get_weather"}}]}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"name": "get_weather", "arguments": {"city": "Faro"}}', "fail:tool_text"),
        ('```json\n[{"function": {"name": "get_weather", "arguments": "{}"}}]\n```', "fail:tool_text"),
        ('get_weather(city="Turin")', "fail:tool_text"),
        ('{"name": "Faro", "arguments": "none"}', "pass"),
        ("You could call get_weather(city) for that.", "pass"),
    ],
)
def test_calls_as_text_are_known_by_the_tools_offered(text: str, verdict: str):
    """Only an answer that is nothing but a call of an offered tool."""
    assert of(text, "How warm is it in Faro?", request=TOOLS) == verdict


@pytest.mark.parametrize(
    "text",
    [
        "Okay, the user wants one board game. Maybe Patchwork.\n\nTry Patchwork.",
        "The user asks for a board game, so I answer briefly.\n\nTry Patchwork.",
        "**Thinking Process:**\n\n1. A game for two.\n\nTry Patchwork.",
        "Der Nutzer möchte ein Spiel. Also: Patchwork.",
        "用户想要一个桌游。试试拼布对决吧。",
    ],
)
def test_planning_prose_is_inconclusive(text: str):
    """No mark that code could rely on: a person has to look."""
    assert of(text, "Recommend a board game.") == "inconclusive:reasoning_leak"


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("!" * 160, "length"),
        ("G" * 200, "length"),
        ("Check the tyres. " + "Run. " * 70, "length"),
        ("People keep bees for honey. " + "court " * 150, "length"),
        ("We need to compute the speed. " * 14, "length"),
        ("你好吗我很好。" * 30, "length"),
        (SCENE + " " + (SCENE[:90] + " ") * 5, "stop"),
        ("A start." + "\n" * 400, "length"),
    ],
)
def test_loops_fail(text: str, finish: str):
    """One character, one word, one sentence without end."""
    assert of(text, finish=finish) == "fail:repetition"


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Hooray!!! I missed those chairs.", "React."),
        ("drip " * 12, "Write 'drip' twelve times."),
        ("drip " * 80, "Write the word 'drip' eighty times."),
        ("| Tea | Min |\n|" + "-" * 60 + "|" + "-" * 60 + "|\n| Green | 2 |", "A table."),
        ("Noooooooooooooooooooooo! " + SCENE, "A scene."),
        ("No, no, no, no, no! " + SCENE, "A scene."),
        ("Row, row, row your boat\n" * 3 + "Life is but a dream", "A song."),
        ("ha ha ha ha ha ha ha " + SCENE, "A scene."),
        ("\n".join(f"{n}. Item number {n} of the list" for n in range(1, 40)), "A list."),
    ],
)
def test_natural_and_requested_repetition_passes(text: str, prompt: str):
    """Cheers, screams, songs, tables, lists, and what was asked for."""
    assert of(text, prompt) == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "Turn the pencil slowly and keep it steady.Turn the pencil slowly and keep it steady.",
        f"{SCENE}\n{SCENE}",
        "你好你好！！我是我是一个一个学习学习助手助手，，很高兴很高兴",
        "x = [x for for x in in xs if if x]",
        "She put the the cup on the the table and and left.",
        "La garza está está junto a los los juncos y espera espera la la barca.",
        "The millThe mill stands stands by a stream by a stream and its wheel and its wheel turns turns..",
        "TheThe millThe mill standsThe mill stands byThe mill stands by aThe mill stands by a stream.",
        "안녕하세요안녕하세요!! 저는 저는 학습 학습을 돕는을 돕는 도우미 도우미입니다입니다..",
        "早晨浇水，不要让根部长时间泡在水里。早晨浇水，不要让根部长时间泡在水里。",
    ],
)
def test_doubled_text_fails(text: str):
    """The whole, every piece, or words that never stand twice in a row."""
    assert of(text) == "fail:doubled_tokens"


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("She knew that that bridge was closed. He had had enough.", "Two sentences."),
        ("Sie sagte, dass die, die die Tür öffnet, gehen darf.", "Ein Satz."),
        ("No no, wait wait! Bye bye.", "A scene."),
        ("Yavaş yavaş geldi, tek tek saydı, zaman zaman durdu.", "Bir sahne."),
        ("Bye.Bye.", "Say bye."),
        ("Knock knock, knock knock", "A joke."),
        ("I will not be late.\nI will not be late.", "Write 'I will not be late' twice."),
        ("哈哈哈哈，好好看看，慢慢走走。", "随便说。"),
    ],
)
def test_natural_doubles_pass(text: str, prompt: str):
    """Right grammar, reduplication, and what was asked for."""
    assert of(text, prompt) == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "Theharbourisquietandgreybeforesunrise.Smallboatsrockgentlywhilegullswaitontheposts.",
        "AufdemMarktriechtesnachfrischemBrotundKräutern.DieHändlerrufenlautihrePreiseüberdenPlatz.",
        "Вгаваньпришлитрибольшихкорабля.Людистоятнаберегуимолчасмотрятнаних.",
        "The har bour is qu iet bef ore sun rise and the wat er lies fl at . Sm all bo ats ro ck gen tly whi",
        "The sea is grey.Small boats rock.Gulls wait on the posts.Nobody speaks.A bell rings.",
        "The lamp inthe window lit onthe quay and a corner ofthe yard, then went out.",
        "T h e h a r b o u r s l e e p s i n t h e m o o n",
        "The square is full of people. Thechildrenrunafterthegreypigeonsbythefountain.",
        (
            "Thesquare isfull ofpeople andthe childrenrun afterthe greypigeons bythe fountain. "
            "Anold mansells plums"
        ),
        "Thesquareisfullofpeopleandthechildrenrunafterthegreypigeonsbythefountain",
    ],
)
def test_lost_and_inserted_spaces_fail(text: str):
    """Words that run together throughout, or fall into pieces."""
    assert of(text) == "fail:lost_spaces"


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        (
            "Der Pl atz ist vol ler Men schen . Die Kin der lau fen hin ter den Tau ben her und la chen .",
            "de",
        ),
        ("La pla za es tá lle na de gen te . Los ni ños co rren de trás de las pa lo mas gri ses .", "es"),
        ("Пло щадь пол на лю дей . Де ти бе га ют за се ры ми го лу бя ми и сме ют ся .", "ru"),
        ("Mey dan in san lar la do lu . Ço cuk lar gü ver cin le rin pe şin den ko şu yor .", "tr"),
        (
            "Auf dem Platz stehen Leute. Diekinderlaufenhinterdentaubenherundlachenübersiemitihrenmüttern.",
            "de",
        ),
        ("Quảngtrườngrấtđôngngườivàtrẻemchạytheonhữngconchimbồcâubêncạnhđàiphunnước.", "vi"),
    ],
)
def test_spaces_are_known_by_the_words_of_the_language(text: str, locale: str):
    """Pieces that make a common word, and a long word that is several small ones, in many languages."""
    assert said(INTEGRITY, a_stream(text, locale=locale)) == "fail:lost_spaces"


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        (
            "negenhonderdzevenentachtigduizendzeshonderdvierenvijftig is een groot getal voor een klein boek",
            "nl",
        ),
        (
            "Kraftfahrzeughaftpflichtversicherung und Straßenverkehrszulassungsordnung sind lange Wörter.",
            "de",
        ),
        ("Typical names are getUserAccountById, setDefaultTimeoutSeconds and removeAllEventListeners.", "en"),
        ("La vita è bella, ma non c'è di che: andò via, tornò qui, disse di sì e poi di no.", "it"),
        ("na na na na na na na na na na na na na na na na, sang the crowd by the river all night long", "en"),
    ],
)
def test_long_and_short_words_of_a_language_are_healthy(text: str, locale: str):
    """Compounds, numerals, identifiers, and sentences of small words."""
    assert said(INTEGRITY, a_stream(text, locale=locale)) == "pass"


@pytest.mark.parametrize(
    "text",
    [
        "Beispiele sind Donaudampfschifffahrtsgesellschaft und Rindfleischetikettierungsüberwachungsgesetz.",
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
        "ตลาดเช้าเต็มไปด้วยผักและผลไม้สด ผู้คนเดินเลือกซื้อของอย่างยิ้มแย้ม",
        "雨の音が聞こえる静かな夜に、彼は窓辺に立って遠い海を眺めていた。波は高い。",
        "See https://example.org/averyveryverylongpathwithoutanyspacesinitatall.html",
        "`averyveryverylongidentifierwithoutanyspacesinitatall.another`",
        "Node.Js and Vue.Js and Next.Js are names. So is Web.De. And more. Then it ends.",
        "I am at sea. It is so far to go. We do as we do. He is in it. So am I, by and by.",
    ],
)
def test_long_words_and_scripts_without_spaces_pass(text: str):
    """Compounds, scripts that part no words, addresses, plain short words."""
    assert of(text) == "pass"


@pytest.mark.parametrize(
    ("limit", "tokens", "words", "verdict"),
    [
        (24, 318, 40, "fail:limit_ignored"),
        (8, 9, 4, "pass"),
        (100, 120, 60, "pass"),
        (100, 170, 60, "inconclusive:limit_semantics"),
        (100, None, 300, "fail:limit_ignored"),
        (100, None, 60, "pass"),
    ],
)
def test_limit_is_kept_within_reason(limit: int, tokens: int | None, words: int, verdict: str):
    """By the count of tokens, or by more words than tokens were allowed."""
    text = " ".join(f"word{n}" for n in range(words)) + "."
    assert of(text, tokens=tokens, request={"max_tokens": limit}) == verdict


@pytest.mark.parametrize(
    ("text", "stop", "verdict"),
    [
        ("one, two, three, four, five", "four", "fail:stop_ignored"),
        ("one, two, three, four", "four", "inconclusive:stop_ignored"),
        ("one, two, Four, five", "four", "pass"),
        ("DEFGHI", "DEFGHIJ", "inconclusive:stop_ignored"),
        ("DEF", "DEFGHIJ", "pass"),
        ("Oak and alder.", "###", "pass"),
    ],
)
def test_stop_strings_end_the_text(text: str, stop: str, verdict: str):
    """Case counts; a held-back beginning is only odd."""
    assert of(text, request={"stop": [stop]}) == verdict


@pytest.mark.parametrize(
    ("text", "prompt", "verdict"),
    [
        ("KITE-4821", "Reply ONLY with this code: KITE-4821", "pass"),
        ("LAMP-9917", "Reply ONLY with this code: KITE-4821", "fail:cross_talk"),
        (
            "The meeting is on Tuesday.",
            "Include the marker ZX-31: why is the sky blue?",
            "inconclusive:cross_talk",
        ),
        ("ZX-31: because of scattering.", "Include the marker ZX-31: why is the sky blue?", "pass"),
        ("A B-52 is a plane.", "What is a B-52?", "pass"),
        ("7be2-90d4", "Answer only with this token: a91f-33c0", "fail:cross_talk"),
        ("77120046", "Repeat this number and nothing else: 48210973", "fail:cross_talk"),
        ("48210973", "Repeat this number and nothing else: 48210973", "pass"),
        ("It is 48210974.", "Answer only with the number: what is 48210973 + 1?", "pass"),
        (
            "A text in UTF-16 has a mark.",
            "Include the marker ZX-31: what is a BOM?",
            "inconclusive:cross_talk",
        ),
        ("LAMPE-99", "只回复这个代码：KITE-4821", "fail:cross_talk"),
    ],
)
def test_code_of_another_request_is_cross_talk(text: str, prompt: str, verdict: str):
    """Provable only by a code that no other request has."""
    assert of(text, prompt) == verdict


@pytest.mark.parametrize(
    ("stream", "verdict"),
    [
        ({}, "fail:empty"),
        ({"reasoning": "Let me see."}, "fail:reasoning_only"),
        ({"finish": "length", "tokens": 900}, "inconclusive:own_limit"),
        ({"finish": "length", "request": a_request(max_tokens=1_999)}, "inconclusive:own_limit"),
        ({"finish": "length", "request": a_request(max_tokens=2_000)}, "fail:reasoning_only"),
        ({"finish": "content_filter"}, "fail:empty"),
    ],
)
def test_answers_without_text(stream: Json, verdict: str):
    """Empty is a fault; a budget eaten by reasoning is ours below 2,000 tokens of room."""
    assert said(INTEGRITY, a_stream("\n\u200b", **stream)) == verdict


def test_tool_call_is_an_answer():
    """A structured call needs no text."""
    call = {"tool_calls": [{"index": 0, "function": {"name": "ping", "arguments": "{}"}}]}
    assert said(INTEGRITY, a_transcript(as_event(a_frame(call, "tool_calls")))) == "pass"


@pytest.mark.parametrize(
    ("text", "stream", "verdict"),
    [
        (
            "A tide table lists the times of high water and also helps walkers who",
            {"tokens": 127},
            "fail:truncated",
        ),
        (
            "A tide table lists the times of high water and also helps walkers who",
            {"tokens": 890},
            "inconclusive:own_limit",
        ),
        (
            "A tide table lists the times of high water and also helps walkers who",
            {"tokens": 600},
            "inconclusive:limit_semantics",
        ),
        ("A tide table lists the times", {}, "fail:truncated"),
        (SCENE * 3, {"tokens": 900, "min_words": 60}, "pass"),
        (SCENE, {"tokens": 900, "min_words": 150}, "inconclusive:own_limit"),
        ("A far-off valley", {"tokens": 16, "request": a_request(max_tokens=None)}, "fail:truncated"),
        (
            "A far-off valley",
            {"tokens": 4096, "request": a_request(max_tokens=None)},
            "inconclusive:own_limit",
        ),
    ],
)
def test_cut_by_whom(text: str, stream: Json, verdict: str):
    """Far below the limit it was the host, at the limit it was us; a scene that is long enough is whole."""
    assert said(INTEGRITY, a_stream(text, finish="length", **stream)) == verdict


@pytest.mark.parametrize(
    ("text", "prompt", "verdict"),
    [
        ("The leaves are spread out. They are rolled and heated so that", "Explain.", "fail:truncated"),
        ("Die Blätter trocknen. Dann kommen sie in einen", "Erkläre.", "inconclusive:truncated"),
        (
            "The leaves are spread out. They are rolled and dried slowly",
            "Explain in three sentences.",
            "fail:truncated",
        ),
        ("The leaves are spread out. They are rolled and dried slowly", "Explain.", "inconclusive:truncated"),
        ("Where the Slow Water Bends", "A title.", "pass"),
        ("Take these:\n- tea\n- a cup of the", "A list.", "pass"),
        ("It rained. She said: “Wait”", "A scene.", "pass"),
        ("It rained. *She waits*", "A scene.", "pass"),
        ("It is easy:\n```sh\nls -lS\n```", "Code.", "pass"),
        ("It rained. 🙂", "A scene.", "pass"),
        ("It rained. She waited…", "A scene.", "pass"),
        ("今日は雨です。明日は晴れ", "天気", "inconclusive:truncated"),
        ("Milk is warmed, rennet is added,", "Explain in two sentences.", "fail:truncated"),
        ("Milk is warmed, rennet is added,", "Explain.", "inconclusive:truncated"),
        ("Snow scatters all light. LM-48", "End with the marker LM-48.", "pass"),
    ],
)
def test_finished_in_the_middle_of_a_sentence(text: str, prompt: str, verdict: str):
    """Sure only where no sentence ends like that, or fewer came than were asked for."""
    assert of(text, prompt) == verdict


def test_german_ending_is_known_in_german():
    """The words that end no sentence are those of the language asked for."""
    text = "Die Blätter trocknen. Dann kommen sie in einen"
    assert said(INTEGRITY, a_stream(text, locale="de")) == "fail:truncated"


def test_filter_probe_leaves_missing_text_to_filtering():
    """`empty` and `truncated` have one owner on each probe."""
    assert said(INTEGRITY, a_stream("", kind=ProbeKind.FILTER)) == "pass"


@pytest.mark.parametrize("kind", [ProbeKind.FILTER, ProbeKind.STRUCTURED, ProbeKind.ANY])
def test_encoding_belongs_here_outside_the_chat_probe(kind: ProbeKind):
    """On the chat probe the language contract owns it."""
    broken = "The moon is round and big\ufffd and they eat."
    assert said(INTEGRITY, a_stream(broken, kind=kind)) == "fail:replacement_char"
    assert said(INTEGRITY, a_stream(broken, kind=ProbeKind.CHAT)) == "pass"


def test_keepalive_as_data_is_doubtful():
    """The text is fine, but official clients stop at such a frame."""
    reads = (b"data: : keepalive\n\n", as_event(a_frame({"content": "A wren."}, "stop")))
    assert said(INTEGRITY, a_transcript(*reads)) == "inconclusive:bad_frame"
