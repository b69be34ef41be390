"""Tokens for scripts: made by people, shown once, revoked at any time."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Request
from pydantic import BaseModel, Field

from manager.api.access import Person, Services, actor_at
from manager.api.routes import subject_router
from manager.operations.people import api_tokens
from manager.operations.people.api_tokens import MOST_DAYS, NewToken, TokenRow
from manager.operations.people.users import Role

__all__ = ["router"]

router: Final = subject_router("tokens", "/tokens")


class AskedToken(BaseModel):
    """A token of a role that is at most one's own. user: whose, from this machine only."""

    name: Annotated[str, Field(max_length=64, description="letters, digits and . _ -")]
    role: Role = "viewer"
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 90
    user: Annotated[str, Field(max_length=64)] = ""


@router.get("")
def list_tokens(services: Services, asks: Person) -> list[TokenRow]:
    """List one's own tokens, or everybody's to an administrator; never the tokens themselves."""
    return api_tokens.list_tokens(services.db, asks)


@router.post("", status_code=201)
def make_token(request: Request, services: Services, asks: Person, asked: AskedToken) -> NewToken:
    """Make a token; the answer shows it, this once. A token cannot make one."""
    return api_tokens.make_token(
        services.db,
        asks,
        asked.name,
        asked.role,
        asked.days,
        actor_at(request, asks),
        services.now_ms(),
        user=asked.user,
    )


@router.post("/{number}/revoke", status_code=204)
def revoke_token(request: Request, services: Services, asks: Person, number: int) -> None:
    """End a token at once."""
    actor = actor_at(request, asks)
    api_tokens.revoke_token(services.db, asks, number, actor, services.now_ms())
