"""The console put together: routes behind their checks, errors as pages, headers on everything.

A separate application, to be mounted at `/console`: its errors are pages and not sentences, and
its headers are stricter than those of the other parts.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.console.requests.access import failed, guarded
from manager.console.requests.context import ConsoleServices
from manager.console.routes import PAGES
from manager.console.static_files import static_route
from shared.errors import PrsmError

__all__ = ["console"]

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with it browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
}

ROUTES: Final = [*(guarded(page, PAGES) for page in PAGES), static_route()]


def console(services: ConsoleServices) -> ASGIApp:
    """Return the application. It reads `line` and `request_id` from the request's state,
    which `manager.app.web.connection` sets."""

    async def refused(request: Request, error: Exception) -> Response:
        return await asyncio.to_thread(failed, request, services, error)

    app = Starlette(
        routes=ROUTES,
        exception_handlers={HTTPException: refused, PrsmError: refused},
    )
    app.state.services = services
    return _WithHeaders(app)


class _WithHeaders:
    """ASGI middleware: the headers that every answer of the console has."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self.routes = app.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)
