"""How are the words of two neighbours told apart by their shape alone?

Endings and letter groups that one language of a pair has and the other has not: Spanish words end in `n`
where Portuguese ones end in `m`; Italian words end in vowels where Spanish plurals end in `s`. They speak
for words that stand in no table, and for their own pair only.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Contrast(NamedTuple):
    """Shapes of two languages; each is looked for in a folded word."""

    first: re.Pattern[str]
    second: re.Pattern[str]


_ENGLISH: Final = r"[wk]|th|sh|gh|ck|ing$|[a-z]ed$|[^aeiou]y$"
_VIETNAMESE_NEVER: Final = (
    r"^[a-z]{7,}$|[bdfjklrsvwxz]$|[bcdfgklprstv]{2}(?!$)[^h]|^(?:s[a-z]|[bcdfgp][lr]|w|j|z|f)"
)

PAIRS: Final = {
    ("pt", "es"): (
        r"m$|[ãõç]|lh|nh|ou$|ei[rjx]|eio$|eia$|ões$|ães$|ss|ê|ô|â|à|vr|ç|xe",
        (
            r"[aeiouáéíóú]n$|ñ|ll|(?<![gq])u[eé][bcdglmnprstvz]|ie[bcdglmprstvz]|j[aouáóú]|[^aeiou][óí]$"
            r"|dad$|ción$|aje$|[aeo]y$|^h[aeiou][bcl]|ía|[aeiou]z$|chos?$|cha$"
        ),
    ),
    ("pt", "it"): (
        r"[mrs]$|[ãõç]|lh|nh|ou$|ei[rjx]|ões$|ê|ô|â",
        r"([bcdfglmpstvz])\1|gli|zz|ch[ei]|cc|tt|[^aeiou]ò$|ità$|zion",
    ),
    ("es", "it"): (
        r"[sndrlz]$|ñ|ll|(?<![gq])ue[bcdglmnprstvz]|ción|j[aeou]|[aeo]y$",
        r"([bcdfgmpstvz])\1|gli|zz|ch[ei]|[^aeiou]ò$|ità$|zion|^s[bcdfglmnpqtv]",
    ),
    ("fr", "es"): (
        r"[êèàçœâîô]|eux$|eau|ai|oi|ou|ez$|nt$|[^d]e$|es$|[tx]$|é[es]?$|qu'",
        r"[oaó]s?$|ñ|ll|ción|dad$|[aeio]n$|[aei]r$",
    ),
    ("fr", "it"): (
        r"[êçœâîô]|eux$|eau|oi|ez$|nt$|es$|[txs]$|é[es]?$",
        r"[oai]$|gli|zz|zion|ità$|[^aeiou]ò$",
    ),
    ("de", "nl"): (
        r"[äöüß]|tz|pf|ei|ung$|ungen$|keit$|isch|lich|eu|[^s]ch$|z[aeiuo]|^ge.*t$|ss",
        r"ij|aa|oo|uu|uw|oe|ou|heid|lijk|tie$|ieve?$|^v[aeo]|[bcdfgklmnprstv]en$(?<!chen)|je$|ui",
    ),
    ("ru", "uk"): (
        r"[ыэёъ]|ть$|ние$|ния$|ого$|[аеиоуыюя]л$|[аеиоуыюя]ла?сь$|ый$|ая$|ое$|ск|чт|ии$|ие$",
        r"[іїєґ']|ти$|ння$|ття$|[аеиоуюя]в$|ськ|цьк|ий$|[аеиоую]вся$|ою$|щ[оеа]|уват",
    ),
    ("pl", "cs"): (r"[ąęłńśźż]|sz|cz|rz|w", r"[ěřůčšž]|[áíý]|v"),
    ("fr", "en"): (r"[éèêàçœâîôû]|eux$|eau|oi[rst]|qu|aient$|ait$|ez$", _ENGLISH),
    ("es", "en"): (r"[áéíóúñ]|ción$|[aeo]s$|[aeiou]$|ando$|iendo$", _ENGLISH),
    ("pt", "en"): (r"[áéíóúãõçâêô]|ção$|[ao]s$|[aou]$|lh|nh|ando$", _ENGLISH),
    ("it", "en"): (
        r"[àèéìòù]|[aeio]$|zz|gli|zion",
        r"[wkjy]|th|sh|gh(?![ei])|ck|ing$|[a-z]ed$|[bcdfgkmpstv]s?$",
    ),
    ("nl", "en"): (
        r"ij|aa|uu|oe[^s]|heid|lijk|[^aeiou]en$|^ge[a-z]{4,}|sch[aeo]|z",
        r"th|sh|ght|[^aeiou]y$|ing$|[a-z]{2}ed$|tion|ould",
    ),
    ("de", "en"): (
        r"[äöüß]|sch|tz|pf|ung$|lich|keit|[^aeiou]en$|ei",
        r"th|[aeo]w|wh|[^aeiou]y$|ing$|[a-z]{2}ed$|ould|ough",
    ),
    ("pl", "en"): (
        r"[ąćęłńóśźż]|sz|cz|rz|dz|[aeiouy]ł|ow|nie$",
        r"th|sh|gh|ck|ing$|[a-z]ed$|[aeiou]{2}|ly$|[vxq]",
    ),
    ("id", "en"): (
        r"nya$|kan$|^(?:ber|me[mn]|di|ter|pe[nm])|ng[a-z]|ah$|an$",
        r"th|sh|gh|ck|ing$|[a-z]ed$|[^aeiou]y$|[vxq]|[^aeiou]e$",
    ),
    ("tl", "en"): (
        r"ng$|^(?:nag|mag|pag|ka|na)[a-z]{3}|an$|in$|[aiou]$",
        r"th|sh|gh|ck|[a-z]ed$|[^aeiou]y$|[fvxqzcj]|[^aeiou]e$",
    ),
    ("tr", "en"): (
        r"[çğışöü]|l[ae]r|yor|[dm][iıuü]$",
        r"th|sh|gh|ck|ing$|[a-z]ed$|[^aeiou]y$|[wxq]|[^aeiou]e$",
    ),
    ("tr", "de"): (r"[çğış]|l[ae]r|yor", r"[äß]|sch|ch|ei|tz|[wxq]|[^aeiou]en$|ung"),
    ("vi", "en"): (r"[^\x00-\x7f]", _VIETNAMESE_NEVER),
    ("vi", "fr"): (r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", _VIETNAMESE_NEVER),
    ("tl", "es"): (
        r"ng$|^(?:nag|mag|pag|ka|na)[a-z]{3}|mga",
        r"[aeo]s$|ción|[fvjzc]|[aei]r$|ado$|ida$",
    ),
}
_COMPILED: Final = {
    pair: Contrast(re.compile(first), re.compile(second)) for pair, (first, second) in PAIRS.items()
}


def contrast_of(expected: str, other: str) -> Contrast | None:
    """Look up how a pair is told apart, the expected language first; None where nothing is known."""
    found = _COMPILED.get((expected, other))
    if found is not None:
        return found
    turned = _COMPILED.get((other, expected))
    return None if turned is None else Contrast(turned.second, turned.first)
