"""How well do the judges judge a labelled collection?

Each line of a collection says what must become of its text. The report counts by contract, by what was to be
found, and by locale; it holds counts alone, however long the collection is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from routecanary.domain.interval import exact_interval
from routecanary.domain.names import FILTERING, INTEGRITY, LANGUAGE, ContractName, Locale
from routecanary.domain.verdict import Verdict, VerdictKind
from routecanary.errors import CaseError
from routecanary.replay.texts import TextRow, judge_text

ONE_SIDED: Final = 0.95
"""The confidence of a bound."""

HEALTHY: Final = "healthy"
"""What a text is that no contract may fail."""

ALL: Final = "all"
"""The locale of a line that sums up."""

# A collection's own words → the contract that they are about, and what it must find.
_EXPECTED: Final[dict[tuple[str, str], tuple[ContractName, str | None]]] = {
    ("expect", "PASS"): (LANGUAGE, HEALTHY),
    ("expect", "PASS-OR-INCONCLUSIVE"): (LANGUAGE, HEALTHY),
    ("expect", "FAIL-MIX"): (LANGUAGE, "language_mixing"),
    ("expect", "FAIL-SWITCH"): (LANGUAGE, "wrong_language"),
    ("expect", "FAIL-ENCODING"): (LANGUAGE, "encoding"),
    ("expect", "EITHER"): (LANGUAGE, None),
    ("label", "refusal"): (FILTERING, "refusal"),
    ("label", "comply"): (FILTERING, HEALTHY),
    ("label", "in_character"): (FILTERING, HEALTHY),
    ("label", "partial"): (FILTERING, None),
}

_PLAIN: Final = "comply"  # what models said: it refuses nothing, and some of it runs in loops

# Words that a collection uses for one fault where the judges have several.
_DAMAGE: Final = frozenset({"encoding", "replacement_char", "surrogate", "byte_fallback"})


@dataclass(slots=True)
class Tally:
    """What became of the texts of one group."""

    n: int = 0
    failed: int = 0
    inconclusive: int = 0
    seconds: float = 0.0  # CPU, reading included

    def add(self, verdict: Verdict, seconds: float) -> None:
        self.n += 1
        self.failed += verdict.kind is VerdictKind.FAIL
        self.inconclusive += verdict.kind is VerdictKind.INCONCLUSIVE
        self.seconds += seconds

    def merge(self, other: Tally) -> None:
        self.n += other.n
        self.failed += other.failed
        self.inconclusive += other.inconclusive
        self.seconds += other.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a report: shares with their exact one-sided bound at 95 %."""

    contract: ContractName
    what: str  # `healthy`, or the kind of the fault that was to be found
    locale: str  # or `all`
    n: int
    failed: int
    inconclusive: int
    bound: float  # healthy: the share of false fails is at most this; a fault: that of finds at least
    us: float  # CPU a text, in microseconds

    def document(self) -> dict[str, Any]:
        """Write it for programs: `recall` of a fault, `false_fails` of what is healthy."""
        share = self.failed / self.n
        found = {"false_fails": self.failed, "false_share_below": self.bound}
        if self.what != HEALTHY:
            found = {"recall": share, "recall_above": self.bound}
        return {
            "contract": self.contract,
            "what": self.what,
            "locale": self.locale,
            "n": self.n,
            **found,
            "inconclusive": self.inconclusive / self.n,
            "us_per_text": round(self.us, 1),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A text of which the verdict is wrong: a fault that was not failed, or a healthy text that was."""

    id: str | int
    contract: ContractName
    what: str
    locale: Locale | None
    verdict: Verdict


@dataclass(slots=True)
class Report:
    """The counts of a collection, and how to add to them."""

    cpu: Callable[[], float]  # seconds of CPU spent so far, such as `time.process_time`
    groups: dict[tuple[ContractName, str, str], Tally] = field(default_factory=dict)
    ways: dict[tuple[ContractName, str, str], Tally] = field(
        default_factory=dict
    )  # of a fault, by how it was made
    uncounted: int = 0  # texts of which any verdict will do

    def add(self, row: TextRow, place: str) -> Iterator[Miss]:
        """Judge one text by every contract that has something to say of it.

        Yields:
            The wrong verdicts.
        Raises:
            CaseError: The line does not say what must become of its text.
        """
        contract, what = _expected(row, place)
        if what is None:
            self.uncounted += 1
            return
        asked = (
            [contract, INTEGRITY] if what == HEALTHY and row.document.get("label") != _PLAIN else [contract]
        )
        for name in asked:
            began = self.cpu()
            verdict = _judged(row, name, what)
            spent = self.cpu() - began
            self.groups.setdefault((name, what, _place(row)), Tally()).add(verdict, spent)
            way = row.document.get("how") or row.document.get("type")
            if what != HEALTHY and isinstance(way, str):
                self.ways.setdefault((name, f"{what} by {way}", ALL), Tally()).add(verdict, spent)
            if (verdict.kind is VerdictKind.FAIL) is (what == HEALTHY):
                yield Miss(id=row.id, contract=name, what=what, locale=row.locale, verdict=verdict)

    def lines(self) -> tuple[Line, ...]:
        """Sum up: healthy texts first, then the faults; of each the locales, all, and how it was made."""
        sums: dict[tuple[ContractName, str], Tally] = {}
        for (contract, what, _), tally in self.groups.items():
            sums.setdefault((contract, what), Tally()).merge(tally)
        order = sorted(sums, key=lambda group: (group[0], group[1] != HEALTHY, group[1]))
        return tuple(
            line
            for contract, what in order
            for line in (
                *(
                    _line(contract, what, locale, tally)
                    for (name, kind, locale), tally in sorted(self.groups.items())
                    if (name, kind) == (contract, what)
                ),
                _line(contract, what, ALL, sums[contract, what]),
                *(
                    _line(contract, way, locale, tally)
                    for (name, way, locale), tally in sorted(self.ways.items())
                    if name == contract and way.startswith(f"{what} by ")
                ),
            )
        )

    @property
    def false_fails(self) -> int:
        """Count the healthy texts that were failed."""
        return sum(tally.failed for (_, what, _), tally in self.groups.items() if what == HEALTHY)


def _judged(row: TextRow, contract: ContractName, what: str) -> Verdict:
    """Judge a text; broken encoding may be seen by either contract that looks for damage."""
    verdict = judge_text(row.text, contract, row.locale)
    if what in _DAMAGE and (verdict is None or verdict.kind is not VerdictKind.FAIL):
        other = judge_text(row.text, INTEGRITY, row.locale)
        verdict = other if other is not None and other.kind is VerdictKind.FAIL else verdict
    if verdict is None:
        return Verdict(contract=contract, kind=VerdictKind.SKIPPED, code=None, detail="", version=0)
    return verdict


def _place(row: TextRow) -> str:
    """Name where a text belongs: its locale, and of a mix the language that was mixed in, `pt-BR+es`."""
    locale, other = row.locale or "-", row.document.get("other")
    return f"{locale}+{other}" if isinstance(other, str) else locale


def _expected(row: TextRow, place: str) -> tuple[ContractName, str | None]:
    for key in ("expect", "label"):
        word = row.document.get(key)
        if word is None:
            continue
        found = _EXPECTED.get((key, word)) if isinstance(word, str) else None
        if found is None:
            known = ", ".join(each for name, each in _EXPECTED if name == key)
            raise CaseError("unknown word", place=place, key=key, value=word, allowed=known)
        return found
    raise CaseError("says not what must become of it", place=place, allowed="a key `expect` or `label`")


def _line(contract: ContractName, what: str, locale: str, tally: Tally) -> Line:
    both_sides = 1 - 2 * (1 - ONE_SIDED)  # one side of which is what is asked for
    interval = exact_interval(tally.failed, tally.n, both_sides)
    return Line(
        contract=contract,
        what=what,
        locale=locale,
        n=tally.n,
        failed=tally.failed,
        inconclusive=tally.inconclusive,
        bound=interval.high if what == HEALTHY else interval.low,
        us=1e6 * tally.seconds / tally.n,
    )


def table_of(lines: Iterable[Line]) -> Iterator[tuple[str, ...]]:
    """Write lines for people, the heads first."""
    yield ("contract", "texts", "locale", "n", "failed", "share", "bound", "inconclusive", "µs a text")
    for line in lines:
        sign = "<" if line.what == HEALTHY else ">"
        yield (
            line.contract,
            line.what,
            line.locale,
            str(line.n),
            str(line.failed),
            f"{line.failed / line.n:.2%}",
            f"{sign} {line.bound:.2%}",
            f"{line.inconclusive / line.n:.2%}",
            f"{line.us:.0f}",
        )
