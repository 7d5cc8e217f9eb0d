"""Portuguese, Spanish, French, Italian; Romanian as a language that answers slide into."""

from __future__ import annotations

from typing import Final

from routecanary.judge.languages.table import language

PORTUGUESE: Final = language(
    "pt",
    letters="áâãàéêíóôõúçü",
    signs=r"(?:ção|ções|ões|ães|ãos|ão|dade|dades|agem|inho|inha|inhos|inhas|ável|ível|aram|eram|iram|avam|asse|esse)$|nh|lh",
    common="""
    o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às pelo pela pelos pelas
    por para pra com sem sob sobre entre até após desde contra durante perante e ou mas nem que quem
    qual quais cujo cuja se como quando onde enquanto porque pois porém contudo embora caso logo
    então assim portanto também só somente apenas ainda já não nunca jamais sim talvez mais menos
    muito muita muitos muitas pouco pouca poucos tão tanto tanta quanto bem mal melhor pior eu tu
    você vocês ele ela eles elas nós me te lhe lhes nos vos si consigo mim ti meu minha meus minhas
    teu tua seu sua seus suas nosso nossa nossos dele dela deles delas este esta estes estas esse
    essa esses essas aquele aquela aqueles aquelas isto isso aquilo mesmo mesma outro outra outros
    outras algum alguma alguns algumas nenhum nenhuma todo toda todos todas tudo nada algo alguém
    ninguém cada qualquer ser é são era eram foi foram fui seria sendo sido seja fosse estar está
    estão estava estavam esteve estou estiver ter tem têm tinha tinham teve tive tenho terá tivesse
    haver há havia houve ir vai vão ia iam vou foi fazer faz fez fazia fazendo feito dizer diz disse
    dizia dizendo dito ver vê viu via vendo visto dar dá deu dava saber sabe sabia soube poder pode
    podem podia podiam pôde posso querer quer queria quis vir vem veio vinha pôr pôs ficar fica
    ficou ficava deixar deixou deixava olhar olhou olhava olhando olhos voz mão mãos cabeça rosto
    dia dias noite noites manhã tarde hoje ontem amanhã agora depois antes sempre quase aqui ali lá
    cá dentro fora longe perto atrás frente cima baixo lado meio fim vez vezes coisa coisas homem
    homens mulher mulheres senhor senhora moça rapaz menino menina filho filha pai mãe irmão irmã
    amigo amiga gente pessoas casa porta janela rua cidade mundo vida tempo ano anos hora horas
    terra água fogo luz céu chão mar rio pedra caminho chegar chegou passar passou sair saiu entrar
    entrou voltar voltou cair caiu abrir abriu fechar fechou levar levou trazer trouxe pegar pegou
    colocar colocou começar começou continuar continuou parecer parecia pareceu sentir sentiu ouvir
    ouviu falar falou pergunta perguntou respondeu responder gritou sussurrou sorriu murmurou dois
    duas três quatro cinco seis sete oito nove dez primeiro primeira último última novo nova velho
    velha grande grandes pequeno pequena bom boa bons boas outro certo certa próprio própria tal
    tais através devagar embaixo enfim aliás daqui dali disso nisso nesse nessa neste nesta desse
    dessa deste desta num numa nele nela comigo contigo conosco qualquer além aquém mulher quero
    preciso precisa obrigado obrigada por favor oi olá adeus coração mãozinha silêncio sombra vento
    chuva madeira
    """,
)

SPANISH: Final = language(
    "es",
    letters="áéíóúüñ",
    signs=r"(?:ción|ciones|dad|dades|aje|ajes|illo|illa|ito|ita|aba|aban|ía|ían|ando|iendo|aron|ieron|mente)$|ñ|ll|^h[ue]e",
    common="""
    el la los las un una unos unas lo al del de a en con sin por para según sobre entre hasta desde
    contra durante hacia tras bajo ante mediante y e o u ni pero sino mas que quien quienes cual
    cuales cuyo cuya si como cuando donde mientras porque pues aunque sin embargo luego entonces así
    también tampoco solo sólo solamente aún todavía ya no nunca jamás sí quizá quizás más menos muy
    mucho mucha muchos muchas poco poca pocos tan tanto tanta cuanto bien mal mejor peor yo tú usted
    ustedes él ella ellos ellas nosotros nosotras vosotros me te le les nos os se sí mí ti mi mis tu
    tus su sus mío mía tuyo suyo suya nuestro nuestra nuestros este esta estos estas ese esa esos
    esas aquel aquella aquellos aquellas esto eso aquello mismo misma otro otra otros otras algún
    alguna algunos algunas ningún ninguna todo toda todos todas nada algo alguien nadie cada
    cualquier ser es son era eran fue fueron fui sería siendo sido sea fuera fuese estar está están
    estaba estaban estuvo estoy tener tiene tienen tenía tenían tuvo tengo tendrá haber ha han había
    habían hubo hay he hemos hacer hace hizo hacía haciendo hecho ir va van iba iban voy decir dice
    dijo decía diciendo dicho ver ve vio veía viendo visto dar da dio daba saber sabe sabía supo
    poder puede pueden podía podían pudo puedo querer quiere quería quiso venir viene vino venía
    poner puso quedar queda quedó quedaba dejar dejó dejaba mirar miró miraba mirando ojos voz mano
    manos cabeza rostro cara día días noche noches mañana tarde hoy ayer ahora después antes siempre
    casi aquí allí allá acá dentro fuera lejos cerca detrás delante encima arriba abajo lado medio
    fin vez veces cosa cosas hombre hombres mujer mujeres señor señora muchacho muchacha chico chica
    niño niña hijo hija padre madre hermano hermana amigo amiga gente casa puerta ventana calle
    ciudad mundo vida tiempo año años hora horas tierra agua fuego luz cielo suelo mar río piedra
    camino llegar llegó pasar pasó salir salió entrar entró volver volvió caer cayó abrir abrió
    cerrar cerró llevar llevó traer trajo coger cogió tomar tomó empezar empezó comenzó continuar
    continuó seguir siguió seguía parecer parecía pareció sentir sintió oír oyó escuchó hablar habló
    preguntó respondió gritó susurró sonrió murmuró dos tres cuatro cinco seis siete ocho nueve diez
    primero primera último última nuevo nueva viejo vieja grande grandes pequeño pequeña bueno buena
    buenos buenas gran cierto cierta propio propia tal tales través despacio debajo además ello
    consigo conmigo contigo cualquiera alrededor apenas junto frente quiero necesito gracias hola
    adiós corazón silencio sombra viento lluvia madera pueblo barco fiesta luna sol hacía nosotros
    ustedes hacían
    """,
)

FRENCH: Final = language(
    "fr",
    letters="àâæçéèêëîïôœùûüÿ",
    signs=r"(?:tion|eux|euse|eur|eurs|ement|aient|ait|ais|ique|ette|oir|oire|elle|ère|ée|ées)$|œ|^qu['e]|eau|oi[tsx]$",
    common="""
    le la les l un une des du de d au aux à en dans sur sous avec sans pour par entre vers chez
    contre pendant depuis jusque jusqu avant après derrière devant et ou mais ni car donc or que qu
    qui quoi dont où quel quelle quels quelles lequel laquelle si comme quand lorsque lorsqu puis
    alors ainsi aussi encore déjà toujours jamais plus moins très trop peu beaucoup tant assez bien
    mal mieux pire ne n pas point rien personne aucun aucune oui non peut être je j tu il elle on
    nous vous ils elles me m te t se s lui leur leurs y moi toi eux soi mon ma mes ton ta tes son sa
    ses notre nos votre vos ce cet cette ces c ceci cela ça celui celle ceux celles même mêmes autre
    autres quelque quelques chaque tout toute tous toutes plusieurs quelqu chose choses suis es est
    sommes êtes sont étais était étaient fut furent sera seront serait soit été étant ai as a avons
    avez ont avais avait avaient eut aura aurait ait eu ayant fais fait font faisait fit faire dit
    dire disait disant vois voit voir vu vit va vont allait aller alla vient venait venir vint peux
    peut peuvent pouvait pouvoir put veux veut voulait vouloir sais sait savait savoir faut fallait
    doit devait devoir prit prendre pris met mettre mis tenait tenir reste resta laissa laisser
    regarda regarder regardait yeux voix main mains tête visage jour jours nuit nuits matin soir
    aujourd hui hier demain maintenant bientôt ici là loin près dedans dehors haut bas côté milieu
    fin fois homme hommes femme femmes monsieur madame garçon fille fils père mère frère sœur ami
    amie gens maison porte fenêtre rue ville monde vie temps an ans année années heure heures terre
    eau feu lumière ciel sol mer rivière pierre chemin arriva passa sortit entra tomba ouvrit ferma
    porta prit commença continua sembla semblait sentit entendit parla demanda répondit cria murmura
    sourit deux trois quatre cinq six sept huit neuf dix premier première dernier dernière nouveau
    nouvelle vieux vieille grand grande grands petit petite petits bon bonne beau belle seul seule
    propre tel telle parce pourtant cependant tandis presque peu déjà vraiment autour lentement
    merci bonjour silence ombre vent pluie bois
    """,
)

ITALIAN: Final = language(
    "it",
    letters="àèéìíîòóùú",
    signs=r"(?:zione|zioni|mente|ità|aggio|aggi|etto|etta|ezza|ava|avano|evano|ando|endo|arono|gli|glia|glie|ggi|cchi|cchio)$|zz|gli[aeo]$|cqu",
    common="""
    il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle
    da dal dallo dalla dai dalle in nel nello nella nei negli nelle con col su sul sulla sui sulle
    per tra fra senza sotto sopra dopo prima verso contro durante presso e ed o oppure ma però né
    che chi cui quale quali quanto quanti se come quando dove mentre perché poiché sebbene dunque
    quindi allora così anche pure ancora già mai sempre non no sì forse più meno molto molta molti
    molte poco poca pochi tanto tanta troppo bene male meglio peggio io tu lui lei noi voi loro egli
    ella esso essa mi ti ci vi si ne me te sé mio mia miei mie tuo tua tuoi suo sua suoi sue nostro
    nostra vostro questo questa questi queste quel quello quella quelli quelle quei ciò stesso
    stessa altro altra altri altre alcun alcuno alcuni alcune nessun nessuno nessuna tutto tutta
    tutti tutte niente nulla qualcosa qualcuno ogni qualche ciascuno sono sei è siamo siete era
    erano fu furono sarà sarebbe sia fosse essere stato stata stati ho hai ha abbiamo avete hanno
    aveva avevano ebbe avrà avrebbe avere avuto fa fai fanno faceva fece fare fatto dice disse dire
    detto vede vide vedere visto va vanno andava andò andare viene venne venire può possono poteva
    potere vuole voleva volere sa sapeva sapere deve doveva dovere dare dato dava diede mette mise
    mettere messo prese prendere preso rimase rimanere lasciò lasciare guardò guardare guardava
    occhi voce mano mani testa viso volto giorno giorni notte notti mattina mattino sera oggi ieri
    domani adesso ora poi subito qui qua lì là dentro fuori lontano vicino dietro davanti su giù
    lato mezzo fine volta volte cosa cose uomo uomini donna donne signore signora ragazzo ragazza
    bambino bambina figlio figlia padre madre fratello sorella amico amica gente casa porta finestra
    strada città mondo vita tempo anno anni ore terra acqua fuoco luce cielo mare fiume pietra
    cammino arrivò passò uscì entrò cadde aprì chiuse portò cominciò iniziò continuò sembrava sembrò
    sentì udì parlò chiese rispose gridò sussurrò sorrise due tre quattro cinque sette otto nove
    dieci primo ultimo ultima nuovo nuova vecchio vecchia grande grandi piccolo piccola buono buona
    bello bella solo sola proprio propria tale attraverso quasi davvero piano intorno grazie ciao
    silenzio ombra vento pioggia legno cuore
    """,
)

ROMANIAN: Final = language(
    "ro",
    home=False,
    letters="ăâîșşțţ",
    signs=r"(?:ului|ilor|elor|ește|ească|iune|ție|ul|urile)$|[șțăş]",
    common="""
    și în din la cu pe de nu că este sunt era erau fost mai un unei unui o cel cea cei cele care
    pentru prin dar sau ca când unde cum dacă după spre până fără între eu el ea noi ei ele îmi îi
    îl își lui lor meu mea acest această acesta aceasta acela ceva nimic tot toate toți foarte acum
    aici acolo încă doar avea are au ai am fi va vor să face făcut spus spuse zis văzut ochi mână
    casă zi noapte om oameni
    """,
)
