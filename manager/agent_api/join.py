"""Routes by which an agent joins and changes its key."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from manager.agent_api.authentication import (
    Agent,
    Services,
    hold_refusal,
    require_private_line,
)
from manager.errors import ForbiddenError, UnknownKeyError
from manager.operations.identity.enrolment import enrol, replace_key
from manager.operations.people.passwords import told
from shared.wire.positions import read_position
from shared.wire.sync import AgentName

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["agents' own"])
KeyHash = Annotated[
    str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the key, hexadecimal")
]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Position(_Message):
    """Position of the agent in degrees, north and east positive."""

    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


class EnrolRequest(_Message):
    """A join token and the hash of the key that the agent made for itself."""

    agent: AgentName
    token: Annotated[str, Field(min_length=1, max_length=200)]
    key_hash: KeyHash
    kind: Literal["sync", "plain"] = "sync"
    position: Position | None = None


class EnrolAnswer(_Message):
    """repeated: the same token and key were accepted before; nothing was changed."""

    agent: AgentName
    repeated: bool


class KeyRequest(_Message):
    """The hash of a new key; the request itself carries the old one."""

    key_hash: KeyHash


@router.post("/enrol")
async def join(request: Request, services: Services, asked: EnrolRequest) -> EnrolAnswer:
    """Join with a one-time token. The same token and key again succeed: the answer may be lost."""
    require_private_line(request)
    said = asked.position
    position = None if said is None else read_position(said.latitude, said.longitude)
    client = request.state.line.client
    try:
        with told("join", asked.agent, client):
            enrolled = await asyncio.to_thread(
                enrol, services.db, asked.agent, asked.token, asked.key_hash, services.now_ms(),
                asked.kind, position, client,
            )  # fmt: skip
    except (UnknownKeyError, ForbiddenError):
        await hold_refusal(request)
        raise
    return EnrolAnswer(agent=enrolled.agent.name, repeated=enrolled.repeated)


@router.post("/key")
async def change_key(services: Services, agent: Agent, asked: KeyRequest) -> EnrolAnswer:
    """Replace the key of the agent whose old key is shown."""
    await asyncio.to_thread(replace_key, services.db, agent, asked.key_hash, services.now_ms())
    return EnrolAnswer(agent=agent.name, repeated=False)
