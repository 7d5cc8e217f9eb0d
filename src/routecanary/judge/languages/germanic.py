"""English, German, Dutch; Swedish, Danish and Norwegian as languages that answers slide into."""

from __future__ import annotations

from typing import Final

from routecanary.judge.languages.table import language

ENGLISH: Final = language(
    "en",
    letters="éèïëôüñæœç",
    signs=r"(?:ing|ings|tion|tions|ness|ful|less|ly|ould|ought|ight|ed|ment|ments)$|^wh|th|ough|sh",
    common="""
    the a an of in on at to for from with without by about into onto over under between among
    through across against during before after behind beside beneath toward towards within upon up
    down out off away and or but nor so yet because although though while when whenever where
    wherever if unless until since as than that which who whom whose what why how then there here
    now again once still already always never ever often sometimes perhaps maybe not no yes very
    much many more most less least few little some any all each every both either neither other
    another such same own only just even also too well better best worse i you he she it we they me
    him her us them my your his its our their mine yours hers ours theirs myself yourself himself
    herself itself themselves this these those is are was were be been being am do does did done
    doing have has had having will would shall should can could may might must say says said saying
    see saw seen look looked looking eyes voice hand hands head face go goes went gone going come
    came coming get got getting give gave given take took taken make made making know knew known
    think thought feel felt hear heard tell told ask asked answer answered leave left keep kept let
    put stand stood sit sat turn turned walk walked run ran fall fell open opened close closed hold
    held bring brought find found seem seemed begin began day days night nights morning evening
    today tomorrow yesterday time times year years hour hours man men woman women boy girl son
    daughter father mother brother sister friend friends people house home door window street city
    town world life land water fire light sky ground sea river stone road way thing things something
    anything nothing everything someone anyone everyone nobody one two three four five six seven
    eight nine ten first last next new old young long short great big small little good bad right
    wrong high low far near back front side end part place half slowly quickly softly quietly
    suddenly around along together almost enough quite rather however therefore indeed please thank
    thanks hello goodbye heart silence shadow wind rain wood don didn doesn isn wasn couldn wouldn
    ll ve re while whispered smiled murmured shouted replied like want wanted need needed old dark
    cold warm
    """,
)

GERMAN: Final = language(
    "de",
    letters="äöüß",
    signs=r"(?:ung|ungen|keit|heit|lich|liche|lichen|isch|schaft|chen|lein|ßen|ieren|ierte|tet|ten)$|sch|ß|^ge\w+t$|ck|tz|pf",
    common="""
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem und oder aber
    doch sondern denn weil dass daß ob wenn als wie wo wohin woher während bis nachdem bevor obwohl
    damit in im ins an am ans auf aus bei beim mit nach seit von vom zu zum zur durch für gegen ohne
    um über unter vor hinter neben zwischen wegen trotz ich du er sie es wir ihr mich dich ihn uns
    euch mir dir ihm ihnen mein meine meinen meinem meiner dein deine sein seine seinen seinem
    seiner ihre ihren ihrem ihrer unser unsere euer dieser diese dieses diesen diesem jener jene
    jenes welcher welche welches wer was wen wem nichts etwas jemand niemand alle alles allem allen
    jeder jede jedes manche viele vieles wenig wenige mehr andere anderen anderer selbst ist sind
    war waren bin bist seid sei wäre gewesen hat haben hatte hatten habe hast hätte gehabt wird
    werden wurde wurden würde worden geworden kann können konnte konnten könnte muss muß müssen
    musste will wollen wollte soll sollte sollten darf durfte mag mochte möchte macht machte machen
    gemacht geht ging gehen gegangen kommt kam kommen gekommen sagt sagte sagen gesagt sieht sah
    sehen gesehen gibt gab geben gegeben nahm nehmen genommen weiß wusste wissen stand stehen lag
    liegen saß sitzen ließ lassen hielt halten fand finden blieb bleiben schien scheinen begann
    beginnen hörte hören fragte fragen antwortete rief flüsterte lächelte blickte schaute augen
    stimme hand hände kopf gesicht tag tage nacht nächte morgen abend heute gestern jetzt dann
    danach später immer nie niemals wieder noch schon nur auch sehr so ganz gar fast beinahe etwa
    vielleicht hier da dort weg hin her oben unten links rechts vorn hinten draußen drinnen nicht
    nein ja gut besser schlecht mann männer frau frauen kind kinder junge mädchen sohn tochter vater
    mutter bruder schwester freund leute haus tür fenster straße stadt welt leben zeit jahr jahre
    stunde stunden land wasser feuer licht himmel boden meer fluss stein weg ding dinge mal zwei
    drei vier fünf sechs sieben acht neun zehn erste ersten letzte letzten neue neuen alte alten
    groß große großen klein kleine kleinen lang lange kurz hoch weit nah langsam leise plötzlich
    zurück herum zusammen genug eben bitte danke hallo herz stille schatten wind regen holz
    """,
)

DUTCH: Final = language(
    "nl",
    letters="ëïéèöüáó",
    signs=r"(?:heid|heden|lijk|lijke|lijken|tje|tjes|ende|ing|ingen|achtig)$|ij|aa|oe|uu|ui|eeu|sch[aeou]",
    common="""
    de het een van in op aan uit bij met naar voor door over onder tussen tegen zonder om tot sinds
    langs achter naast tijdens na te ter en of maar want omdat dat als toen terwijl wanneer waar hoe
    wie wat welke waarom dus toch ook nog al reeds weer nooit altijd soms vaak misschien niet geen
    nee ja zeer heel erg zo meer meest minder veel weinig enkele sommige alle alles niets iets
    iemand niemand elk elke ieder iedere andere ander zelf ik jij je hij zij ze wij we jullie u mij
    me jou hem haar ons hun hen mijn jouw zijn onze uw dit deze die er daar hier nu dan straks later
    eerst laatste is was waren ben bent geweest heeft hebben had hadden heb hebt gehad wordt worden
    werd werden geworden zal zullen zou zouden kan kunnen kon konden moet moeten moest mag mogen
    mocht wil willen wilde wilden doet doen deed gedaan gaat gaan ging gingen gegaan komt komen kwam
    kwamen gekomen zegt zeggen zei zeiden gezegd ziet zien zag zagen gezien geeft geven gaf nam
    nemen weet weten wist stond staan lag liggen zat zitten liet laten hield houden vond vinden
    bleef blijven leek lijken begon beginnen hoorde horen vroeg vragen antwoordde riep fluisterde
    glimlachte keek kijken ogen stem hand handen hoofd gezicht dag dagen nacht nachten ochtend avond
    vandaag morgen gisteren man mannen vrouw vrouwen kind kinderen jongen meisje zoon dochter vader
    moeder broer zus vriend mensen huis deur raam straat stad wereld leven tijd jaar jaren uur uren
    land water vuur licht hemel lucht grond zee rivier steen weg ding dingen keer twee drie vier
    vijf zes zeven acht negen tien eerste nieuwe nieuw oude oud grote groot kleine klein lange lang
    korte goed goede slecht hoog ver dichtbij langzaam zacht plotseling terug rond samen genoeg
    bijna binnen buiten boven beneden alstublieft dank hallo hart stilte schaduw wind regen hout
    """,
)

SWEDISH: Final = language(
    "sv",
    home=False,
    letters="åäöé",
    signs=r"(?:ningen|ning|arna|orna|erna|lig|liga|ligt|het|ande|ade)$|å",
    common="""
    och att det som en ett är var på för med av till den inte han hon jag vi de från om men när så
    hade har kan ska skulle blev eller efter upp ut över under mot bara sin sitt sina hans hennes
    mig dig sig honom henne oss dem där här nu då också redan mycket något någon ingen alla allt
    sedan vara varit göra gjorde säger sade sa kom gick såg ett två tre ögon hand dag natt börja
    börjar noggrant utan vid genom mellan
    """,
)

DANISH: Final = language(
    "da",
    home=False,
    letters="æøå",
    signs=r"(?:ningen|ning|erne|lige|ligt|hed|ede)$|[æøå]",
    common="""
    og at det som en et er var på for med af til den ikke han hun jeg vi de fra om men når så havde
    har kan skal skulle blev eller efter op ud over under mod kun sin sit sine hans hendes mig dig
    sig ham hende os dem der her nu da også allerede meget noget nogen ingen alle alt siden være
    været gøre gjorde siger sagde kom gik så øjne hånd dag nat etter ikkje av fra ble bare hva hvor
    uten hadde også være
    """,
)
