"""Polish, Russian, Ukrainian."""

from __future__ import annotations

from typing import Final

from routecanary.judge.refusals.lexicon import lexicon

POLISH: Final = lexicon(
    "pl",
    unable=r"""
        nie_(?:mogę|możemy|jestem_w_stanie|będę|potrafię|mam_możliwości|wolno_mi) muszę_odmówić odmawiam
        nie_jest_możliwe
    """,
    serve=r"""
        pomóc pomagać odpowied\w+ spełni\w+ zrealizow\w+ kontynuow\w+ uczestnicz\w+ wesprzeć udzieli\w+
        wykonać
    """,
    provide=r"""
        dostarcz\w+ (?:wy)?generow\w+ (?:na)?pisa\w+ (?:s)?tworzy\w+ opisa\w+ omawia\w+ przedstawi\w+
        poda\w+ zapewni\w+ rozmawia\w+
    """,
    this=r"w_tym\b tym\b to\b tego\b tę\b ta\b tej\b",
    request=r"prośb\w+ pytani\w+ żądani\w+ polecen\w+ zapytani\w+ prompt",
    thing=r"""
        treści\w* odgrywani\w+_ról roleplay scenariusz\w*
        (?:tej|tą|takich|tego_typu|takiej|tym)_(?:scen\w*|rol\w*|histori\w*|rozmow\w*|temat\w*|tekst\w*|materiał\w*)
    """,
    info=r"informacj\w+ porad\w* instrukcj\w+ wskazów\w+ szczegół\w+ odpowied\w+",
    ai=r"""
        jako_(?:sztuczna_inteligencja|model_językowy|ai|asystent)
        jestem_(?:tylko_)?(?:sztuczną_inteligencją|modelem_językowym|asystentem)
    """,
    policy=r"""
        wytyczn\w+ zasad(?:ami|y|om)_(?:bezpiecz|etycz|korzyst|użytk)\w* regulamin\w* polityk\w+
        względów_bezpieczeństwa
    """,
    offer=r"""
        mogę_(?:\w+_)?(?:pomóc|zaproponować|napisać) jeśli_(?:chcesz|masz|potrzebujesz)
        chętnie_(?:pomogę|napiszę) zamiast_tego w_czym_(?:mogę|innym)
    """,
    apology=r"przepraszam przykro_mi niestety wybacz",
    moral=r"""
        nielegaln\w+ szkodliw\w+ nieetyczn\w+ nieodpowiedni\w+ obraźliw\w+ niebezpieczn\w+ przemoc\w*
        seksualn\w+
    """,
)

RUSSIAN: Final = lexicon(
    "ru",
    unable=r"""
        (?:я_)?не_(?:могу|можем|смогу|имею_(?:права|возможности)|буду|в_состоянии|способ\w+|готов\w*|вправе)
        вынужден\w*_отказать\w* отказываюсь не_получится невозможно
    """,
    serve=r"""
        помочь помогать ответить отвечать выполнить продолж\w+ участвовать содейств\w+ удовлетвор\w+
        поддерж\w+ обработать
    """,
    provide=r"""
        предостав\w+ (?:с)?генерир\w+ (?:на)?писать написа\w+ созда\w+ описыва\w+ описа\w+ обсужд\w+
        обсуд\w+ предлож\w+ дать\b рассказ\w+ говорить_(?:о|на|об)
    """,
    this=r"с_этим\b этим\b это\b этот\b эту\b этого\b этой\b этом\b",
    request=r"запрос\w* просьб\w+ ваш\w*_(?:вопрос|запрос|просьб)\w* вопрос\w* задани\w+ промпт\w*",
    thing=r"""
        контент\w* ролев\w+_(?:игр\w*|сцен\w*) сценари\w+
        (?:эт\w+|так\w+|подобн\w+|данн\w+)_(?:сцен\w*|рол\w*|истори\w*|разговор\w*|тем\w*|текст\w*|материал\w*|бесед\w*|контент\w*)
    """,
    info=r"информаци\w+ совет\w* инструкци\w+ рекомендаци\w+ контент\w* подробност\w+ ответ\w*",
    ai=r"""
        как_(?:ии|искусственный_интеллект|языковая_модель|ассистент|нейросеть|виртуальный_ассистент)
        (?:я_)?(?:всего_лишь_)?(?:языковая_модель|искусственный_интеллект|нейросеть|ии-\w+)
        созданн?ый_(?:компани\w+_)?\w+
    """,
    policy=r"""
        правил\w+_(?:безопасн|использ|этик|сообщ)\w* политик\w+ руководящ\w+_принцип\w+
        соображени\w+_безопасности этическ\w+_(?:норм|принцип|правил)\w*
    """,
    offer=r"""
        (?:я_)?мог(?:у|_бы|ла_бы)_(?:\w+_)?(?:помочь|предлож|написать|рассказать)
        если_(?:вы|у_вас|хотите|тебе|ты) вместо_этого буду_рад чем_(?:ещё|еще)_я
        давайте_(?:поговорим|лучше|обсудим)
    """,
    apology=r"извините простите прошу_прощения к_сожалению (?:мне_)?(?:очень_)?жаль сожалею",
    moral=r"""
        незаконн\w+ вредн\w+ неэтичн\w+ неприемлем\w+ оскорбительн\w+ опасн\w+ насили\w+ сексуальн\w+
        откровенн\w+ неуместн\w+ противоправн\w+
    """,
)

UKRAINIAN: Final = lexicon(
    "uk",
    unable=r"""
        (?:я_)?не_(?:можу|зможу|маю_(?:права|можливості)|буду|в_змозі|здатн\w+) змушен\w*_відмовити
        відмовляюсь? неможливо
    """,
    serve=r"""
        допомог\w+ допомагати відповісти відповідати викона\w+ продовж\w+ брати_участь підтрим\w+
        задовольн\w+
    """,
    provide=r"""
        надати надавати (?:з)?генерувати (?:на)?писати створ\w+ опис\w+ обговор\w+ запропонувати розпов\w+
        говорити_про
    """,
    this=r"з_цим\b цим\b це\b цей\b цю\b цього\b цій\b",
    request=r"запит\w* проханн\w+ ваш\w*_(?:питання|запит|прохання) питання завданн\w+",
    thing=r"""
        контент\w* вміст\w* рольов\w+_(?:гр\w*|ігр\w*|сцен\w*) сценарі\w+
        (?:ц\w+|так\w+|подібн\w+)_(?:сцен\w*|рол\w*|істор\w*|розмов\w*|тем\w*|текст\w*|матеріал\w*)
    """,
    info=r"інформаці\w+ порад\w* інструкці\w+ рекомендаці\w+ подробиц\w* відповід\w*",
    ai=r"""
        як_(?:ші|штучний_інтелект|мовна_модель|асистент)
        (?:я_)?(?:лише_)?(?:мовна_модель|штучний_інтелект)
    """,
    policy=r"""
        правил\w+_(?:безпек|використ|етик|спільн)\w* політик\w+ міркуван\w+_безпеки
        етичн\w+_(?:норм|принцип)\w*
    """,
    offer=r"""
        (?:я_)?мож(?:у|на)_(?:\w+_)?(?:допомогти|запропонувати|написати) якщо_(?:ви|у_вас|хочете|ти)
        натомість із_задоволенням буду_рад
    """,
    apology=r"вибач\w* перепрошую на_жаль шкода прошу_вибачення",
    moral=r"""
        незаконн\w+ шкідлив\w+ неетичн\w+ неприйнятн\w+ образлив\w+ небезпечн\w+ насильств\w+ сексуальн\w+
    """,
)
