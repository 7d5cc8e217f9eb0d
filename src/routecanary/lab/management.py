"""How is the account managed? The lab's calls on guardrails, keys and workspaces, for a management key.

Source: the schemas and calls of the official SDK 1.3.84, `guardrails`, `api_keys`, `workspaces`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from aiohttp import web

from routecanary.domain.probe import Json
from routecanary.lab import listing
from routecanary.lab.desk import Desk
from routecanary.lab.guardrail_body import guardrail_fields, names_in
from routecanary.lab.guardrails import ORGANIZATION, Assignment
from routecanary.lab.keyring import DEFAULT_WORKSPACE, LabKey, workspace_id
from routecanary.lab.refusal import Refusal, RefusedError, bad_request
from routecanary.lab.request import read_json
from routecanary.lab.wire import json_bytes

KEYS_A_PAGE: Final = 100
MOST_A_PAGE: Final = 100
DEFAULT_PAGE: Final = 50

Meddler = Callable[[str, str], Awaitable[web.StreamResponse | None]]
"""Told of each call (method, path under the prefix) before it is answered; may answer in its place."""


class Management:
    """Answers the management calls of one desk's account. `meddler` may be set at any time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.meddler: Meddler | None = None
        self.writes: list[Mapping[str, Json]] = []  # bodies of the changes of guardrails, in their order

    def routes(self, prefix: str) -> list[web.RouteDef]:
        """List the calls."""
        one, assigned = "/guardrails/{id}", "/guardrails/{id}/assignments"
        calls: list[tuple[str, str, Callable[[web.Request], Awaitable[Json]]]] = [
            ("GET", "/keys", self._list_keys),
            ("GET", "/keys/{hash}", self._get_key),
            ("GET", "/workspaces", self._list_workspaces),
            ("GET", "/workspaces/{id}", self._get_workspace),
            ("GET", "/guardrails", self._list),
            ("POST", "/guardrails", self._create),
            ("GET", "/guardrails/assignments/keys", self._list_assignments),
            ("GET", "/guardrails/assignments/members", self._list_assignments),
            ("GET", one, self._get),
            ("PATCH", one, self._update),
            ("DELETE", one, self._delete),
            ("GET", f"{assigned}/keys", self._list_assignments),
            ("POST", f"{assigned}/keys", self._assign_keys),
            ("POST", f"{assigned}/keys/remove", self._unassign_keys),
            ("GET", f"{assigned}/members", self._list_assignments),
            ("POST", f"{assigned}/members", self._assign_members),
            ("POST", f"{assigned}/members/remove", self._unassign_members),
        ]
        return [web.route(method, prefix + path, self._handler(prefix, call)) for method, path, call in calls]

    def _handler(
        self, prefix: str, call: Callable[[web.Request], Awaitable[Json]]
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            if self.meddler is not None:
                answer = await self.meddler(request.method, request.path.removeprefix(prefix))
                if answer is not None:
                    return answer
            key = self._desk.check_key(request.headers.get("Authorization", ""))
            if not key.management:
                message = "Only management keys can perform this operation"
                raise RefusedError(Refusal(status=403, message=message))
            body = await call(request)
            made = request.method == "POST" and request.path == f"{prefix}/guardrails"
            return web.Response(
                status=201 if made else 200, body=json_bytes(body), content_type="application/json"
            )

        return handle

    # --- keys and workspaces ------------------------------------------------------------------------

    async def _list_keys(self, request: web.Request) -> Json:
        wanted = request.query.get("workspace_id", workspace_id(DEFAULT_WORKSPACE))
        keys = [key for key in self._desk.keyring if workspace_id(key.workspace) == wanted]
        offset = _number(request, "offset", 0)
        shown = keys[offset : offset + KEYS_A_PAGE]
        return {"data": [listing.managed_key(key, created_at=self._desk.began) for key in shown]}

    async def _get_key(self, request: web.Request) -> Json:
        key = self._desk.keyring.by_hash(request.match_info["hash"])
        if key is None:
            raise RefusedError(Refusal(status=404, message="API key not found"))
        return {"data": listing.managed_key(key, created_at=self._desk.began)}

    async def _list_workspaces(self, request: web.Request) -> Json:
        names = self._desk.guardrails.workspaces()
        return _paged(request, [listing.workspace(name, created_at=self._desk.began) for name in names])

    async def _get_workspace(self, request: web.Request) -> Json:
        wanted = request.match_info["id"]
        for name in self._desk.guardrails.workspaces():
            if wanted in (name, workspace_id(name)):
                return {"data": listing.workspace(name, created_at=self._desk.began)}
        raise RefusedError(Refusal(status=404, message="Workspace not found"))

    # --- guardrails ---------------------------------------------------------------------------------

    async def _list(self, request: web.Request) -> Json:
        wanted = request.query.get("workspace_id", workspace_id(DEFAULT_WORKSPACE))
        found = [
            each.to_json()
            for each in self._desk.guardrails.by_id.values()
            if workspace_id(each.workspace) == wanted
        ]
        return _paged(request, found)

    async def _create(self, request: web.Request) -> Json:
        body = await _object(request)
        wanted = body.pop("workspace_id", workspace_id(DEFAULT_WORKSPACE))
        fields = guardrail_fields(body)
        if "name" not in fields:
            raise bad_request("name: required")
        for name in self._desk.guardrails.workspaces():
            if workspace_id(name) == wanted:
                return {"data": self._desk.guardrails.create(name, fields).to_json()}
        raise bad_request("workspace_id: no such workspace")

    async def _get(self, request: web.Request) -> Json:
        return {"data": self._desk.guardrails.get(request.match_info["id"]).to_json()}

    async def _update(self, request: web.Request) -> Json:
        guardrails, wanted = self._desk.guardrails, request.match_info["id"]
        body = await _object(request)
        known = guardrails.by_id.get(wanted)
        fields = guardrail_fields(body, known.fields if known is not None else {})
        self.writes.append(body)
        return {"data": guardrails.update(wanted, fields).to_json()}

    async def _delete(self, request: web.Request) -> Json:
        self._desk.guardrails.delete(request.match_info["id"])
        return {"deleted": True}

    # --- assignments --------------------------------------------------------------------------------

    async def _list_assignments(self, request: web.Request) -> Json:
        guardrails = self._desk.guardrails
        of_keys = request.path.endswith("/keys")
        assignments = [*(guardrails.of_key if of_keys else guardrails.of_member).values()]
        if "id" in request.match_info:
            wanted = guardrails.get(request.match_info["id"]).id
            assignments = [each for each in assignments if each.guardrail == wanted]
        return _paged(request, [self._assigned(each, of_key=of_keys) for each in assignments])

    def _assigned(self, assignment: Assignment, *, of_key: bool) -> dict[str, Json]:
        if not of_key:
            return {**assignment.to_json(), "user_id": assignment.to, "organization_id": ORGANIZATION}
        key: LabKey | None = self._desk.keyring.by_hash(assignment.to)
        label, name = ("", "") if key is None else (key.label, key.name)
        return {**assignment.to_json(), "key_hash": assignment.to, "key_label": label, "key_name": name}

    async def _assign_keys(self, request: web.Request) -> Json:
        hashes = names_in(await _object(request), "key_hashes")
        return {"assigned_count": self._desk.guardrails.assign_keys(request.match_info["id"], hashes)}

    async def _assign_members(self, request: web.Request) -> Json:
        members = names_in(await _object(request), "member_user_ids")
        return {"assigned_count": self._desk.guardrails.assign_members(request.match_info["id"], members)}

    async def _unassign_keys(self, request: web.Request) -> Json:
        hashes = names_in(await _object(request), "key_hashes")
        return {"unassigned_count": _unassigned(request, self._desk.guardrails.of_key, hashes)}

    async def _unassign_members(self, request: web.Request) -> Json:
        members = names_in(await _object(request), "member_user_ids")
        return {"unassigned_count": _unassigned(request, self._desk.guardrails.of_member, members)}


def _unassigned(request: web.Request, assignments: dict[str, Assignment], to: Sequence[str]) -> int:
    wanted, count = request.match_info["id"], 0
    for each in to:
        if each in assignments and assignments[each].guardrail == wanted:
            del assignments[each]
            count += 1
    return count


async def _object(request: web.Request) -> dict[str, Json]:
    body = read_json(await request.read())
    if not isinstance(body, dict):
        raise bad_request("The request body must be an object")
    return body


def _paged(request: web.Request, rows: Sequence[Json]) -> Json:
    offset, limit = _number(request, "offset", 0), _number(request, "limit", DEFAULT_PAGE)
    if not 1 <= limit <= MOST_A_PAGE:
        raise bad_request(f"limit: expected 1 to {MOST_A_PAGE}")
    return {"data": list(rows[offset : offset + limit]), "total_count": len(rows)}


def _number(request: web.Request, name: str, default: int) -> int:
    value = request.query.get(name)
    if value is None:
        return default
    with contextlib.suppress(ValueError):
        number = int(value[:9])
        if number >= 0:
            return number
    raise bad_request(f"{name}: expected a whole number from 0")
