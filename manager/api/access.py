"""Access control of `/api/v1`: sessions of people, tokens of scripts, the local Unix socket.

Invariant: any user may read. A request that changes something carries, beside the session's
cookie, a token that no other site can know (`X-CSRF-Token`), or no cookie but the token of a
script (`Authorization: Bearer`), which no browser adds by itself. A foreign page can make browsers
send a session's cookie with its links, too: such requests are refused. Requests on the Unix socket
act as the local administrator: the socket's file mode is the check.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Final, Protocol

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from manager.db import Database
from manager.errors import ForbiddenError, UnknownKeyError
from manager.intake.messages.messages import sender_number
from manager.intake.workers.body_job import Reader
from manager.operations.actor import Actor
from manager.operations.archive.archive_mirrors import Mirror
from manager.operations.health.alert_views import AlertDesk
from manager.operations.logs.log_lines import LogLines
from manager.operations.logs.log_scratch import Scratch
from manager.operations.people.api_tokens import Holder, holder_of
from manager.operations.people.login_gate import LoginGate, RefusalHold
from manager.operations.people.login_throttle import source_of
from manager.operations.people.users import ROLES, Role, session_of
from manager.operations.planning.planners import Planner
from manager.operations.policy import Policy
from manager.operations.request_senders import work_for
from manager.operations.search import Search
from manager.operations.segments.adoption import Adopted, IdOf
from manager.operations.segments.kept_file_list import FilePlaces
from manager.operations.segments.scrub import Pace
from manager.operations.segments.trash_contents import TrashDay
from manager.operations.transport import browser_of, require_private
from manager.settings import Settings
from manager.signing.protocol import Signing
from manager.store import Bundles, Layout, Spool, UploadParts
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.names import hash_of_key

__all__ = [
    "COOKIES",
    "DEVICES",
    "Admin",
    "AdminServices",
    "Operator",
    "Person",
    "Services",
    "Viewer",
    "actor_at",
    "csrf_of",
    "known_person",
    "require_private_line",
    "session_token",
]

COOKIES: Final = {True: "__Host-prsm", False: "prsm"}
"""The session's cookie, by whether the line is TLS: browsers take `__Host-` over TLS only."""

DEVICES: Final = {True: "__Host-prsm-device", False: "prsm-device"}
"""The cookie of a device on which a user has logged in before; it opens nothing."""

_RANK: Final[dict[str, int]] = {role: rank for rank, role in enumerate(ROLES)}
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
OURS: Final = frozenset({"same-origin", "none"})
"""Where a browser says that a session's request comes from: our pages, or the person at it."""


class Adopt(Protocol):
    """The operation that enters segments without a row."""

    def __call__(self, actor: Actor, *, dry_run: bool, trusted: bool, id_of: IdOf) -> Adopted:
        """Enter them; blocks."""
        ...


@frozen
class AdminServices:
    """Dependencies of the routes for administrators."""

    db: Database
    policy: Policy
    settings: Settings
    layout: Layout
    spool: Spool
    parts: UploadParts
    planner: Planner
    now_ms: Callable[[], int]
    compact: Callable[[Actor], tuple[int, int]]
    mirrors: Callable[[float, int], list[Mirror]]
    adopt: Adopt
    trash: Callable[[], list[TrashDay]]
    scratch: Scratch
    log_lines: LogLines
    bundles: Bundles
    signing: Signing
    alerts: AlertDesk
    read: Reader
    hold: RefusalHold
    logins: LoginGate
    places: FilePlaces
    pace: Pace
    search: Search


async def _services_of(request: Request) -> AdminServices:
    services = request.app.state.admin_services
    assert isinstance(services, AdminServices)
    return services


Services = Annotated[AdminServices, Depends(_services_of)]


def csrf_of(token: str) -> str:
    """Return what proves that a request was made by a page of ours, for a session's token."""
    return hash_of_key(f"csrf {token}")


def actor_at(request: Request, asks: Holder) -> Actor:
    """Return the caller with the id and the address of the request."""
    state = request.state
    browser = "" if state.local else browser_of(request.scope["headers"])
    return asks.actor(str(state.request_id), state.line.client, browser)


def session_token(request: Request) -> str:
    """Return the session's token, or an empty text."""
    for name in COOKIES.values():
        if token := request.cookies.get(name):
            return token
    return ""


def require_private_line(request: Request) -> None:
    """Refuse passwords and sessions on a line that others can read."""
    require_private(request.state.line, Message("connection.passwords_need_tls"))


_BEARER: Final = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A token that a person made for a script: `prsm tokens add`, or the console.",
)
_COOKIE: Final = APIKeyCookie(
    name=COOKIES[True],
    auto_error=False,
    scheme_name="session",
    description="Set by `/api/v1/login`. A change also needs the header `X-CSRF-Token`.",
)


def _may(least: Role) -> Callable[..., object]:
    """Return the dependency that provides the caller, if the role suffices."""

    async def person_of(
        request: Request,
        services: Services,
        bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
        _: Annotated[str | None, Security(_COOKIE)],
    ) -> Holder:
        """Return the caller. Raises ForbiddenError where its role is too low."""
        found = await _holder_at(request, services, bearer)
        work_for(f"user {found.name}")
        if _RANK[found.role] < _RANK[least]:
            raise ForbiddenError(
                "people.role_too_low", caller=found.actor_name, role=found.role, needed=least
            )
        return found

    return person_of


async def _holder_at(
    request: Request, services: AdminServices, bearer: HTTPAuthorizationCredentials | None
) -> Holder:
    """Return the caller. Raises UnknownKeyError, ForbiddenError, InsecureLineError."""
    if request.state.local:
        return Holder("local", "local", "admin", "")
    require_private_line(request)
    try:
        if bearer is None:
            return await _of_session(request, services)
        shown = hash_of_key(bearer.credentials)
        return await asyncio.to_thread(holder_of, services.db, shown, services.now_ms())
    except UnknownKeyError:
        if bearer is not None or session_token(request):  # something was shown, and was wrong
            await services.hold.refused(source_of(request.state.line.client), services.now_ms())
        raise


async def known_person(request: Request) -> int:
    """Return the caller's sender number. Raises the errors of a route that a viewer may call."""
    found = await _holder_at(request, await _services_of(request), await _BEARER(request))
    return sender_number(found.kind, found.name)


async def _of_session(request: Request, services: AdminServices) -> Holder:
    token = session_token(request)
    session = None
    if token:
        session = await asyncio.to_thread(
            session_of, services.db, hash_of_key(token), services.now_ms()
        )
    if session is None:
        raise UnknownKeyError("people.no_session")
    if request.headers.get("sec-fetch-site", "none") not in OURS:
        raise ForbiddenError("people.another_origin")
    if request.method not in SAFE and request.headers.get("x-csrf-token") != csrf_of(token):
        raise ForbiddenError("people.csrf_token")
    return Holder("user", session.name, session.role, "")


def _actor(least: Role) -> Callable[..., object]:
    person = Depends(_may(least))

    async def actor_of(request: Request, asks: Holder = person) -> Actor:
        return actor_at(request, asks)

    return actor_of


Person = Annotated[Holder, Depends(_may("viewer"))]
Viewer = Annotated[Actor, Depends(_actor("viewer"))]
Operator = Annotated[Actor, Depends(_actor("operator"))]
Admin = Annotated[Actor, Depends(_actor("admin"))]
