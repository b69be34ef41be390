"""Authentication of agents, and the parts of the manager that their routes reach.

Invariant: an agent is identified by its key, and a key counts only on a connection that no third
party can read. A name in a request never identifies the caller; it must merely agree.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Final

from fastapi import Depends, Query, Request, Security
from fastapi.security import HTTPBearer

from manager.agent_api.keys import Keys
from manager.agent_api.syncs import Syncs
from manager.agent_api.uploads import Uploads
from manager.db import Database
from manager.errors import (
    ForbiddenError,
    ForeignInstallationError,
    PrsmError,
    UnknownKeyError,
)
from manager.intake.logs.log_intake import LogIntake
from manager.intake.messages.discovery_intake import DiscoveredIntake
from manager.intake.messages.messages import MessageDesk
from manager.intake.uploads.uploads import UploadDesk
from manager.operations.identity.enrolment import AgentIdentity, knows_agents
from manager.operations.people.login_gate import RefusalHold
from manager.operations.people.login_throttle import source_of
from manager.operations.policy import Policy
from manager.operations.request_senders import work_for
from manager.operations.transport import require_private
from manager.settings import LimitSettings
from manager.store import Bundles, ListFiles, Rejected, Spool
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.installation import HEADER, read_installation
from shared.wire.names import check_agent_name, hash_of_key

__all__ = [
    "KEY",
    "Agent",
    "AgentServices",
    "Services",
    "hold_refusal",
    "known_agent",
    "refusal",
    "require_private_line",
    "services_of",
    "shown_key_hash",
    "unknown_key",
]

KEY_LIMIT: Final = 1000
KEY: Final = HTTPBearer(
    auto_error=False,
    scheme_name="agent-key",
    description="The key that an agent made for itself when it joined.",
)
"""What OpenAPI says of the key; `shown_key_hash` reads it."""


@frozen
class AgentServices:
    """Dependencies of the routes for agents."""

    db: Database
    policy: Policy
    limits: LimitSettings
    spool: Spool
    rejected: Rejected
    lists: ListFiles
    logs: LogIntake
    discovered: DiscoveredIntake
    messages: MessageDesk
    uploads: Uploads
    keys: Keys
    syncs: Syncs
    desk: UploadDesk
    now_ms: Callable[[], int]
    bundles: Bundles
    hold: RefusalHold
    installation: str


async def services_of(request: Request) -> AgentServices:
    """Return what the application was put together with."""
    services = request.app.state.agent_services
    assert isinstance(services, AgentServices)
    return services


Services = Annotated[AgentServices, Depends(services_of)]


def require_private_line(request: Request) -> None:
    """Refuse secrets on a line that others can read."""
    require_private(request.state.line, Message("connection.keys_need_tls"))


def shown_key_hash(request: Request) -> str:
    """Return the hash of the key that a request carries; raises UnknownKeyError, ForbiddenError."""
    require_private_line(request)
    _refuse_foreign(request)
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key:
        raise UnknownKeyError("fleet.key_missing")
    if len(key) > KEY_LIMIT:
        raise unknown_key()
    return hash_of_key(key)


async def hold_refusal(request: Request) -> None:
    """Delay answers to senders of many wrong keys."""
    services = await services_of(request)
    await services.hold.refused(source_of(request.state.line.client), services.now_ms())


def _refuse_foreign(request: Request) -> None:
    """Raise ForeignInstallationError for an agent that shows another installation's id."""
    shown = request.headers.get(HEADER)
    own = request.app.state.agent_services.installation
    if shown is not None and read_installation(shown) != own:
        raise ForeignInstallationError(
            Message("identity.other_installation", own=own, other=shown[:80])
        )


async def refusal(request: Request) -> PrsmError:
    """Return the error for an unknown key; a sender of many unknown keys waits for it.

    If the database has no agent at all, it is new: the agent belongs to another installation.
    """
    services = await services_of(request)
    if await asyncio.to_thread(knows_agents, services.db):
        await hold_refusal(request)
        return unknown_key()
    return ForeignInstallationError(Message("identity.knows_no_agent", own=services.installation))


def unknown_key() -> UnknownKeyError:
    """Return the error for a key that no agent has."""
    return UnknownKeyError("fleet.key_unknown")


async def _agent_of(
    request: Request,
    _: Annotated[object, Security(KEY)],
    host: Annotated[str | None, Query(description="the agent's name; it must be the key's")] = None,
) -> AgentIdentity:
    """The agent whose key the request carries as `Authorization: Bearer KEY`."""
    services = await services_of(request)
    known = await services.keys.agent_of_key(shown_key_hash(request))
    if known is None:
        raise await refusal(request)
    if host is not None and check_agent_name(host) != known.name:
        raise ForbiddenError("fleet.key_of_other_agent", name=host[:253], agent=known.name)
    work_for(f"agent {known.id}")
    return known


Agent = Annotated[AgentIdentity, Depends(_agent_of)]


async def known_agent(request: Request) -> int:
    """Return the number of the agent whose key a request carries. Raises as a route does."""
    return (await _agent_of(request, None)).id
