"""The lab's account without sockets: what a guardrail's keeper asks, and what may happen in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from routecanary.adapters.gateway.management_documents import guardrail_from_json
from routecanary.domain.guardrail import CanaryKey, Coverage, Guardrail
from routecanary.errors import GatewayError
from routecanary.lab.guardrails import Guardrails, LabGuardrail
from routecanary.lab.keyring import Keyring, LabKey, default_guardrail_id, guardrail_id, workspace_id
from routecanary.lab.refusal import RefusedError
from tests.story import START

CANARY = LabKey(key="canary", name="canary", workspace="watch", creator="user_watch")
PRODUCTION = LabKey(key="production", name="production")
SHIELD = guardrail_id("shield")


class AccountAtHand:
    """A `GuardrailApi` over the lab's own guardrails.

    `before` and `after` are told of each call by its name, and may do anything, raise included.
    """

    def __init__(self, *ignored: str) -> None:
        self.guardrails = Guardrails(Keyring((CANARY, PRODUCTION)), lambda: START)
        shield = LabGuardrail(name="shield", ignored_providers=ignored, keys=("production",))
        self.guardrails.begin((shield,))
        self.before: Callable[[str], None] = lambda _: None
        self.after: Callable[[str], None] = lambda _: None
        self.writes: list[tuple[str, ...]] = []

    @property
    def ignored(self) -> list[str]:
        """The list as it stands now."""
        return list(self.guardrails.get(SHIELD).fields.get("ignored_providers") or [])

    @ignored.setter
    def ignored(self, names: Sequence[str]) -> None:
        self.guardrails.update(SHIELD, {"ignored_providers": list(names)})

    async def guardrail(self, guardrail: str) -> Guardrail:
        self.before("guardrail")
        try:
            document = {"data": self.guardrails.get(guardrail).to_json()}
        except RefusedError as error:
            raise GatewayError(str(error)) from None
        return guardrail_from_json(document, "at hand", asked=guardrail)

    async def canary(self) -> CanaryKey:
        self.before("canary")
        return CanaryKey(
            hashes=frozenset({CANARY.hash}), creator=CANARY.creator, workspace=workspace_id(CANARY.workspace)
        )

    async def coverage(self, guardrail: Guardrail, canary: CanaryKey) -> Coverage:
        self.before("coverage")
        assigned = self.guardrails
        is_default = guardrail.id == default_guardrail_id(CANARY.workspace)
        return Coverage(
            keys=frozenset(to for to, each in assigned.of_key.items() if each.guardrail == guardrail.id),
            members=frozenset(
                to for to, each in assigned.of_member.items() if each.guardrail == guardrail.id
            ),
            workspaces=frozenset({canary.workspace} if is_default else ()),
        )

    async def replace_ignored(self, guardrail: str, ignored: Sequence[str]) -> None:
        self.before("write")
        self.guardrails.update(guardrail, {"ignored_providers": list(ignored)})
        self.writes.append(tuple(ignored))
        self.after("write")
