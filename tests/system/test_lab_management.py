"""The lab's account calls, asked by the official SDK, and what they do to the traffic of each key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import openrouter
import pytest
from openrouter import components, errors

from routecanary.lab.gateway import LabGateway
from routecanary.lab.guardrails import LabGuardrail
from routecanary.lab.keyring import LabKey, default_guardrail_id, guardrail_id, workspace_id
from routecanary.lab.scenario import Scenario
from tests.lab import a_body, a_route, a_scenario

CANARY = LabKey(key="lab-key", name="canary", workspace="watch", creator="user_watch")
PRODUCTION = LabKey(key="sk-or-v1-production", name="production")
MANAGEMENT = LabKey(key="sk-or-v1-management", name="management", management=True)
SHIELD = guardrail_id("shield")
ROUTES = (a_route("acme"), a_route("north-host/fp4"), a_route("north-host/fp8"))


def a_world(*guardrails: LabGuardrail, **more: Any) -> Scenario:
    return a_scenario(*ROUTES, keys=(CANARY, PRODUCTION, MANAGEMENT), guardrails=guardrails, **more)


# A library that the SDK reads JSON paths by looks at names of `ast` that 3.12 and 3.13 warn of.
pytestmark = pytest.mark.filterwarnings(r"ignore:ast\.\w+ is deprecated:DeprecationWarning")


class Account:
    """The lab as the SDK sees it with one key, and as plain requests see it with any."""

    def __init__(
        self, lab: LabGateway, session: aiohttp.ClientSession, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.lab = lab
        self._session = session
        self._loop = loop
        self.refusal: dict[str, Any] = {}

    def sdk(self, key: LabKey = MANAGEMENT) -> openrouter.OpenRouter:
        return openrouter.OpenRouter(api_key=key.key, server_url=self.lab.base_url, retry_config=None)

    def served(self, key: LabKey, requests: int = 40, **provider: Any) -> set[str]:
        """Send production's requests and tell which routes served them; 404 as the step that failed."""
        coming = asyncio.run_coroutine_threadsafe(self._served(key, requests, provider), self._loop)
        return coming.result(60)

    async def _served(self, key: LabKey, requests: int, provider: dict[str, Any]) -> set[str]:
        before = len(self.lab.ledger)
        seen: set[str] = set()
        body = a_body(provider=provider)
        headers = {"Authorization": f"Bearer {key.key}"}
        for _ in range(requests):
            address = f"{self.lab.base_url}/chat/completions"
            async with self._session.post(address, json=body, headers=headers) as response:
                if response.status != 200:
                    self.refusal = (await response.json())["error"]
                    step = self.refusal.get("metadata", {}).get("failed_routing_step")
                    seen.add(f"{response.status} {step}")
                await response.read()
        return seen | {served.route for served in list(self.lab.ledger)[before:]}


def with_sdk(scenario: Scenario, story: Callable[[Account], None]) -> None:
    """Run a story in a thread, since the SDK's calls block, beside the lab's loop."""

    async def run() -> None:
        async with (
            LabGateway(scenario, seed=1, time_scale=2_000.0) as lab,
            aiohttp.ClientSession() as session,
        ):
            account = Account(lab, session, asyncio.get_running_loop())
            await asyncio.to_thread(story, account)

    asyncio.run(run())


def test_a_guardrail_is_made_changed_listed_and_deleted() -> None:
    """Every call of the SDK on guardrails reads what the lab answers by its own strict schema."""

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            made = sdk.guardrails.create(name="ours", ignored_providers=["acme"]).data
            assert made.ignored_providers == ["acme"]
            assert made.allowed_providers is None
            assert made.workspace_id == workspace_id("default")
            assert made.updated_at is None
            changed = sdk.guardrails.update(id=made.id, ignored_providers=["acme", "plover"]).data
            assert changed.ignored_providers == ["acme", "plover"]
            assert changed.name == "ours"
            assert changed.updated_at is not None
            assert sdk.guardrails.get(id=made.id).data == changed
            listed = sdk.guardrails.list()
            assert listed is not None
            assert [each.id for each in listed.result.data] == [made.id]
            assert listed.result.total_count == 1
            sdk.guardrails.delete(id=made.id)
            with pytest.raises(errors.NotFoundResponseError):
                sdk.guardrails.get(id=made.id)

    with_sdk(a_world(), story)


def test_assignments_come_and_go() -> None:
    """A key and a member hold one guardrail each; every listing shows who is covered."""

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            other = sdk.guardrails.create(name="other").data.id
            count = sdk.guardrails.bulk_assign_keys(id=SHIELD, key_hashes=[PRODUCTION.hash, "0" * 64])
            assert count.assigned_count == 1
            (row,) = sdk.guardrails.list_guardrail_key_assignments(id=SHIELD).result.data
            assert (row.key_hash, row.key_name, row.guardrail_id) == (PRODUCTION.hash, "production", SHIELD)
            sdk.guardrails.bulk_assign_keys(id=other, key_hashes=[PRODUCTION.hash])
            assert sdk.guardrails.list_guardrail_key_assignments(id=SHIELD).result.data == []
            sdk.guardrails.bulk_assign_members(id=SHIELD, member_user_ids=["user_watch"])
            (member,) = sdk.guardrails.list_guardrail_member_assignments(id=SHIELD).result.data
            assert member.user_id == "user_watch"
            assert sdk.guardrails.list_key_assignments().result.total_count == 1
            assert sdk.guardrails.list_member_assignments().result.total_count == 1
            gone = sdk.guardrails.bulk_unassign_keys(id=other, key_hashes=[PRODUCTION.hash])
            assert gone.unassigned_count == 1
            gone = sdk.guardrails.bulk_unassign_members(id=SHIELD, member_user_ids=["user_watch"])
            assert gone.unassigned_count == 1
            assert sdk.guardrails.list_key_assignments().result.data == []

    with_sdk(a_world(LabGuardrail(name="shield")), story)


@pytest.mark.filterwarnings("ignore:warning. \\*\\* DEPRECATED:DeprecationWarning")  # the SDK's own fields
def test_keys_and_workspaces_describe_who_a_key_is() -> None:
    """A key is not told its own hash; its label, member and workspace are told in both places."""

    def story(account: Account) -> None:
        with account.sdk(CANARY) as sdk:
            own = sdk.api_keys.get_current_key_metadata().data
        assert not hasattr(own, "hash")
        assert (own.workspace_id, own.creator_user_id) == (workspace_id("watch"), "user_watch")
        with account.sdk() as sdk:
            (listed,) = sdk.api_keys.list(workspace_id=own.workspace_id).data
            assert (listed.hash, listed.label) == (CANARY.hash, own.label)
            assert listed.creator_user_id == own.creator_user_id
            assert sdk.api_keys.get(hash=CANARY.hash).data.workspace_id == own.workspace_id
            assert {key.name for key in sdk.api_keys.list().data} == {"production", "management"}
            workspace = sdk.workspaces.get(id=own.workspace_id).data
            assert workspace.default_guardrail_id == default_guardrail_id("watch")
            assert {each.slug for each in sdk.workspaces.list().result.data} == {"default", "watch"}

    with_sdk(a_world(), story)


def test_a_long_list_comes_in_pages() -> None:
    """Offset and limit walk through all of it, and the SDK's own paging ends."""

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            for number in range(7):
                sdk.guardrails.create(name=f"g{number}")
            page, names = sdk.guardrails.list(limit=3), []
            while page is not None:
                names += [each.name for each in page.result.data]
                page = page.next()
            assert names == [f"g{number}" for number in range(7)]
            with pytest.raises(errors.BadRequestResponseError):
                sdk.guardrails.list(limit=101)

    with_sdk(a_world(), story)


@pytest.mark.parametrize(
    "fields",
    [{"limit_usd": 5.0}, {"name": ""}, {"allowed_data_regions": []}, {"reset_interval": "daily"}],
    ids=str,
)
def test_a_malformed_change_is_refused_and_changes_nothing(fields: dict[str, Any]) -> None:
    """With 400, and the guardrail stays as it was."""

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            before = sdk.guardrails.get(id=SHIELD).data
            with pytest.raises(errors.BadRequestResponseError):
                sdk.guardrails.update(id=SHIELD, **fields)
            assert sdk.guardrails.get(id=SHIELD).data == before

    with_sdk(a_world(LabGuardrail(name="shield")), story)


def test_only_a_management_key_manages_and_it_asks_no_model() -> None:
    """403 for an inference key, 401 for an unknown one; and 403 for a management key's question."""

    def story(account: Account) -> None:
        with account.sdk(PRODUCTION) as sdk, pytest.raises(errors.ForbiddenResponseError):
            sdk.guardrails.list()
        with account.sdk(LabKey(key="x", name="x")) as sdk, pytest.raises(errors.UnauthorizedResponseError):
            sdk.guardrails.list()
        assert account.served(MANAGEMENT, 1) == {"403 None"}

    with_sdk(a_world(), story)


def test_a_guardrail_keeps_providers_from_the_keys_that_it_covers() -> None:
    """By key, by member and by workspace; nobody else is touched, and unassigned it forbids nothing."""
    slow = {"only": ["north-host", "acme"]}

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            everything = {"acme", "north-host/fp4", "north-host/fp8"}
            assert account.served(PRODUCTION, **slow) == everything
            sdk.guardrails.bulk_assign_keys(id=SHIELD, key_hashes=[PRODUCTION.hash])
            assert account.served(PRODUCTION, **slow) == {"acme"}
            assert account.served(CANARY) == everything
            sdk.guardrails.bulk_unassign_keys(id=SHIELD, key_hashes=[PRODUCTION.hash])
            sdk.guardrails.bulk_assign_members(id=SHIELD, member_user_ids=["user_lab"])
            assert account.served(PRODUCTION) == {"acme"}
            sdk.guardrails.bulk_unassign_members(id=SHIELD, member_user_ids=["user_lab"])
            sdk.guardrails.update(id=default_guardrail_id("default"), allowed_providers=["north-host"])
            assert account.served(PRODUCTION) == {"north-host/fp4", "north-host/fp8"}
            assert account.served(CANARY) == everything
            sdk.guardrails.bulk_assign_keys(id=SHIELD, key_hashes=[PRODUCTION.hash])
            assert account.served(PRODUCTION, 1) == {"404 Filter by Guardrails"}
            (reason,) = account.refusal["metadata"]["ineligibility_reasons"]
            assert set(reason) == {"reason", "count", "configure_url"}
            assert reason["count"] == 3

    with_sdk(a_world(LabGuardrail(name="shield", ignored_providers=("north-host",))), story)


@pytest.mark.parametrize(
    ("full_tags", "left"),
    [(False, {"acme", "north-host/fp4", "north-host/fp8"}), (True, {"acme", "north-host/fp8"})],
)
def test_both_readings_of_a_full_tag_can_be_played(full_tags: bool, left: set[str]) -> None:
    """Where lists name providers only, a tag names nobody."""
    shield = LabGuardrail(name="shield", ignored_providers=("north-host/fp4",), keys=("production",))

    def story(account: Account) -> None:
        assert account.served(PRODUCTION) == left

    with_sdk(a_world(shield, guardrails_full_tags=full_tags), story)


def test_the_sdk_knows_no_field_that_the_lab_does_not() -> None:
    """Whatever field a guardrail may have by the official schema, the lab's has it too."""

    def story(account: Account) -> None:
        with account.sdk() as sdk:
            made = sdk.guardrails.get(id=SHIELD).data
        assert made.model_fields_set == set(components.Guardrail.model_fields)

    with_sdk(a_world(LabGuardrail(name="shield")), story)
