"""What is a study: who is asked what, how often, and what came back?

A study asks one question of several routes many times over, pinned, and counts. It is kept in the log when it
begins, with everything that is needed to go on with it or to tell of it later; so is every answer. Nothing of
it is evidence in the decision on a route.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from routecanary.domain.names import ContractName, Locale, ModelId, RouteId
from routecanary.domain.probe import ProbeKind, Scene
from routecanary.domain.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One wording that is asked."""

    kind: ProbeKind
    scene: Scene
    version: int  # of the text that it is from
    max_tokens: int  # room for the answer
    locale: Locale | None = None  # None: any language will do, and none is judged
    places: tuple[str, ...] = ()  # from which the scene's placeholders are filled; none: asked word for word
    dates: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    schema: str | None = None  # JSON text: the keys keep their order
    messages: str | None = None  # JSON text: sent in place of the scene's prompt, which then repeats them

    @property
    def varies(self) -> bool:
        """Say whether every asking begins otherwise."""
        return bool(self.places or self.dates or self.people)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRoute:
    """One route of a study, as the listing described it when it began."""

    route: RouteId
    n: int  # askings
    quantizations: frozenset[str] = frozenset()  # its precision class; empty = undeclared
    official: bool = False  # the model's own vendor serves it
    suspect: bool = False  # the one that the study is about

    @property
    def precision(self) -> str | None:
        """Name the precision class; None where none is declared."""
        return "+".join(sorted(self.quantizations)) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as it was planned."""

    id: str
    at: datetime  # UTC
    model: ModelId
    questions: tuple[Question, ...]
    turns: tuple[int, ...]  # which question is asked at a route's first, second … asking
    routes: tuple[StudyRoute, ...]  # sorted by tag
    contracts: frozenset[ContractName]  # that judge
    seed: int  # of the order in which the routes are asked
    unable: tuple[RouteId, ...] = ()  # that were to be asked, and have no way to ask them this
    incident: int | None = None  # that it reproduces

    @property
    def planned(self) -> int:
        """Count the askings."""
        return sum(each.n for each in self.routes)

    def question(self, turn: int) -> Question:
        """Look up what is asked at a turn."""
        return self.questions[self.turns[turn]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAnswer:
    """What one asking came to."""

    study: str
    at: datetime  # UTC
    model: ModelId
    route: RouteId
    turn: int  # 0-based, of the route
    transcript: str  # its id in the store
    usd: Decimal
    verdicts: Mapping[ContractName, Verdict]
    first_text_ms: int | None = None  # None: none came, or our own lateness or another host forbids to say
    unseen_ms: int | None = None  # no text came for so long, and nobody knows how long it would have taken
