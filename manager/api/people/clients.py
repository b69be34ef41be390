"""Third parties: register, disable, issue and revoke tokens."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from manager.api.access import Admin, Services, Viewer
from manager.api.routes import subject_router
from manager.operations.people import clients
from manager.operations.people.clients import SCOPES, ClientDetail, IssuedToken

__all__ = ["router"]

router: Final = subject_router("clients", "/clients")
Words = Annotated[str, Field(max_length=500)]


class NewClient(BaseModel):
    """A third party who may take captures."""

    name: Annotated[str, Field(max_length=64)]
    contact: Words
    purpose: Words = ""


class NewToken(BaseModel):
    """Scopes and lifetime of a token."""

    scopes: list[str] = list(SCOPES)
    days: int = 365
    daily_bytes: Annotated[int, Field(description="0: no limit")] = 0
    requests_per_minute: int = 600


class Disable(BaseModel):
    """State of a third party: disabled or not."""

    disabled: bool = True


@router.get("")
def list_clients(services: Services, _: Viewer) -> list[ClientDetail]:
    """List all third parties with their tokens and what they took."""
    return clients.list_clients(services.db, services.now_ms())


@router.post("", status_code=201)
def register(services: Services, actor: Admin, asked: NewClient) -> ClientDetail:
    """Register a third party."""
    row = clients.register_client(
        services.db, asked.name, asked.contact, asked.purpose, actor, services.now_ms()
    )
    return ClientDetail(row, [], [])


@router.post("/{name}/tokens", status_code=201)
def issue(services: Services, actor: Admin, name: str, asked: NewToken) -> IssuedToken:
    """Issue a token; the answer is the only place where it is ever shown."""
    return clients.issue_token(
        services.db,
        name,
        actor,
        services.now_ms(),
        scopes=asked.scopes,
        days=asked.days,
        daily_bytes=asked.daily_bytes,
        requests_per_minute=asked.requests_per_minute,
    )


@router.post("/{name}/tokens/{token_id}/revoke", status_code=204)
def revoke(services: Services, actor: Admin, name: str, token_id: int) -> None:
    """End a token at once."""
    clients.revoke_token(services.db, name, token_id, actor, services.now_ms())


@router.post("/{name}/disable", status_code=204)
def disable(services: Services, actor: Admin, name: str, asked: Disable) -> None:
    """Disable a third party, or enable it again."""
    clients.set_client_disabled(
        services.db, name, actor, services.now_ms(), disabled=asked.disabled
    )
