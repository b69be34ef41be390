"""Log in, log out, who is logged in, and one's own password."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from manager.api.door import (
    COOKIES,
    Door,
    Person,
    Viewer,
    csrf_of,
    require_private_line,
    session_token,
)
from manager.operations import users
from manager.operations.own_password import change_own_password
from shared.wire.names import hash_of_key

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["sessions"])


class LoginRequest(BaseModel):
    """A user's name and password."""

    name: Annotated[str, Field(max_length=64)]
    password: Annotated[str, Field(max_length=1024)]


class LoginAnswer(BaseModel):
    """Who is logged in; csrf_token goes into the header `X-CSRF-Token` of each change."""

    name: str
    role: str
    expires_ms: int
    csrf_token: str


class ChangedPassword(BaseModel):
    """The password that one has, and the one that one wants."""

    old: Annotated[str, Field(max_length=1024)]
    new: Annotated[str, Field(max_length=1024)]


class Myself(BaseModel):
    """Who asks, as the audit names them."""

    kind: str
    name: str


@router.post("/login")
async def login(
    request: Request, response: Response, door: Door, asked: LoginRequest
) -> LoginAnswer:
    """Begin a session; the cookie is set, and is sent back over the same kind of line only."""
    require_private_line(request)
    session_s = door.settings.console.session_s
    session = await asyncio.to_thread(
        users.login,
        door.db,
        asked.name,
        asked.password,
        door.now_ms(),
        session_s=session_s,
        address=_address(request),
        forwarded_for=request.headers.get("x-forwarded-for", ""),
    )
    tls = _is_tls(request)
    response.set_cookie(
        COOKIES[tls],
        session.token,
        max_age=round(session_s),
        path="/",
        secure=tls,
        httponly=True,
        samesite="strict",
    )
    return LoginAnswer(
        name=session.user,
        role=session.role,
        expires_ms=session.expires_ms,
        csrf_token=csrf_of(session.token),
    )


@router.post("/logout")
async def logout(request: Request, response: Response, door: Door, _: Viewer) -> dict[str, bool]:
    """End the session."""
    token = session_token(request)
    if token:
        await asyncio.to_thread(users.logout, door.db, hash_of_key(token), door.now_ms())
    for name in COOKIES.values():
        response.delete_cookie(name, path="/")
    return {"done": True}


@router.post("/password", status_code=204)
async def change_password(
    request: Request, door: Door, asks: Person, asked: ChangedPassword
) -> None:
    """Set one's own password; all other sessions of the person end."""
    await asyncio.to_thread(
        change_own_password,
        door.db,
        asks,
        hash_of_key(session_token(request)),
        asked.old,
        asked.new,
        asks.actor(str(request.state.request_id)),
        door.now_ms(),
        address=_address(request),
        forwarded_for=request.headers.get("x-forwarded-for", ""),
    )


@router.get("/session")
async def session(actor: Viewer) -> Myself:
    """Say who asks."""
    return Myself(kind=actor.kind, name=actor.name)


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else "-"


def _is_tls(request: Request) -> bool:
    return bool(request.state.line.is_tls)
