"""Log in, log out, who is logged in, and one's own password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Final

from fastapi import Request, Response
from pydantic import BaseModel, Field

from manager.api.access import (
    COOKIES,
    DEVICES,
    AdminServices,
    Person,
    Services,
    Viewer,
    actor_at,
    csrf_of,
    require_private_line,
    session_token,
)
from manager.api.routes import subject_router
from manager.errors import BusyError, ForbiddenError, SlowDownError, UnknownKeyError
from manager.operations.people import users
from manager.operations.people.known_devices import DEVICE_S
from manager.operations.people.login_throttle import login_wait
from manager.operations.people.own_password import change_own_password
from manager.operations.transport import browser_of
from shared.wire.names import hash_of_key

__all__ = ["router"]

router: Final = subject_router("sessions")


class LoginRequest(BaseModel):
    """A user's name and password."""

    name: Annotated[str, Field(max_length=64)]
    password: Annotated[str, Field(max_length=1024)]


class LoginAnswer(BaseModel):
    """The session; csrf_token goes into the header `X-CSRF-Token` of each change."""

    name: str
    role: str
    expires_ms: int
    csrf_token: str


class ChangedPassword(BaseModel):
    """The password that one has, and the one that one wants."""

    old: Annotated[str, Field(max_length=1024)]
    new: Annotated[str, Field(max_length=1024)]


class Myself(BaseModel):
    """The caller, as the audit log names it."""

    kind: str
    name: str


@router.post("/login")
async def login(
    request: Request, response: Response, services: Services, asked: LoginRequest
) -> LoginAnswer:
    """Begin a session; the cookies are set, and are sent back over the same kind of line only."""
    require_private_line(request)
    session_s = services.settings.console.session_s
    tls, line = bool(request.state.line.is_tls), request.state.line
    device = request.cookies.get(DEVICES[tls], "")
    async with _turn(request, services, asked.name[:64]):
        session = await asyncio.to_thread(
            users.login,
            services.db,
            asked.name,
            asked.password,
            services.now_ms(),
            session_s=session_s,
            address=line.client,
            browser=browser_of(request.scope["headers"]),
            device=device,
            request_id=str(request.state.request_id),
        )
    _set_cookie(response, COOKIES[tls], session.token, round(session_s), tls=tls)
    _set_cookie(response, DEVICES[tls], session.device, DEVICE_S, tls=tls)
    return LoginAnswer(
        name=session.user,
        role=session.role,
        expires_ms=session.expires_ms,
        csrf_token=csrf_of(session.token),
    )


@router.post("/logout")
def logout(request: Request, response: Response, services: Services, _: Viewer) -> dict[str, bool]:
    """End the session."""
    token = session_token(request)
    if token:
        users.logout(
            services.db,
            hash_of_key(token),
            services.now_ms(),
            address=request.state.line.client,
            browser=browser_of(request.scope["headers"]),
        )
    for name in COOKIES.values():
        response.delete_cookie(name, path="/")
    return {"done": True}


@router.post("/password", status_code=204)
async def change_password(
    request: Request, response: Response, services: Services, asks: Person, asked: ChangedPassword
) -> None:
    """Set one's own password; all other sessions of the person end."""
    tls = bool(request.state.line.is_tls)
    async with _turn(request, services, asks.name):
        device = await asyncio.to_thread(
            change_own_password,
            services.db,
            asks,
            hash_of_key(session_token(request)),
            asked.old,
            asked.new,
            actor_at(request, asks),
            services.now_ms(),
            device=request.cookies.get(DEVICES[tls], ""),
        )
    _set_cookie(response, DEVICES[tls], device, DEVICE_S, tls=tls)


@router.get("/session")
async def session(actor: Viewer) -> Myself:
    """Show the caller."""
    return Myself(kind=actor.kind, name=actor.name)


@asynccontextmanager
async def _turn(request: Request, services: AdminServices, name: str) -> AsyncIterator[None]:
    """Wait for the turn of a look at a password; of who is refused often, the answer waits."""
    line, now_ms = request.state.line, services.now_ms()
    device = request.cookies.get(DEVICES[bool(line.is_tls)], "")
    wait = await asyncio.to_thread(login_wait, services.db, name, line.client, device, now_ms)
    try:
        async with services.logins.turn(wait):
            yield
    except (UnknownKeyError, ForbiddenError, SlowDownError, BusyError):
        await services.hold.refused(wait.source, now_ms)
        raise


def _set_cookie(response: Response, name: str, value: str, age_s: int, *, tls: bool) -> None:
    response.set_cookie(
        name, value, max_age=age_s, path="/", secure=tls, httponly=True, samesite="strict"
    )
