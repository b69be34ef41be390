"""Agents: how they are, what is ordered of them, and how new ones join."""

from __future__ import annotations

import shutil
from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from manager.api.access import Admin, Operator, Services, Viewer
from manager.api.routes import subject_router
from manager.assignment.liveness import LivenessState
from manager.message_fields import message_fields
from manager.operations.fleet import agents
from manager.operations.fleet.agents import (
    AgentRow,
    AgentView,
    CommandName,
    renamed_settings_of,
)
from manager.operations.identity.agent_positions import set_position
from manager.operations.identity.enrolment import JoinToken, issue_join_token, revoke_join_token
from manager.operations.logs import capture_checks
from manager.operations.logs.capture_checks import CaptureCheck
from manager.operations.measurement.claim_review import believe_agent
from manager.operations.measurement.claims import Evidence, Fault, doubts_of
from manager.operations.measurement.refetch_results import Refetches, refetches_of
from manager.operations.segments.sending_limits import limits_for_agent, limits_message
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.positions import read_position
from shared.wire.sync import RenamedSetting, SendingLimits

__all__ = ["router"]

router: Final = subject_router("agents")


class DoubtAnswer(BaseModel):
    """A fault of an agent's claims, which are kept and move nothing while it is doubted."""

    model_config = ConfigDict(from_attributes=True)

    fault: Annotated[Fault, Field(description="what is wrong")]
    factor: Annotated[float, Field(description="claimed over expected; 1: some units, not a scale")]
    units: Annotated[int, Field(description="compared")]
    evidence: Annotated[Evidence, Field(description="what they were compared with")]


@message_fields
@frozen
class AgentAnswer:
    """One agent. Times are epoch milliseconds by the manager's clock; none: it never happened."""

    name: str
    kind: str
    state: Annotated[str, Field(description=", ".join(LivenessState))]
    reason: Message
    state_until_ms: int | None
    attention: Annotated[bool, Field(description="an administrator should look")]
    units_owned: int
    crawl_rights: int
    probe_rights: int
    subscribed: bool
    joined_ms: int
    retired_ms: int | None
    last_contact_ms: int | None
    last_contact: str
    last_work_ms: int | None
    promised_ms: int | None
    version: str
    said_state: Annotated[str, Field(description="what it says of itself")]
    said_reason: Message | None
    skew_ms: int
    disk_free_bytes: int | None
    reports_waiting: int
    round_held: int
    generation: int
    generation_held: int
    list_sent_ms: int | None
    list_limit: Annotated[
        int | None, Field(description="pages a unit of its next list; 0: all, none: no order")
    ]
    permit_until_ms: int
    restart_ordered_ms: int | None
    restart_handled_ms: int | None
    restart_asked_ms: int | None
    command: str
    command_argument: str
    command_ordered_ms: int | None
    command_done_ms: int | None
    clone_reason: Message | None
    suspect_since_ms: int | None
    suspect_reason: Message | None
    doubted: Annotated[
        list[DoubtAnswer], Field(description="why its claims do not count now; empty: they do")
    ]
    refetches: Annotated[bool, Field(description="it fetches pages again when it is ordered to")]
    refetch_round: int
    refetch_compared: Annotated[
        int, Field(description="of its pages in that round, fetched again by others")
    ]
    refetch_contradicted: int
    update_result: Message | None
    renamed_settings: Annotated[
        list[RenamedSetting],
        Field(description="settings that its site gives by old names; a later release refuses"),
    ]
    sending: Annotated[
        SendingLimits | None,
        Field(description="how it may send segments; none: as its site says"),
    ]
    sending_said: Message
    latitude: Annotated[float | None, Field(description="degrees; none: not known")]
    longitude: float | None


_SHOWN_OF_ROW: Final = AgentAnswer.__dataclass_fields__.keys() & AgentRow.__dataclass_fields__
"""Fields that are shown as the row has them. The row has more: its key's hash is never shown."""


class AgentDetailAnswer(BaseModel):
    """One agent with the counters of its last sync and its probe orders by state."""

    agent: AgentAnswer
    counters: dict[str, Any]
    orders: dict[str, int]


class WaitingToken(BaseModel):
    """A join token that was made and not used yet."""

    agent: str
    issued_by: str
    issued_ms: int
    expires_ms: int


class NewCommand(BaseModel):
    """restart: drop everything and fetch the list again; drain: stop fetching, report, and leave
    the units to others, until resumed; pause and resume: stop fetching for a while; update: check
    for a release now."""

    model_config = ConfigDict(extra="forbid")

    command: CommandName
    pages: Annotated[
        bool,
        Field(description="a restart deletes all pages on the agent's disk, delivered or not"),
    ] = False


class Ordered(BaseModel):
    """The id by which the agent will acknowledge the command."""

    command_id: str


class ListLimit(BaseModel):
    """pages: of each unit on the agent's next list; 0: all; none: no order."""

    pages: int | None


class NewPosition(BaseModel):
    """Position of an agent in degrees, for the map."""

    latitude: float
    longitude: float


@router.get("/agents")
def list_agents(services: Services, _: Viewer) -> list[AgentAnswer]:
    """List all agents by name, retired ones last."""
    views = agents.list_agents(services.db, services.now_ms(), services.policy)
    return [_answer(view) for view in views]


@router.get("/join-tokens")
def waiting_tokens(services: Services, _: Admin) -> list[WaitingToken]:
    """List the join tokens that may still be used; never the tokens themselves."""
    rows = agents.list_join_tokens(services.db, services.now_ms())
    return [WaitingToken.model_validate(row, from_attributes=True) for row in rows]


@router.get("/agents/{name}")
def agent_detail(services: Services, _: Viewer, name: str) -> AgentDetailAnswer:
    """Show one agent."""
    detail = agents.agent_detail(services.db, name, services.now_ms(), services.policy)
    return AgentDetailAnswer(
        agent=_answer(detail.view), counters=detail.counters, orders=detail.orders
    )


@router.post("/agents/{name}/token", status_code=201)
def join_token(services: Services, actor: Admin, name: str) -> JoinToken:
    """Make a one-time token with which the machine of this name may join, or change its key."""
    return issue_join_token(
        services.db, name, actor, services.now_ms(), services.policy.join_token_s
    )


@router.post("/agents/{name}/token/revoke", status_code=204)
def revoke_token(services: Services, actor: Admin, name: str) -> None:
    """Revoke the unused join token of this name."""
    revoke_join_token(services.db, name, actor, services.now_ms())


@router.post("/agents/{name}/retire", status_code=204)
def retire(services: Services, actor: Admin, name: str) -> None:
    """Retire an agent permanently; its units go to others, its data stays."""
    agents.retire(services.db, name, actor, services.now_ms())


@router.post("/agents/{name}/command")
def order_command(services: Services, actor: Operator, name: str, asked: NewCommand) -> Ordered:
    """Order an agent to restart, drain, pause, resume or update."""
    command_id = agents.order_command(
        services.db, name, asked.command, actor, services.now_ms(), pages=asked.pages
    )
    return Ordered(command_id=command_id)


@router.post("/agents/{name}/believe", status_code=204)
def believe(services: Services, actor: Operator, name: str) -> None:
    """Take all that an agent has claimed as true; later claims are judged by that."""
    believe_agent(services.db, name, actor, services.now_ms())


@router.post("/agents/{name}/compare")
def compare(
    services: Services,
    actor: Operator,
    name: str,
    share: Annotated[float, Query(gt=0, le=1, description="of the pages, drawn by chance")] = 1.0,
) -> CaptureCheck:
    """Compare what an agent logged with what others logged of the same pages.

    Nothing is fetched. A suspect is an alert in the audit.
    """
    with services.scratch.turn() as place:
        found = capture_checks.check_captures(
            services.db, name, place, actor, services.now_ms(), share, services.policy
        )
        shutil.rmtree(place.folder, ignore_errors=True)
    return found


@router.get("/agents/{name}/refetches")
def refetches(services: Services, _: Viewer, name: str) -> Refetches:
    """Show what other agents saw of an agent's pages, and it of theirs, in the newest round."""
    return refetches_of(services.db, name)


@router.post("/agents/{name}/list-limit", status_code=204)
def set_list_limit(services: Services, actor: Operator, name: str, asked: ListLimit) -> None:
    """Set how many pages of each unit the agent's next list allows."""
    agents.set_next_list_limit(services.db, name, asked.pages, actor, services.now_ms())


@router.post("/agents/{name}/position", status_code=204)
def position(
    services: Services, actor: Operator, name: str, asked: NewPosition | None = None
) -> None:
    """Set the position of an agent; without a body: unknown."""
    place = None if asked is None else read_position(asked.latitude, asked.longitude)
    set_position(services.db, name, place, actor, services.now_ms())


def _answer(view: AgentView) -> AgentAnswer:
    row, liveness = view.row, view.liveness
    shown: dict[str, Any] = {name: getattr(row, name) for name in _SHOWN_OF_ROW}
    computed: dict[str, Any] = {
        "state": liveness.state.value,
        "reason": liveness.reason,
        "state_until_ms": liveness.until_ms,
        "attention": liveness.attention,
        "said_state": row.state,
        "said_reason": row.state_reason,
        "units_owned": view.units_owned,
        "crawl_rights": view.crawl_rights,
        "probe_rights": view.probe_rights,
        "doubted": [DoubtAnswer.model_validate(one) for one in doubts_of(row)],
        "renamed_settings": renamed_settings_of(row),
        "sending": limits_for_agent(row),
        "sending_said": limits_message(limits_for_agent(row)),
    }
    return AgentAnswer(**shown | computed)
