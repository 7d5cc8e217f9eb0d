"""Does a prompt ask for words of a language or script by name?"""

from __future__ import annotations

import re
from typing import Final

# Names of languages in the languages that prompts are written in, folded; also asks such as "translate".
_NAMES: Final = {
    "en": (
        r"english|ingl[eéê]s|anglais|englisch|inglese|engels|angielsk|английск|англійськ|英語|英语"
        r"|영어|อังกฤษ|ingiliz|inggris|tiếng anh|अंग्रेज|إنجليزي|انجليزي"
    ),
    "es": (
        r"spanish|español|espanhol|espagnol|spanisch|spagnol|spaans|hiszpańsk|испанск|іспанськ"
        r"|スペイン語|西班牙语|스페인어|castellan|ispanyol|spanyol|tây ban nha|สเปน"
    ),
    "pt": r"portugu|portoghes|португал|ポルトガル語|葡萄牙语|포르투갈어|bồ đào nha|โปรตุเกส|portekiz",
    "fr": (
        r"french|franc[eé]s|français|franz[öo]s|frances|frans\b|franse|francusk|французск|французьк"
        r"|フランス語|法语|프랑스어|fransız|prancis|tiếng pháp|ฝรั่งเศส|francês"
    ),
    "de": (
        r"german|alem[aáã]|allemand|deutsch|tedesc|duits|niemieck|немецк|німецьк|ドイツ語|德语|독일어"
        r"|alman|jerman|tiếng đức|เยอรมัน"
    ),
    "it": r"italian|italien|italiaans|włosk|итальянск|італійськ|イタリア語|意大利语|이탈리아어|italyan",
    "nl": (
        r"dutch|holland|niederl|néerland|neerland|niderland|нидерланд|нідерланд|オランダ語|荷兰语"
        r"|네덜란드어"
    ),
    "pl": r"polish|polac|polon|polnisch|pools\b|polsk|польск|польськ|ポーランド語|波兰语|폴란드어",
    "tr": r"turkish|turco|turc\b|türkisch|turks\b|tureck|турецк|турецьк|トルコ語|土耳其语|터키어|türkçe",
    "vi": r"vietnam|việt|вьетнам|ベトナム語|越南语|베트남어",
    "id": r"indonesi|malay|индонези|インドネシア語|印尼语|인도네시아어",
    "tl": r"tagalog|filipin|pilipin|тагальск|タガログ語|他加禄语|타갈로그어",
    "ru": r"russi|rosyjsk|ruso\b|русск|російськ|ロシア語|俄语|러시아어|rusça|tiếng nga|รัสเซีย",
    "uk": r"ukrain|ucrani|украинск|українськ|ウクライナ語|乌克兰语|우크라이나어",
    "Latin": (
        r"latin|romaji|pinyin|roman(?:ised|ized)|english|ingl|英語|英语|영어|อังกฤษ|translat|übersetz"
        r"|翻訳|翻译|번역|แปล"
    ),
    "Cyrillic": (
        r"cyrill|russi|ukrain|bulgar|ruso\b|русск|українськ|kyrill|ロシア|俄语|러시아|translat"
        r"|übersetz"
    ),
    "Greek": r"greek|grieg|grec|griech|ギリシ|希腊|그리스|letter|symbol|math|physics|formula",
    "Han": (
        r"chinese|chines|chinois|kanji|hanja|japan|mandarin|中文|汉字|漢字|китай|chino|translat"
        r"|übersetz|한자|일본|중국"
    ),
    "kana": r"japan|japon|giappon|hiragana|katakana|kana\b|日本語|日语|япон|일본|translat|übersetz",
    "Hangul": r"korea|corean|coréen|hangul|한국|韓国|韩语|корей|translat|übersetz",
    "Thai": r"\bthai|tailand|ไทย|タイ語|泰语|тайск|태국|translat",
    "Arabic": r"arab|العرب|アラビア|阿拉伯|persian|farsi|urdu|아랍|translat",
    "Devanagari": r"hindi|sanskrit|हिन्दी|हिंदी|ヒンディー|印地|힌디|marathi|nepali|translat",
    "Hebrew": r"hebrew|hebre|hébreu|עברית|ヘブライ|希伯来|иврит|translat",
}
_PATTERNS: Final = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _NAMES.items()}
_TRANSLATION: Final = re.compile(
    r"translat|traduc|traduz|tradui|traduc|übersetz|vertaal|tłumacz|перев[её]д|переклад|çevir|dịch\b|terjemah|翻訳|翻译"
    r"|번역|แปล|अनुवाद|ترجم|foreign (?:word|phrase|language)|bilingual|multilingual|loan ?word",
    re.IGNORECASE,
)


def asks_for(name: str, prompt: str) -> bool:
    """Say whether a prompt names a language (by code) or a script, or asks for a translation."""
    pattern = _PATTERNS.get(name)
    return (pattern is not None and pattern.search(prompt) is not None) or _TRANSLATION.search(
        prompt
    ) is not None
