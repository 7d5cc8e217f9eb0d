"""Polish; Russian and Ukrainian in Cyrillic; Czech and Bulgarian as languages to slide into."""

from __future__ import annotations

from typing import Final

from routecanary.judge.languages.table import language

_COMMON: Final = "абвгдежзийклмнопрстуфхцчшщьюя"

POLISH: Final = language(
    "pl",
    letters="ąćęłńóśźż",
    signs=r"(?:ość|ości|ego|emu|ych|ymi|ami|ach|owi|ała|ało|ały|ował|ować|cie|nie)$|[ąęłśźż]|sz|cz|rz|dz",
    common="""
    w we z ze na do od o u po za przed pod nad przy przez dla bez między wśród obok oprócz podczas
    wobec i a oraz lub albo ale lecz jednak więc zatem bo ponieważ że żeby aby gdy kiedy gdzie jak
    jeśli jeżeli niż czy chociaż choć ja ty on ona ono my wy oni one mnie mi cię ci go mu jej ją
    jego im ich nas nam was wam nimi nim nią się sobie siebie mój moja moje twój twoja swój swoja
    swoje swoją nasz nasza wasz ten ta to te ci tego tej temu tym tych tymi tę tamten tamta który
    która które którzy którego której którym co kto czego kogo nic nikt coś ktoś każdy każda każde
    wszystko wszyscy wszystkie inny inna inne sam sama samo jest są był była było byli były będzie
    będą być jestem jesteś jesteśmy ma mają miał miała mieli mam masz może mogą mógł mogła można
    musi musiał chce chciał wie wiedział widzi zobaczył mówi powiedział powiedziała rzekł zapytał
    zapytała odpowiedział szepnął idzie szedł poszedł przyszedł stał stała siedział leżał spojrzał
    spojrzała patrzył wziął dał zrobił nie tak no już jeszcze też także tylko bardzo zawsze nigdy
    teraz potem wtedy tu tutaj tam tutaj znowu znów prawie może bardziej mniej więcej dobrze źle
    oczy głos ręka ręce ręką głowa twarz dzień dni noc rano wieczór dziś wczoraj jutro mężczyzna
    kobieta chłopiec dziewczyna syn córka ojciec matka brat siostra przyjaciel ludzie dom drzwi okno
    ulica miasto świat życie czas rok lat godzina ziemia woda ogień światło niebo morze rzeka kamień
    droga rzecz dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć pierwszy pierwsza
    ostatni nowy nowa stary stara duży wielki mały mała dobry dobra długi wysoki daleko blisko
    powoli cicho nagle razem proszę dziękuję serce cisza cień wiatr deszcz drewno
    """,
)

CZECH: Final = language(
    "cs",
    home=False,
    letters="áčďéěíňóřšťúůýž",
    signs=r"(?:ého|ých|ými|ost|osti|ení|ání)$|[ěřů]",
    common="""
    a v na se že je to s z do o k i ale jako za by si po pro jsem jsme jsou byl byla bylo byli být
    když už jen také nebo který která které co kde tak ještě má mají může ne není jeho její jejich
    mu ho ji nic něco někdo všechno před při od bez nad pod mezi podle řekl řekla oči ruka den noc
    """,
)

RUSSIAN: Final = language(
    "ru",
    letters=_COMMON + "ёыэъ",
    signs=r"[ыэъё]|(?:ться|ого|его|ами|ями|ость|ения|ение|ый|ая|ое|ые)$",
    common="""
    и в на с со к ко о об от до из по за под над при про для без через перед между у а но или что
    чтобы как когда где куда если хотя потому так же бы ли не ни нет да я ты он она оно мы вы они
    меня мне тебя тебе его ему её ее ей нас нам вас вам их им ими ним ней него них себя себе мой моя
    моё мои твой свой своя своё свои своих своей своего наш ваш этот эта это эти этого этой этому
    этом тот та те того той тому том который которая которое которые которого которой кто чего кого
    чем ничего никто что-то кто-то всё все всех всем весь вся каждый другой другая другие сам сама
    есть был была было были будет будут быть стал стала может могут мог могла можно надо нужно
    должен хочет хотел знает знал видит увидел говорит сказал сказала спросил спросила ответил
    ответила шёл пошёл пришёл стоял стояла сидел лежал посмотрел посмотрела смотрел взял дал сделал
    уже ещё еще тоже также только очень всегда никогда теперь сейчас потом тогда тут здесь там снова
    опять почти может более больше меньше хорошо плохо глаза глаз голос рука руки руку голова лицо
    день дня дни ночь ночью утро утром вечер вечером сегодня вчера завтра мужчина женщина мальчик
    девушка сын дочь отец мать брат сестра друг люди людей человек дом дверь окно улица город мир
    жизнь время год лет час земля вода огонь свет небо море река камень дорога дело раз два две три
    четыре пять шесть семь восемь девять десять первый первая последний новый новая старый старая
    большой большая маленький хороший долго далеко близко медленно тихо вдруг вместе спасибо сердце
    тишина тень ветер дождь дерево после вокруг словно будто пока
    """,
)

UKRAINIAN: Final = language(
    "uk",
    letters=_COMMON + "іїєґ",
    signs=r"[іїєґ]|(?:ться|ого|ість|ення|ання|ий|ському)$",
    common="""
    і й та в у на з із зі до від о об по за під над при про для без через перед між а але або чи що
    щоб як коли де куди якщо хоча бо тому так же ж би б не ні нема немає є я ти він вона воно ми ви
    вони мене мені тебе тобі його йому її їй нас нам вас вам їх їм ними ним ній нього них себе собі
    мій моя моє мої твій свій своя своє свої своїх своєї свого наш ваш цей ця це ці цього цієї цьому
    той та ті того тієї тому який яка яке які якого якої хто чого кого чим нічого ніхто щось хтось
    все всі всіх усе усі весь вся кожен кожний інший інша інші сам сама був була було були буде
    будуть бути став стала може можуть міг могла можна треба потрібно повинен хоче хотів знає знав
    бачить побачив каже сказав сказала спитав запитав запитала відповів відповіла йшов пішов прийшов
    стояв стояла сидів лежав подивився дивився взяв дав зробив вже ще теж також тільки лише дуже
    завжди ніколи тепер зараз потім тоді тут там знову майже більше менше добре погано очі голос
    рука руки голова обличчя день дні ніч вночі ранок вечір сьогодні вчора завтра чоловік жінка
    хлопець дівчина син донька батько мати брат сестра друг люди людей людина дім будинок двері
    вікно вулиця місто світ життя час рік років година земля вода вогонь світло небо море річка
    камінь дорога справа раз два дві три чотири п'ять шість сім вісім дев'ять десять перший перша
    останній новий нова старий стара великий велика малий маленький довго далеко близько повільно
    тихо раптом разом дякую серце тиша тінь вітер дощ дерево після навколо поки зроблено
    """,
)

BULGARIAN: Final = language(
    "bg",
    home=False,
    letters=_COMMON + "ъ",
    signs=r"(?:ът|ята|ието|ите|ване|еше|аше)$",
    common="""
    и на да се от за не с в е си са по като но той тя то ние вие те му й им го ги че ще бе беше бяха
    има няма може който която което които защо когато къде тук там още само много все до при след
    през без над под между със във или ако също този тази това тези
    """,
)
