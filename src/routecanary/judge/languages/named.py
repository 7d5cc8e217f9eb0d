"""How do prompts of every locale name the languages and scripts?

By code or script: words as they stand, or their beginnings where a hyphen ends them; the Arabic ones apart,
which take articles and prepositions; and the signs of scripts that part no words. Left out is what means
something else in a scene: Tagalog `hindi` (not) and `hapon` (afternoon), Korean `불어` (blows), Polish
`włoch-` (hairy).
"""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "en": (
        "english inglés inglês ingles inglesa inglesas ingleses inglese inglesi anglais anglaise "
        "englisch- engels engelse angielsk- anglojęzyczn- ingiliz- inggris английск- англоязычн- "
        "англійськ- англомовн- अंग्रेज़ी अंग्रेजी इंग्लिश"
    ),
    "es": (
        "spanish spaniard spaniards español- espanhol- espagnol- spanisch- spanier spagnol- "
        "spaans spaanse spanjaard hiszpańsk- hiszpan ispanyol- spanyol espanyol kastila "
        "castellano castelhano испанск- испанец іспанськ- іспанець स्पेनिश स्पैनिश"
    ),
    "pt": (
        "portuguese português portuguesa portugués portugais portugaise portugiesisch- portoghese "
        "portoghesi portugees portugese portugalsk- portekiz- portugis portuges португальск- "
        "португальськ- पुर्तगाली brazilian brasileir- brasileñ- brésilien- brasilian- "
        "braziliaans-"
    ),
    "fr": (
        "french francés francesa franceses français- francês francese francesi französisch- "
        "franzose- franse francusk- francuz fransız- prancis pranses французск- француз "
        "французьк- फ़्रेंच फ्रेंच फ्रांसीसी"
    ),
    "de": (
        "german germans alemán alemana alemanes alemão alemã alemães allemand- deutsch- tedesc- "
        "duits duitse niemieck- niemiec alman- jerman aleman немецк- немец німецьк- जर्मन"
    ),
    "it": "italian- italien- italiaans- włosk- italyan- italia итальянск- італійськ- इतालवी इटैलियन",
    "nl": (
        "dutch dutchman neerlandés holandés holandesa holandês neerlandês néerlandais- "
        "hollandais- niederländisch- holländisch- olandese olandesi nederlands nederlandse "
        "niderlandzk- holendersk- hollanda- felemenk- belanda olandes нидерландск- голландск- "
        "нідерландськ- голландськ- डच"
    ),
    "pl": (
        "polaco polaca polonês polonesa polonais polonaise polnisch- polacco polacca poolse "
        "polsk- lehçe polonya- polandia polako польск- польськ- पोलिश"
    ),
    "tr": (
        "turkish turco turca turcos turcas turc turque turcs turques türkisch- turks turkse "
        "tureck- türkçe- turki turko турецк- турецьк- तुर्की"
    ),
    "vi": "vietnam- wietnamsk- вьетнамск- в'єтнамськ- в’єтнамськ- वियतनामी",
    "id": (
        "indonesi- indonés- indonezyjsk- endonez- индонезийск- індонезійськ- malay malaio malais "
        "इंडोनेशियाई"
    ),
    "tl": (
        "tagalog tagalo filipin- pilipin- tagalsk- тагальск- тагальськ- филиппинск- філіппінськ- "
        "तागालोग"
    ),
    "ru": (
        "russian russians ruso rusa rusos russo russa russi russe russes russisch- russen "
        "rosyjsk- rusça- rusya rusia русск- російськ- रूसी"
    ),
    "uk": "ukrain- ucrani- ucrain- oekraïens- ukraińsk- ukrayna- украинск- українськ- यूक्रेनी",
    "Latin": (
        "latin latino latina latín latim latein- latijn- łacin- łaciń- romaji pinyin romanised "
        "romanized romanise romanize латинск- латиниц- латинськ- लैटिन रोमन"
    ),
    "Cyrillic": (
        "cyrillic cirílico cirillico cyrillique kyrillisch- cyrillisch cyryli- кирилли- кирили- "
        "kiril bulgarian serbian"
    ),
    "Greek": (
        "greek griego griega grego grega grec grecque griechisch- greco greca grieks griekse "
        "greck- yunan- греческ- грецьк- ग्रीक symbol symbols formula formulas physics"
    ),
    "Han": (
        "chinese chino chinos chinês chinesa chinois- chinesisch- cinese cinesi chinees chińsk- "
        "çince- tiongkok intsik kanji hanja mandarin китайск- китайськ- मंदारिन japan japanese "
        "japon- japón japonés japão japonês japonesa japanisch- giapponese giappone japans "
        "japanse japoński- japońsk- jepang nihonggo niponggo японск- японськ- जापानी"
    ),
    "kana": (
        "japan japanese japonés japonesa japão japonês japonais- japanisch- giapponese giappone "
        "japans japanse japońsk- japonca- jepang nihonggo niponggo kanji hiragana katakana kana "
        "японск- японськ- जापानी"
    ),
    "Hangul": (
        "korea korean koreans corea coreano coreana coréen- koreanisch- koreaans- koreańsk- "
        "korece- koreano hangul корейск- корейськ- कोरियाई"
    ),
    "Thai": (
        "thai thailand thaï thaïlandais- tailandia tailandés tailandês tailandese thailandese "
        "thailändisch- tajsk- tayca тайск- тайськ- थाई"
    ),
    "Arabic": (
        "arabic arab arabian árabe arabe arabisch- arabo araba arabsk- arapça- persian farsi urdu "
        "арабск- арабськ- अरबी उर्दू फ़ारसी"
    ),
    "Devanagari": "sanskrit marathi nepali devanagari hintçe- хинди гінді हिन्दी हिंदी संस्कृत मराठी",
    "Hebrew": (
        "hebrew hebreo hebraico hébreu hebräisch- ebraic- hebreeuws- hebrajsk- ibranice- иврит- "
        "іврит- हिब्रू"
    ),
}  # fmt: skip
ARABIC_NAMES: Final = {
    "en": "[إا]نجليزي انكليزي إنكليزي",
    "es": "[إا]سباني",
    "pt": "برتغالي",
    "fr": "فرنسي",
    "de": "[أا]لماني",
    "it": "[إا]يطالي",
    "nl": "هولندي",
    "pl": "بولندي",
    "tr": "تركي",
    "vi": "فيتنامي",
    "id": "[إا]ندونيسي",
    "tl": "تاغالوغ فلبيني",
    "ru": "روسي",
    "uk": "[أا]وكراني",
    "Latin": "لاتيني",
    "Cyrillic": "سيريلي",
    "Greek": "يوناني",
    "Han": "صيني ياباني",
    "kana": "ياباني",
    "Hangul": "كوري",
    "Thai": "تايلاندي",
    "Devanagari": "هندي",
    "Hebrew": "عبري",
}
SIGNS: Final = {
    "en": r"英[語语文]|영어|ภาษาอังกฤษ|tiếng anh(?!\w)",
    "es": r"スペイン語|西班牙[語语文]|스페인어|ภาษาสเปน|tiếng tây ban nha",
    "pt": r"ポルトガル語|葡萄牙[語语文]|포르투갈어|ภาษาโปรตุเกส|tiếng bồ",
    "fr": r"フランス語|法[語语文]|프랑스어|ภาษาฝรั่งเศส|tiếng pháp(?!\w)|(?-i:\bhet Frans\b)",
    "de": r"ドイツ語|德[語语文]|독일어|ภาษาเยอรมัน|tiếng đức(?!\w)",
    "it": r"イタリア語|意大利[語语文]|義大利[語文]|이탈리아어|ภาษาอิตาลี|tiếng ý(?!\w)",
    "nl": r"オランダ語|荷[兰蘭][語语文]|네덜란드어|ภาษาดัตช์|tiếng hà lan",
    "pl": r"ポーランド語|波[兰蘭][語语文]|폴란드어|ภาษาโปแลนด์|tiếng ba lan|(?-i:\bPolish\b|\bhet Pools\b)",
    "tr": r"トルコ語|土耳其[語语文]|터키어|튀르키예어|ภาษาตุรกี|tiếng thổ nhĩ",
    "vi": r"ベトナム語|越南[語语文]|베트남어|ภาษาเวียดนาม|tiếng việt(?!\w)|việt ngữ",
    "id": r"インドネシア語|印尼[語语文]|印度尼西[亚亞][語语]|인도네시아어|ภาษาอินโดนีเซีย",
    "tl": r"タガログ語|フィリピン語|他加[禄祿][語语]|菲律[宾賓][語语]|타갈로그어|ภาษาตากาล็อก",
    "ru": r"ロシア語|俄[語语文]|러시아어|ภาษารัสเซีย|tiếng nga(?!\w)",
    "uk": r"ウクライナ語|[乌烏]克[兰蘭][語语文]|우크라이나어|ภาษายูเครน",
    "Latin": r"ローマ字|拼音|[罗羅][马馬]字|로마자|อักษรโรมัน|ภาษาลาติน|chữ la-?tinh",
    "Cyrillic": r"キリル|西里[尔爾]|키릴|ซีริลลิก",
    "Greek": r"\b(?:which|what) (?:\w{1,20} )?letter\b"
    r"|ギリシ[ャア]語|希[腊臘][語语文]|그리스어|ภาษากรีก|tiếng hy lạp",
    "Han": r"中国語|中文|[汉漢][語语字]|[国國][語语]|日[語语文]|日本語|普通[话話]|중국어|한자로|일본어"
    r"|ภาษาจีน|ภาษาญี่ปุ่น|tiếng (?:trung|hoa|nhật)(?!\w)|चीनी भाषा",
    "kana": r"日本語|日[語语文]|ひらがな|カタカナ|仮名|일본어|ภาษาญี่ปุ่น|tiếng nhật(?!\w)",
    "Hangul": r"韓国語|ハングル|韩[語语文]|韓[語文]|한국어|한글|ภาษาเกาหลี|tiếng hàn(?!\w)",
    "Thai": r"タイ語|泰[語语文]|태국어|ภาษาไทย|tiếng thái(?!\w)",
    "Arabic": r"アラビア語|阿拉伯[語语文]|아랍어|ภาษาอาหรับ|tiếng ả rập|العربية",
    "Devanagari": r"(?-i:\b(?:in|into|en|em|auf|bahasa|the|po) Hindi\b)|ヒンディー|印地[語语]|힌디어|ภาษาฮินดี",
    "Hebrew": r"ヘブライ語|希伯[来來][語语文]|히브리어|ภาษาฮีบรู|עברית",
}
# Asks to translate, without the verbs that also turn a head, draw a breath or cross a river.
TRANSLATION: Final = (
    r"\b(?:translat|traduc|traduz|tradui|tradur|übersetzung|vertaa?l|przetłumacz|tłumaczeni|terjemah|menerjemah|"
    r"diterjemah|isalin\b|pagsasalin|çeviri\b|tercüme|перекладіть|переклади\b|переклад\b|перевод\b|переведите"
    r"|переведи\b)\w*|\bübersetze? (?:bitte|mir|das|den|die|diese|folgende|ins)\b"
    r"|\bdịch (?:sang|câu|đoạn văn|văn bản)|\bbản dịch"
    r"|翻訳|訳して|和訳|英訳|翻[译譯]|[译譯]成|번역|แปล(?:เป็น|ให้|ข้อ|ประโยค|ภาษา|คำ)|คำแปล|अनुवाद|ترجم"
    r"|\b(?:foreign (?:word|phrase|language)|bilingual|multilingual|loan ?word)"
)
