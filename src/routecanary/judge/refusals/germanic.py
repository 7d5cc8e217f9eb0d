"""English, German, Dutch."""

from __future__ import annotations

from typing import Final

from routecanary.judge.refusals.lexicon import lexicon

ENGLISH: Final = lexicon(
    "en",
    unable=r"""
        (?:i|we)_(?:\w+ly_)?(?:cannot|can't|can_not|won't|will_not|must_decline|have_to_decline|need_to_decline|decline)
        (?:i|we)(?:'m|_am|_are|'re)_(?:\w+ly_)?(?:not_(?:able|allowed|permitted|designed|programmed|comfortable|going)|unable)
        (?:i|we)_(?:do_not|don't)_(?:feel_comfortable|have_the_ability|engage|provide|create|generate|participate)
        (?:cannot|can't|unable_to)_(?:fulfil|comply|assist|provide|help|generate|create|answer|process)
        not_(?:appropriate|able|possible)_(?:or_\w+_)?(?:for_me_)?to must_(?:\w+ly_)?decline i_refuse
    """,
    serve=r"""
        help\b assist fulfil comply satisf accommodat answer respond support\b engag participat continu
        proceed do_that process_(?:this|that|your) decline
    """,
    provide=r"""
        provid generat writ creat produc give_you offer_you shar discuss describ complet depict role-?play
        engag roleplay suggest promot encourag facilitat endors
    """,
    this=r"that\b this\b it\b with_(?:that|this|it|your)",
    request=r"""
        request\b request[.,!] requests? prompt (?:your|this|that|the)_(?:question|query|task|instruction)
    """,
    thing=r"""
        content material role-?play(?:ing)? roleplay scenarios?
        this_(?:conversation|scene|role|story|topic|prompt|narrative|type)
        that_(?:scene|story|topic|kind|type) such_(?:a_)?(?:scene|story|topic|request|prompt|question)
        the_(?:scene|story|prompt) stor(?:y|ies)_(?:that|with|involving|about)
        scenes?_(?:that|with|involving) fiction(?:al)?_(?:content|scene|story)
        instructions?_(?:on|for|that) information_(?:on|about|that|regarding)
    """,
    info=r"""
        information advice content instructions? guidance suggestions? details? assistance an?_answer
        help_(?:you_)?(?:with_|to_)?(?:writ|creat|plan|mak|generat|craft|draft|produc|design|develop|build)
    """,
    ai=r"""
        as_an?_(?:\w+_){0,2}(?:ai|language_model|assistant|chatbot)\b
        i(?:'m|_am)_(?:just_|only_)?an?_(?:\w+_)?(?:ai|language_model|chatbot|assistant)\b
        my_(?:programming|training|purpose|developers|creators)
    """,
    policy=r"""
        polic(?:y|ies) guidelines? terms_of_(?:service|use) safety_(?:reasons|guidelines|rules)
        content_(?:rules|restrictions) community_standards ethical_(?:standards|guidelines|principles)
        my_(?:rules|limits|boundaries)
    """,
    offer=r"""
        (?:i_can|i_could|i'd_be|i_would_be|i'm|i_am)_(?:\w+_){0,3}(?:help|happy|glad|offer|write|suggest|assist)
        let_me_know how_can_i is_there_(?:anything|something) would_you_like
        if_you_(?:have|would|need|want|'d) feel_free instead,?_i can_i_help
    """,
    apology=r"""
        i(?:'m|_am)_(?:very_|really_|so_)?sorry sorry,? i_apologi[sz]e apologies unfortunately
        my_apologies
    """,
    moral=r"""
        illegal unlawful harm(?:ful)? unethical immoral inappropriate offensive dangerous violen explicit
        sexual discriminat hate(?:ful)? abus derogatory disrespectful non-?consensual legal_consequences
        ethical stereotyp privacy
    """,
)

GERMAN: Final = lexicon(
    "de",
    unable=r"""
        kann_ich_(?:\w+_){0,6}nicht ich_kann_(?:\w+_){0,8}(?:nicht|keine?[nrms]?)
        ich_(?:darf|werde|möchte|könnte)_(?:\w+_){0,6}(?:nicht|keine?[nrms]?)
        (?:darf|werde|möchte)_ich_(?:\w+_){0,6}(?:nicht|keine?[nrms]?)
        bin_(?:ich_)?(?:\w+_){0,3}nicht_in_der_lage nicht_möglich muss_(?:ich_)?(?:\w+_){0,3}ablehnen
        lehne_ich ich_lehne kann_ich_(?:\w+_){0,4}keine?[nrms]?
    """,
    serve=r"""
        helfen weiterhelfen behilflich unterstützen beantworten nachkommen erfüllen entsprechen fortsetzen
        fortführen weiterführen eingehen mitmachen ablehnen
    """,
    provide=r"""
        bereitstellen geben schreiben erstellen generieren verfassen liefern anbieten diskutieren
        beschreiben erzeugen darstellen besprechen
    """,
    this=r"dabei damit das\b dies(?:er|e|em|es|en)?\b hierbei hiermit",
    request=r"anfragen? bitte_nicht anliegen frage\b fragen\b aufforderung wunsch prompt",
    thing=r"""
        inhalte?n? rollenspiele?s? szenarios?
        dies(?:e|er|es)_(?:szene|rolle|geschichte|gespräch|unterhaltung|thema)
        solche[nr]?_(?:szenen?|geschichten?|inhalte|themen) texte?_(?:mit|die|der|dieser) material
    """,
    info=r"informationen auskünfte ratschläge anleitung(?:en)? inhalte?n? details antwort",
    ai=r"""
        als_(?:eine?_)?(?:ki|ai|sprachmodell|künstliche_intelligenz|assistent)
        ich_bin_(?:nur_)?(?:eine?_)?(?:ki|sprachmodell|künstliche_intelligenz)\b
        ki-(?:assistent|modell|system) sprachmodell
    """,
    policy=r"""
        richtlinien? nutzungsbedingungen vorgaben sicherheitsgründen
        ethische[nr]?_(?:grundsätze|gründen|richtlinien)
    """,
    offer=r"""
        gerne?_(?:helfe|kann|unterstütze|schreibe)_ich wenn_(?:du|sie)_(?:möchte|will|woll|frage|hab)
        kann_ich_(?:ihnen|dir)_(?:sonst|anders|bei_etwas) stattdessen
        ich_kann_(?:ihnen|dir)_(?:aber|gerne?|stattdessen) andere[nrs]?_(?:frage|thema)
    """,
    apology=r"(?:es_)?tut_mir_(?:sehr_|wirklich_)?leid leider entschuldig(?:ung|en) ich_bedau[er]re?e?",
    moral=r"""
        illegal rechtswidrig schädlich unethisch unangemessen anstößig gefährlich gewalt sexuell explizit
        strafbar diskriminier missbrauch
    """,
)

DUTCH: Final = lexicon(
    "nl",
    unable=r"""
        ik_kan_(?:\w+_){0,6}(?:niet|geen) (?:kan|mag|zal|wil)_ik_(?:\w+_){0,6}(?:niet|geen)
        ik_(?:mag|zal|wil)_(?:\w+_){0,5}(?:niet|geen) niet_in_staat niet_mogelijk
        moet_(?:ik_)?(?:\w+_){0,2}weigeren
    """,
    serve=r"""
        helpen assisteren beantwoorden voldoen ondersteunen voortzetten verdergaan meewerken reageren
        ingaan
    """,
    provide=r"""
        geven bieden schrijven maken genereren verstrekken leveren bespreken beschrijven creëren opstellen
    """,
    this=r"dat\b dit\b daar(?:bij|mee|aan)? hier(?:bij|mee|aan)? deze\b",
    request=r"verzoek(?:en)? vraag\b vragen\b opdracht prompt",
    thing=r"""
        inhoud content rollenspel(?:len)? scenario's?
        (?:deze|dit|dergelijke|zulke)_(?:scènes?|rol|verhaal|verhalen|gesprek|onderwerp|materiaal)
    """,
    info=r"informatie advies instructies details inhoud antwoord",
    ai=r"""
        als_(?:een_)?(?:ai|taalmodel|kunstmatige_intelligentie)
        ik_ben_(?:maar_|slechts_)?een_(?:ai|taalmodel) ai-(?:assistent|model) taalmodel
    """,
    policy=r"""
        richtlijn(?:en)? beleid gebruiksvoorwaarden veiligheidsredenen ethische_(?:normen|richtlijnen)
    """,
    offer=r"""
        ik_(?:kan|help)_(?:je|u)_(?:wel|graag) als_(?:je|u)_(?:wilt|andere|nog) waarmee_kan_ik
        in_plaats_daarvan
    """,
    apology=r"het_spijt_me sorry helaas mijn_excuses excuses",
    moral=r"""
        illegaal schadelijk onethisch ongepast aanstootgevend gevaarlijk geweld seksueel expliciet
        strafbaar discriminer
    """,
)
