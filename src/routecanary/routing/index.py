"""Which routes does a name in `only` or `ignore` name?

A caller may write a tag (`deepinfra/fp4`), a bare slug (`deepinfra`) or a display name (`DeepInfra`). Where
the gateway's rule leaves doubt, a name in `ignore` is taken to name as much as it could and a name in `only`
as little as it must, so that in doubt a caller is thought to have too little left, never too much.

An application imports this module on its request path: standard library only, no dataclasses, no typing.

Source: openrouter-wire.md §1.4 (base-slug matching; tiers are not named by a bare slug).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class KnownRoute:
    """One route that the last round named; `swallows` are tags, `providers` display names."""

    __slots__ = ("providers", "spelled", "swallows", "tag", "tier")

    def __init__(
        self, tag: str, *, swallows: Iterable[str] = (), tier: bool = False, providers: Iterable[str] = ()
    ) -> None:
        self.tag = tag.lower()
        self.swallows = frozenset(name.lower() for name in swallows)
        self.tier = tier
        self.providers = frozenset(name.lower() for name in providers)
        # as the gateway spells it, where that is known: one may heed the case
        self.spelled = next((name for name in sorted(providers) if name.lower() == self.tag), self.tag)


class Group:
    """The ordinary routes below one base slug. A caller that names any of `names` names all of them."""

    __slots__ = ("names", "routes")

    def __init__(self, names: frozenset[str], routes: tuple[str, ...]) -> None:
        self.names = names
        self.routes = routes


class RouteIndex:
    """The routes of one model, found by every name that they answer to; immutable.

    All names are in lower case. Building it costs time in proportion to the routes, asking it does not.
    """

    __slots__ = (
        "_admitted",
        "_named",
        "_served",
        "group_of",
        "groups",
        "names_of",
        "reach",
        "spelled",
        "tags",
        "tiers",
    )

    def __init__(
        self, routes: Iterable[KnownRoute], swallows: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        """Index the routes.

        Args:
            routes: Each tag once.
            swallows: What names that are no routes (a provider in the built-in layer) were stated to name.
        """
        listed = {route.tag: route for route in sorted(routes, key=lambda route: route.tag)}
        stated = {name.lower(): frozenset(map(str.lower, tags)) for name, tags in (swallows or {}).items()}
        stated.update((route.tag, route.swallows) for route in listed.values())

        named: dict[str, set[str]] = {tag: {tag} for tag in listed}
        admitted: dict[str, set[str]] = {tag: {tag} for tag in listed}
        for tag, route in listed.items():
            if not route.tier:
                for name in [*slugs_above(tag), *route.providers]:
                    named.setdefault(name, set()).add(tag)
                    if name not in listed and name not in stated:
                        admitted.setdefault(name, set()).add(tag)
        served: dict[str, list[str]] = {}
        for tag, route in listed.items():
            for name in {tag, *slugs_above(tag), *route.providers}:
                served.setdefault(name, []).append(tag)
        for name, tags in stated.items():
            known = tags & listed.keys()
            named.setdefault(name, set()).update(known)
            admitted.setdefault(name, set()).update(known)

        names_of: dict[str, set[str]] = {tag: set() for tag in listed}
        for name, members in named.items():
            for tag in members:
                names_of[tag].add(name)

        self.tags = frozenset(listed)
        self.spelled = {tag: route.spelled for tag, route in listed.items() if route.spelled != tag}
        self.tiers = frozenset(tag for tag, route in listed.items() if route.tier)
        self.names_of = {tag: frozenset(names) for tag, names in names_of.items()}
        self._named = {name: tuple(sorted(members)) for name, members in named.items()}
        self._admitted = {name: tuple(sorted(members)) for name, members in admitted.items()}
        self._served = {name: tuple(tags) for name, tags in served.items()}

        below: dict[str, list[str]] = {}
        for tag, route in listed.items():
            if not route.tier:  # a tier serves only those who ask for it
                below.setdefault(tag.split("/", 1)[0], []).append(tag)
        self.groups = {base: Group(self._shared(tags), tuple(tags)) for base, tags in below.items()}
        self.group_of = {tag: base for base, tags in below.items() for tag in tags}
        self.reach = max(map(self._groups_named, named), default=0) or 1  # groups that one name can take from

    def named(self, name: str) -> tuple[str, ...]:
        """List the routes that this name in `ignore` may take away, sorted."""
        return self._named.get(name, ())

    def admitted(self, name: str) -> tuple[str, ...]:
        """List the routes that this name in `only` surely admits, sorted."""
        return self._admitted.get(name, ())

    def served(self, name: str) -> tuple[str, ...]:
        """List the routes that an answer of this provider may stem from, sorted; tiers too."""
        return self._served.get(name, ())

    def _groups_named(self, name: str) -> int:
        return len({self.group_of[tag] for tag in self._named[name] if tag in self.group_of})

    def _shared(self, tags: list[str]) -> frozenset[str]:
        return frozenset.intersection(*(self.names_of[tag] for tag in tags))


def slugs_above(tag: str) -> list[str]:
    """List the proper prefixes of a tag that end before a slash: `a/b/c` has `a` and `a/b`."""
    parts = tag.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
