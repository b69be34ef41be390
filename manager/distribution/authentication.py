"""Authentication of third parties by token.

The token comes as `Authorization: Bearer TOKEN`, `Token TOKEN`, or as the password of Basic, whose
user name is not looked at. Invariant: a token is taken over TLS or from loopback only.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from typing import Annotated, Final

from fastapi import Request, Security
from fastapi.security import HTTPBearer

from manager.db import Database
from manager.distribution.downloads import Download, Downloads
from manager.distribution.selections import Selections
from manager.distribution.usage import Usage
from manager.errors import ForbiddenError, UnknownKeyError
from manager.intake.messages.messages import sender_number
from manager.operations.actor import Actor
from manager.operations.people.clients import Client, Scope, authenticate_client, still_valid
from manager.operations.people.login_gate import RefusalHold
from manager.operations.people.login_throttle import source_of
from manager.operations.request_senders import work_for
from manager.operations.transport import require_private
from manager.settings import Settings
from manager.store import Layout
from manager.store.segments.segment_store import SegmentStore
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Caller", "DistributionServices", "caller_with", "known_client"]


@frozen
class DistributionServices:
    """Dependencies of the routes for third parties."""

    db: Database
    layout: Layout
    store: SegmentStore
    settings: Settings
    usage: Usage
    downloads: Downloads
    selections: Selections
    now_ms: Callable[[], int]
    hold: RefusalHold


_TOKEN: Final = HTTPBearer(
    auto_error=False,
    scheme_name="client-token",
    description="Of a registered third party; also as the password of Basic.",
)


def _services_of(request: Request) -> DistributionServices:
    services = request.app.state.distribution_services
    assert isinstance(services, DistributionServices)
    return services


@frozen
class Caller:
    """A third party that asks, and the request it asks by."""

    client: Client
    request: Request
    services: DistributionServices

    @property
    def actor(self) -> Actor:
        """Return the client as the actor of the request."""
        return self.client.actor(str(self.request.state.request_id))

    def at_address(self, path: str) -> str:
        """Return a path of this server with its scheme and host, as its clients reach it."""
        public = self.services.settings.server.public_url
        if public:
            return public.rstrip("/") + path
        scheme = "https" if self.request.state.line.is_tls else "http"
        return f"{scheme}://{self.request.url.netloc}{path}"

    def front(self, path: str) -> str | None:
        """Return where the web server in front finds a file of the archive; None: none is there."""
        front = self.services.settings.archive.x_accel_redirect_path
        return f"{front.rstrip('/')}/{path}" if front else None

    def download(self, name: str, size_bytes: int, start: int) -> Download:
        """Return the counter of sent bytes. size_bytes: 0: not known; start: the first byte."""
        return self.services.downloads.begin(self.client, name, size_bytes, start)

    def allowed(self, name: str, size_bytes: int, start: int, end: int) -> None:
        """Count bytes that a web server in front sends to it."""
        self.services.downloads.allow(self.client, name, size_bytes, start, end)

    async def may_go_on(self) -> bool:
        """Return whether its token is still good."""
        services = self.services
        return await asyncio.to_thread(still_valid, services.db, self.client, services.now_ms())


def caller_with(scope: Scope | None, *, only_403: bool = False) -> Callable[..., object]:
    """Return the dependency that gives the caller of a request, where its token has a scope.

    scope: None: the route looks, and the request is not counted. only_403: clients of WASAPI
    understand no other status of a token that is not good.
    """

    async def caller_of(request: Request, _: Annotated[object, Security(_TOKEN)]) -> Caller:
        """Return the caller. Raises ForbiddenError without the scope."""
        services = _services_of(request)
        client = await _client_of(request, services, only_403=only_403)
        work_for(f"client {client.id}")
        if scope is not None:
            client.require(scope)
            services.usage.begin(client)
        return Caller(client, request, services)

    return caller_of


async def known_client(request: Request) -> int:
    """Return the number of the third party that asks, as a sender. Raises as WASAPI does, which has
    the only messages of third parties."""
    client = await _client_of(request, _services_of(request), only_403=True)
    return sender_number("client", client.name)


async def _client_of(request: Request, services: DistributionServices, *, only_403: bool) -> Client:
    require_private(request.state.line, Message("connection.tokens_need_tls"))
    try:
        token = _token(request.headers.get("authorization", ""))
        return await asyncio.to_thread(authenticate_client, services.db, token, services.now_ms())
    except UnknownKeyError as error:
        if request.headers.get("authorization"):
            await services.hold.refused(source_of(request.state.line.client), services.now_ms())
        if only_403:
            raise ForbiddenError(error.message) from error
        raise


def _token(header: str) -> str:
    """Return the token of an Authorization header, or an empty text."""
    kind, _, value = header.partition(" ")
    value = value.strip()
    if kind.lower() in ("bearer", "token"):
        return value
    if kind.lower() != "basic":
        return ""
    try:
        pair = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return pair.partition(":")[2]
