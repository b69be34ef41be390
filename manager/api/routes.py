"""Parts that the routes of all subjects share: a router, its threads, the bounds of a page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute

__all__ = ["Limit", "Offset", "subject_router"]

Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0)]

_P = ParamSpec("_P")
_Answer = TypeVar("_Answer")


class ThreadRoute(APIRoute):
    """A route whose function, unless it is a coroutine, runs in a thread of requests.

    FastAPI itself would use other threads, in which senders do not take turns.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Take the path, the function and the options of a route, as FastAPI gives them."""
        called = endpoint if iscoroutinefunction(endpoint) else _in_thread(endpoint)
        super().__init__(path, called, **options)


def subject_router(tag: str, path: str = "") -> APIRouter:
    """Return the router of a subject. tag: its name in OpenAPI; path: of all its routes."""
    return APIRouter(prefix=f"/api/v1{path}", tags=[tag], route_class=ThreadRoute)


def _in_thread(function: Callable[_P, _Answer]) -> Callable[_P, Coroutine[Any, Any, _Answer]]:
    @wraps(function)
    async def called(*args: _P.args, **kwargs: _P.kwargs) -> _Answer:
        return await asyncio.to_thread(function, *args, **kwargs)

    return called
