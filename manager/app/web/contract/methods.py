"""Methods of an address: `Allow` names all of them, HEAD is answered as GET without its body.

Routers know one route at a time: of `/api/v1/users` GET is one and POST another, and the `Allow`
of the first that fits says half. Invariant: what `allowed` returns is what the application answers
with another status than 405.
Source: RFC 9110, 9.3.2 (HEAD), 9.3.7 (OPTIONS), 10.2.1 (Allow) and 15.5.6 (405).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Methods", "allowed"]

OF_ALL: Final = frozenset({"OPTIONS"})
METHOD_NOT_ALLOWED: Final = 405


def allowed(routes: Sequence[BaseRoute], scope: Scope) -> frozenset[str]:
    """Return the methods of a request's address; none where there is nothing."""
    found = _declared(routes, scope)
    if "GET" in found:
        found.add("HEAD")
    return frozenset(found | OF_ALL) if found else frozenset()


def _declared(routes: Sequence[BaseRoute], scope: Scope) -> set[str]:
    found: set[str] = set()
    for route in routes:
        match, inner = route.matches(scope)
        if match is Match.NONE:
            continue
        if isinstance(route, Mount):
            found |= _declared(route.routes, {**scope, **inner})
        else:
            found |= getattr(route, "methods", None) or set()
    return found


class Methods:
    """ASGI middleware around an application."""

    def __init__(self, app: ASGIApp, of: Starlette) -> None:
        """of: whose routes are asked."""
        self._app = app
        self._routes = of.router.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        method = scope["method"]
        if method in ("HEAD", "OPTIONS"):
            there = _declared(self._routes, scope)
            if method == "OPTIONS" and there and "OPTIONS" not in there:
                headers = {"Allow": ", ".join(sorted(allowed(self._routes, scope)))}
                await Response(status_code=204, headers=headers)(scope, receive, send)
                return
            if method == "HEAD" and "GET" in there and "HEAD" not in there:
                await self._without_body(scope, receive, send)
                return
        await self._app(scope, receive, self._with_allow(scope, send))

    async def _without_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as GET does, and send no body."""

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # A copy: the server reads the method in its own, and so knows that no body comes.
        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, send_head)
        finally:
            scope.update({name: inner[name] for name in ("route", "endpoint") if name in inner})

    def _with_allow(self, scope: Scope, send: Send) -> Send:
        """Return what puts all methods of the address into the `Allow` of a 405."""
        root = scope.get("root_path", "")  # which a mounted application's own replaces

        async def send_all(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == METHOD_NOT_ALLOWED:
                fields = MutableHeaders(scope=message)
                there = allowed(self._routes, {**scope, "root_path": root})
                fields["Allow"] = ", ".join(sorted(there))
            await send(message)

        return send_all
