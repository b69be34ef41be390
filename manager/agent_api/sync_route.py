"""Sync, read and answered straight from bytes: most of what a manager hears are syncs.

Declared as any other route, so the documentation and the metrics know it; but it stands before all
others, and its body goes to pydantic as it came. FastAPI's ways of finding a route among many, of
solving dependencies and of reading JSON twice cost several times as much as all that a sync is
about (docs/adr/0129). What is refused is refused in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError

from manager.agent_api.door import door_of, shown_key_hash, unknown_key
from manager.errors import UnknownKeyError
from shared.wire.sync import SyncAnswer, SyncRequest

__all__ = ["add_sync"]


def add_sync(app: FastAPI) -> None:
    """Declare the route; first of all, so that no other is looked at."""
    app.router.add_api_route(
        "/api/v1/sync",
        sync,
        methods=["POST"],
        response_model=SyncAnswer,
        tags=["agents' own"],
        route_class_override=_SyncRoute,
    )


async def sync(asked: SyncRequest) -> SyncAnswer:
    """Say what the agent holds and did; hear what it is to do."""
    raise AssertionError(f"{asked.agent}: _SyncRoute answers")


class _SyncRoute(APIRoute):
    """The route as `sync` declares it, answered by `_answer`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return who answers."""
        return _answer


async def _answer(request: Request) -> Response:
    key_hash = shown_key_hash(request)
    door = await door_of(request)
    agent = await door.keys.lately(key_hash)
    if agent is None:
        raise unknown_key()
    try:
        asked = SyncRequest.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from error
    try:
        answer = await door.syncs.answer(agent, key_hash, asked)
    except UnknownKeyError:
        door.keys.forget(key_hash)
        raise
    return Response(answer.model_dump_json(), media_type="application/json")
