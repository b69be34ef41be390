"""The five messages of the source, as docs/protocol.md describes them for implementers.

Thin: read the request, call one operation, answer. Bodies are streamed both ways; answers that a
person might read are one sentence of plain text.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, BinaryIO, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from manager.agent_api.authentication import Agent, Services
from manager.agent_api.streams import OpenFile
from manager.errors import SlowDownError
from manager.intake.body_receiver import DISCOVERED_LIST, declared_bytes, keep_refused, receive
from manager.intake.client_disconnect import while_connected
from manager.operations.fleet import contact
from manager.operations.fleet.server_lists import current_list
from manager.operations.hosts.discoveries import Recorded
from manager.operations.identity.enrolment import AgentIdentity
from shared.messages import Message

__all__ = ["router"]

DAY_MS: Final = 86_400_000
REFUSALS_SHOWN: Final = 100

ANY_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {}, "application/gzip": {}, "*/*": {}},
    }
}
"""What OpenAPI says of M2 and M3: the gzip is the body itself, whatever its type is called."""

router: Final = APIRouter(tags=["the five messages"], default_response_class=PlainTextResponse)
Host = Annotated[str, Query(description="the name of the agent whose key is shown")]


@router.get(
    "/servlets/list",
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}, "description": "gzip of the list"}},
)
async def server_list(services: Services, agent: Agent, host: Host) -> Response:
    """M1: gzip of the agent's server list."""
    return OpenFile(await asyncio.to_thread(_open_list, services, agent), "application/gzip")


def _open_list(services: Services, agent: AgentIdentity) -> BinaryIO:
    version = current_list(services.db, agent, services.now_ms(), services.policy)
    made = services.lists.open(agent.id, version.generation)
    return made or services.lists.write(agent.id, version.generation, version.lines)


@router.post("/servlets/record", openapi_extra=ANY_BODY)
async def record(request: Request, services: Services, agent: Agent) -> str:
    """M2: gzip of hosts that the agent found."""
    size_bytes = declared_bytes(request)
    with services.uploads.one(agent.id, size_bytes):
        body = await receive(
            request.stream(),
            services.spool,
            DISCOVERED_LIST,
            limit_bytes=services.limits.discovered_bytes,
            declared_bytes=size_bytes,
            limits=services.limits,
        )
        now_ms = services.now_ms()
        async with keep_refused(
            services.rejected, body, agent.id, DISCOVERED_LIST, services.now_ms
        ):
            await asyncio.to_thread(
                contact.note_message, services.db, agent, "record", now_ms, services.policy
            )
            recorded = await while_connected(request, services.discovered.enter(agent, body))
    if recorded.over_limit:
        wait_s = (DAY_MS - now_ms % DAY_MS) // 1000 + 1
        raise SlowDownError(
            "fleet.discoveries_over_limit",
            wait_s,
            over=recorded.over_limit,
            most=services.policy.discoveries_per_day,
            wait_s=wait_s,
        )
    return _told(recorded)


def _told(recorded: Recorded) -> str:
    accepted = Message(
        "fleet.discovered_accepted",
        new=recorded.new,
        start_pages=recorded.start_pages,
        known=recorded.known,
        refused=recorded.refused_count,
    )
    refused = [
        Message("fleet.refused_line", line=one.line, why=one.reason, code=one.code)
        for one in recorded.refused_lines[:REFUSALS_SHOWN]
    ]
    return "".join(f"{one}\n" for one in (accepted, *refused))


@router.post("/servlets/submitlog", openapi_extra=ANY_BODY)
async def submit_log(request: Request, services: Services, agent: Agent) -> str:
    """M3: the name of a crawl log, LF, and gzip of its lines."""
    size_bytes = declared_bytes(request)
    with services.uploads.one(agent.id, size_bytes):
        body = await services.logs.receive(request.stream(), size_bytes)
        receipt = await while_connected(request, services.logs.enter(agent, body))
    log, lines, foreign = receipt.name, receipt.lines, receipt.quarantined
    if receipt.repeated:
        said = Message("fleet.log_repeated", log=log)
    elif foreign:
        said = Message("fleet.log_accepted_foreign", log=log, lines=lines, foreign=foreign)
    else:
        said = Message("fleet.log_accepted", log=log, lines=lines)
    return f"{said}\n"


@router.get("/servlets/isrestart")
async def is_restart(services: Services, agent: Agent, host: Host) -> str:
    """M4: answer whether the agent must drop everything and fetch the list again."""
    ordered = await asyncio.to_thread(
        contact.is_restart, services.db, agent, services.now_ms(), services.policy
    )
    return "RESTART\n" if ordered else "CONTINUE\n"


@router.get("/servlets/subscribe")
async def subscribe(services: Services, agent: Agent, host: Host) -> str:
    """M5: take part."""
    await asyncio.to_thread(
        contact.subscribe, services.db, agent, services.now_ms(), services.policy
    )
    said = Message("fleet.subscribed_answer", name=agent.name)
    return f"{said}\n"


@router.get("/servlets/unsubscribe")
async def unsubscribe(services: Services, agent: Agent, host: Host) -> str:
    """M5: leave; the agent's units are given to others."""
    await asyncio.to_thread(
        contact.unsubscribe, services.db, agent, services.now_ms(), services.policy
    )
    said = Message("fleet.left_answer", name=agent.name)
    return f"{said}\n"


@router.get("/servlets/listrobot", response_class=RedirectResponse)
async def list_robot() -> str:
    """Redirect people to the agents' page, at the address of the source's table of robots."""
    return "/console/agents"


@router.get("/servlets/restart", response_class=RedirectResponse)
async def restart() -> str:
    """Lead people to where agents are restarted."""
    return "/console/restart"
