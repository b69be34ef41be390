"""Users: who may see and change what."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from manager.api.access import Admin, Services
from manager.api.routes import subject_router
from manager.operations.people import sessions, users
from manager.operations.people.sessions import OpenSession
from manager.operations.people.users import PasswordSet, Role, User

__all__ = ["router"]

router: Final = subject_router("users", "/users")
Password = Annotated[str, Field(max_length=1024)]


class NewUser(BaseModel):
    """A person who may log in from now on."""

    name: Annotated[str, Field(max_length=64)]
    password: Password
    role: Role = "viewer"


class NewPassword(BaseModel):
    """A password; all sessions of its user end. tokens: those of the user's scripts, too."""

    password: Password
    tokens: bool = False


class NewRole(BaseModel):
    """Role of a user."""

    model_config = ConfigDict(extra="forbid")

    role: Role


class WhichSession(BaseModel):
    """A session by its id; empty: all of the user."""

    session: Annotated[str, Field(max_length=64)] = ""


class Ended(BaseModel):
    """Number of ended sessions."""

    ended: int


@router.get("")
def list_users(services: Services, _: Admin) -> list[User]:
    """List all users by name."""
    return users.list_users(services.db)


@router.post("", status_code=201)
def add_user(services: Services, actor: Admin, asked: NewUser) -> User:
    """Add a user."""
    return users.add_user(
        services.db, asked.name, asked.password, asked.role, actor, services.now_ms()
    )


@router.post("/{name}/password")
def change_password(services: Services, actor: Admin, name: str, asked: NewPassword) -> PasswordSet:
    """Set a user's password; return how many tokens of the user's scripts ended and remain."""
    return users.change_password(
        services.db, name, asked.password, actor, services.now_ms(), tokens=asked.tokens
    )


@router.post("/{name}/role", status_code=204)
def set_role(services: Services, actor: Admin, name: str, asked: NewRole) -> None:
    """Set what a user may do; who is disabled stays so."""
    users.set_role(services.db, name, asked.role, actor, services.now_ms())


@router.post("/{name}/disable", status_code=204)
def disable(services: Services, actor: Admin, name: str) -> None:
    """Keep a user out: all sessions end, and no token of the user opens anything."""
    users.set_user_disabled(services.db, name, actor, services.now_ms(), disabled=True)


@router.post("/{name}/enable", status_code=204)
def enable(services: Services, actor: Admin, name: str) -> None:
    """Enable a user again."""
    users.set_user_disabled(services.db, name, actor, services.now_ms(), disabled=False)


@router.get("/{name}/sessions")
def list_sessions(services: Services, _: Admin, name: str) -> list[OpenSession]:
    """List where a user is logged in."""
    return sessions.list_sessions(services.db, name, services.now_ms())


@router.post("/{name}/sessions/end")
def end_sessions(services: Services, actor: Admin, name: str, asked: WhichSession) -> Ended:
    """Log a user out: of one session, or everywhere."""
    ended = sessions.end_sessions(services.db, name, actor, services.now_ms(), asked.session)
    return Ended(ended=ended)
