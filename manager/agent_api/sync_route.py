"""Sync route, read and answered directly from bytes: most requests to a manager are syncs.

The route is declared like any other, so that the documentation and the metrics know it; but
`SyncLane` stands before the whole application and answers it. FastAPI's layers (finding a route
among many, solving dependencies, reading JSON twice) cost several times as much as the sync
itself (docs/adr/0129, 0158). A refusal has the same words as elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from manager.agent_api.authentication import (
    KEY,
    AgentServices,
    refusal,
    services_of,
    shown_key_hash,
)
from manager.errors import UnknownFieldError, UnknownKeyError, UnsupportedTypeError
from manager.intake.messages.message_check import MessageJob, check_sync, shown_mistakes
from manager.operations.identity.enrolment import AgentIdentity
from shared.wire.sync import SyncAnswer, SyncRequest
from shared.wire.sync_json import json_of, read_message

__all__ = ["SyncLane", "router"]

PATH: Final = "/api/v1/sync"
JSON_TYPE: Final = "application/json"

SAID_BYTES: Final = 500
"""Length limit of a refusal in a log line; a refusal may repeat the request."""

_log: Final = logging.getLogger(__name__)


router: Final = APIRouter(tags=["agents' own"])
"""Declares the route, which `SyncLane` answers."""


@router.post(PATH, response_model=SyncAnswer, dependencies=[Security(KEY)])
async def sync(asked: SyncRequest) -> SyncAnswer:
    """Sync: the agent reports its rights and its work, and receives its orders."""
    raise AssertionError(f"{asked.agent}: SyncLane answers")


class SyncLane:
    """ASGI middleware that answers syncs and passes on all else."""

    def __init__(
        self,
        app: FastAPI,
        answer_to: Callable[[Request, Exception], Response],
        others: ASGIApp | None = None,
    ) -> None:
        """answer_to: says what an error that ended a sync is answered with. others: who answers
        all else; None: the application."""
        self._app = app
        self._others = app if others is None else others
        self._answer_to = answer_to
        self._route = next(
            one for one in app.router.routes if isinstance(one, APIRoute) and one.path == PATH
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["path"] != PATH or scope["method"] != "POST":
            await self._others(scope, receive, send)
            return
        scope["app"], scope["route"] = self._app, self._route
        request = Request(scope, receive)
        try:
            response = await _answer(request)
        except Exception as error:  # noqa: BLE001  # answered as the application would
            response = self._answer_to(request, error)
            # The only line on it: good ones are as many as agents a minute, and a table has them.
            why = bytes(response.body[:SAID_BYTES]).decode(errors="replace")
            _log.info("sync from %s: %d %s", _client(scope), response.status_code, why)
        await response(scope, receive, send)


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "this machine"


async def _answer(request: Request) -> Response:
    for name in request.query_params:
        raise UnknownFieldError("parameter", name, ())
    kind = request.headers.get("content-type", JSON_TYPE).partition(";")[0].strip().lower()
    if kind != JSON_TYPE:
        raise UnsupportedTypeError(kind, (JSON_TYPE,))
    key_hash = shown_key_hash(request)
    services = await services_of(request)
    agent = await services.keys.recent_agent_of_key(key_hash)
    if agent is None:
        raise await refusal(request)
    asked = await _read(request, services, agent)
    try:
        answer = await services.syncs.answer(agent, key_hash, asked)
    except UnknownKeyError:
        services.keys.forget(key_hash)
        raise
    return Response(json_of(answer), media_type="application/json")


async def _read(request: Request, services: AgentServices, agent: AgentIdentity) -> SyncRequest:
    async def identify(_: Request) -> int:
        return agent.id

    async with services.messages.gathered(
        request, services.limits.sync_bytes, identify
    ) as gathered:
        if gathered.sender is not None:
            job = MessageJob(gathered.body, sender=agent.id, cpu_s=services.messages.cpu_s)
            found = await services.messages.elsewhere(request, check_sync, job)
            if found:
                raise RequestValidationError(found)
        try:
            return read_message(SyncRequest, gathered.body, strict=True)
        except ValidationError as error:
            raise RequestValidationError(shown_mistakes(error)) from error
