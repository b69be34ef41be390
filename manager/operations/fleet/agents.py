"""Agents, as people look at them and act on them.

Liveness comes with its reason (`manager.assignment.liveness`). Commands reach our agents
with their next sync and are acknowledged by id; a plain agent knows only RESTART.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from manager.assignment.liveness import Liveness
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentName, AgentRow
from manager.db.identity import join_tokens
from manager.db.identity.join_tokens import JoinTokenRow
from manager.db.ownership import assignments, rights
from manager.db.ownership.rights import RightCount
from manager.db.planning import probes
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.fleet.takeover import IDLE, AgentWork, liveness_of
from manager.operations.identity.enrolment import agent_named
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message
from shared.wire.sync import RenamedSetting

__all__ = [
    "AgentDetail",
    "AgentName",
    "AgentRow",
    "AgentView",
    "CommandName",
    "agent_detail",
    "agent_views",
    "check_hears_of_pages",
    "list_agents",
    "list_join_tokens",
    "named_agents",
    "names_taking_part",
    "order_command",
    "renamed_settings_of",
    "retire",
    "set_next_list_limit",
    "work_by_agent",
    "work_of",
]

CommandName = Literal["restart", "drain", "pause", "resume", "update"]
COMMANDS: Final = ("restart", "drain", "pause", "resume", "update")
LIST_LIMIT_MOST: Final = 1_000_000
PAGES_TOO: Final = "confirmed"
"""The argument by which a restart deletes the pages, too (design 3, RESTART)."""


@frozen
class AgentView:
    """An agent as the table shows it: the row, how it is and why, what it owns and may fetch."""

    row: AgentRow
    liveness: Liveness
    units_owned: int
    crawl_rights: int
    probe_rights: int


@frozen
class AgentDetail:
    """An agent with its last counters (as the sync model names them) and open orders."""

    view: AgentView
    counters: dict[str, Any]
    orders: dict[str, int]


def list_agents(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> list[AgentView]:
    """Return all agents by name, retired ones last; how many units they have may be kept."""
    with db.read() as tx:
        rows = agents.all_agents(tx)
    work = work_by_agent(db)
    views = [_view(row, work.get(row.id, IDLE), now_ms, policy) for row in rows]
    return sorted(views, key=lambda view: (view.row.retired_ms is not None, view.row.name))


def agent_views(
    db: Database, agent_ids: Sequence[int], now_ms: int, policy: Policy = DEFAULT_POLICY
) -> list[AgentView]:
    """Return some agents by their numbers, in this order; otherwise as `list_agents`."""
    with db.read() as tx:
        rows = agents.by_ids(tx, agent_ids)
    work = work_by_agent(db)
    found = [rows[agent] for agent in agent_ids if agent in rows]
    return [_view(row, work.get(row.id, IDLE), now_ms, policy) for row in found]


def named_agents(db: Database) -> list[AgentName]:
    """Return all agents by name, retired ones too, with no more than lists of names need."""
    with db.read() as tx:
        return agents.named(tx)


def names_taking_part(db: Database) -> list[str]:
    """Return the names of the agents that get work, in order."""
    return [one.name for one in named_agents(db) if one.takes_part]


def work_by_agent(db: Database) -> dict[int, AgentWork]:
    """Return the work of all agents that have any, by number; kept."""
    return db.figure("work by agent", _work_by_agent)


def _work_by_agent(tx: Transaction) -> dict[int, AgentWork]:
    owned = assignments.count_by_agent(tx)
    waiting = probes.waiting_by_agent(tx)
    held: dict[int, list[RightCount]] = {}
    for one in rights.held_by_agent(tx):
        held.setdefault(one.agent_id, []).append(one)
    return {
        agent: work_of(owned.get(agent, 0), held.get(agent, ()), waiting.get(agent, 0))
        for agent in owned.keys() | held.keys() | waiting.keys()
    }


def work_of(owned: int, held: Iterable[RightCount], waiting: int) -> AgentWork:
    """Return the work of one agent."""
    rights_of = {one.kind: one.rights for one in held}
    return AgentWork(
        owned=owned,
        crawls=rights_of.get("crawl", 0),
        probes=rights_of.get("probe", 0),
        probes_waiting=waiting,
        since_ms=min((one.since_ms for one in held if one.kind != "refetch"), default=None),
    )


def agent_detail(
    db: Database, name: str, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> AgentDetail:
    """Return one agent. Raises NotFoundError."""
    with db.read() as tx:
        row = agent_named(tx, name)
        owned, held = assignments.count_of(tx, row.id), rights.held_of(tx, row.id)
        orders = probes.counts_of_agent(tx, row.id)
        work = work_of(owned, held, probes.waiting_of(tx, row.id))
        view = _view(row, work, now_ms, policy)
    return AgentDetail(view, json.loads(row.counters or "{}"), orders)


def list_join_tokens(db: Database, now_ms: int) -> list[JoinTokenRow]:
    """Return the join tokens that may still be used, by agent; never the tokens themselves."""
    with db.read() as tx:
        return join_tokens.waiting(tx, now_ms)


def retire(db: Database, name: str, actor: Actor, now_ms: int) -> None:
    """Retire an agent: it gets no list and no permit; its units go to others.

    What it may fetch now ends with its permit. Its data stays; a new join token brings it back.
    Raises NotFoundError; an agent that is already retired stays unchanged.
    """
    with db.write() as tx:
        row = agent_named(tx, name)
        if row.retired_ms is not None:
            return
        agents.update(tx, row.id, retired_ms=now_ms, command_id="", restart_ordered_ms=None)
        rights.withdraw(tx, now_ms, Message("ownership.owner_retired"), agent_id=row.id)
        note(tx, now_ms, actor, "agent.retire", name)


def order_command(
    db: Database, name: str, command: str, actor: Actor, now_ms: int, *, pages: bool = False
) -> str:
    """Order an agent to restart, drain, pause, resume or update; return the id it will acknowledge.

    pages: a restart deletes all pages on the agent's disk as well, also those that the centre has
    not taken. A new command replaces one that was not carried out. Raises NotFoundError,
    FormatError (an unknown command; pages of another than restart), ConflictError (a plain agent
    can only restart, and is not told about pages; it was retired).
    """
    if command not in COMMANDS:
        raise FormatError("fleet.unknown_command", command=command[:40], commands=COMMANDS)
    if pages and command != "restart":
        raise FormatError("fleet.pages_not_restart", command=command)
    argument = PAGES_TOO if pages else ""
    command_id = secrets.token_hex(8)
    with db.write() as tx:
        row = agent_named(tx, name)
        if row.retired_ms is not None:
            raise ConflictError("fleet.retired_no_commands", name=name)
        if row.is_plain and command != "restart":
            raise ConflictError("fleet.plain_only_restarts", name=name)
        if pages:
            check_hears_of_pages(row)
        if command == "restart":
            agents.update(tx, row.id, restart_ordered_ms=now_ms)
        if not row.is_plain:
            agents.update(
                tx,
                row.id,
                command_id=command_id,
                command=command,
                command_argument=argument,
                command_ordered_ms=now_ms,
                command_done_ms=None,
            )
        about = {"pages": True} if pages else {}
        note(tx, now_ms, actor, "agent.command", name, command=command, **about)
    return command_id


def check_hears_of_pages(row: AgentRow) -> None:
    """Raise ConflictError where an agent cannot be told that a restart deletes pages, too."""
    if row.is_plain:
        raise ConflictError("fleet.plain_deletes_no_pages", name=row.name)


def set_next_list_limit(
    db: Database,
    name: str,
    pages: int | None,
    actor: Actor,
    now_ms: int,
    *,
    shown: int | None = None,
) -> None:
    """Set how many pages of each unit an agent's next list allows: 50, or 0 for all of them.

    None: no order, which is all. It holds for one list. Source: seed 004, 5.1.6, the
    page that says whether the next list is limited to 50 pages. shown: the limit that the person
    saw, 0 for all. Raises NotFoundError, FormatError, ConflictError (the limit is not the shown
    one).
    """
    if pages is not None and not 0 <= pages <= LIST_LIMIT_MOST:
        raise FormatError("fleet.list_limit_range", pages=pages, most=LIST_LIMIT_MOST)
    with db.write() as tx:
        row = agent_named(tx, name)
        if shown is not None and shown != (row.list_limit or 0):
            raise ConflictError("general.changed_meanwhile", names=(name,))
        agents.update(tx, row.id, list_limit=pages)
        rights.set_limit(tx, row.id, pages or 0)
        note(tx, now_ms, actor, "agent.set-list-limit", name, pages=pages)


def _view(row: AgentRow, work: AgentWork, now_ms: int, policy: Policy) -> AgentView:
    how = liveness_of(row, work, now_ms, policy)
    return AgentView(
        row=row,
        liveness=how,
        units_owned=work.owned,
        crawl_rights=work.crawls,
        probe_rights=work.probes,
    )


def renamed_settings_of(row: AgentRow) -> list[RenamedSetting]:
    """Return the settings that an agent's site gives by old names, as it said last."""
    said = json.loads(row.renamed_settings or "[]")
    return [RenamedSetting(**one) for one in said]
