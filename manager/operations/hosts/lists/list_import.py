"""Lists written by hand: each names an agent, and its units are pinned to that agent.

Lines are those of M1 or of a `random/` file of an export: a server or a URL that ends in `/`,
perhaps a tab and a referer; comments and empty lines mean nothing, but for `#Agent=NAME`, which
begins the list of an agent. Invariant: all lines of all lists are taken, or nothing changes.
Memory is about 200 bytes a unit; reading is streamed.
Source: seed 004, 5.1.2 (M1, what an operator writes) and 5.2.2 (the lists of `random/`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.ownership import pins
from manager.db.transaction import chunks
from manager.errors import NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.hosts.crawl_scope import rules_in_force
from manager.operations.hosts.lists.host_lines import Tally, batches, parsed, store
from manager.operations.hosts.lists.refused_lines import (
    REFUSALS_KEPT,
    LinesRefusedError,
    RefusedLine,
    refused_line,
)
from manager.operations.hosts.server_names import complete_unit, unit_named
from manager.operations.ownership.pins import pin_keys
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import ConflictError, FormatError, LineError, PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.urls import host_key

__all__ = ["ImportedLists", "ListText", "import_lists"]

AGENT: Final = "Agent="
SHOWN: Final = 20
REASON: Final = Message("ownership.in_imported_list")

ListText = tuple[int, str]
"""A line's number, from 1, and its text."""


@frozen
class ImportedLists:
    """Outcome of lists. agents: units by agent. new_hosts: how many were added.

    moved: units that changed hands at once; units without an owner go to their agents with the
    next plan.
    """

    agents: dict[str, int]
    units: int
    moved: int
    new_hosts: int


@dataclass(slots=True)
class _Refusals:
    """The first refused lines, and how many there are."""

    lines: list[RefusedLine] = field(default_factory=list)
    count: int = 0

    def add(self, agent: str, line: int, error: PrsmError, text: str = "") -> None:
        """Count a line that cannot be taken."""
        self.count += 1
        if len(self.lines) < REFUSALS_KEPT:
            self.lines.append(replace(refused_line(line, error, text), owner=agent))

    def check(self) -> None:
        """Raise LinesRefusedError where anything was refused."""
        if not self.count:
            return
        shown = [
            Message("hosts.line_of_agent", agent=one.owner, line=one.line, problem=one.reason)
            for one in self.lines[:SHOWN]
        ]
        if self.count > SHOWN:
            shown.append(Message("hosts.more_lines", number=self.count - SHOWN))
        message = Message("hosts.lines_refused", lines=self.count, shown=shown)
        raise LinesRefusedError(message, self.lines, self.count)


@frozen
class _ListEntry:
    agent: int
    line: int


def import_lists(
    db: Database,
    lines: Callable[[], Iterable[ListText]],
    actor: Actor,
    now_ms: int,
    *,
    add_hosts: bool = False,
    policy: Policy = DEFAULT_POLICY,
) -> ImportedLists:
    """Pin the units of lists to the agents that the lists name.

    lines: returns the lines again with each call. add_hosts: hosts that are not known are added,
    else their lines are refused. Raises LinesRefusedError with the agents, numbers and codes of
    lines that cannot be taken.
    """
    refusals = _Refusals()
    with db.write() as tx:
        fleet = {row.name: row for row in agents.all_agents(tx)}
        added = _add(tx, lines(), policy, now_ms) if add_hosts else 0
        wanted = _wanted(tx, _read(lines(), fleet, refusals), fleet, refusals)
        refusals.check()
        moved = _pin(tx, wanted, fleet, actor, now_ms, refusals)
        refusals.check()
        counts = Counter(entry.agent for entry in wanted.values())
        named = {row.name: counts[row.id] for row in fleet.values() if row.id in counts}
        note(
            tx, now_ms, actor, "server-list.import", "", agents=named, moved=moved, new_hosts=added
        )
    return ImportedLists(named, len(wanted), moved, added)


def _sections(lines: Iterable[ListText]) -> Iterator[tuple[str, int, str]]:
    """Yield (agent, number within its list, text) of lines that mean something; no text: a head."""
    agent, before = "", 0
    for number, text in lines:
        line = text.strip()
        if line.startswith("#" + AGENT):
            agent, before = line.removeprefix("#" + AGENT).strip(), number
            yield agent, 0, ""
        elif line and not line.startswith("#"):
            yield agent, number - before, line


def _read(
    lines: Iterable[ListText], fleet: dict[str, AgentRow], refusals: _Refusals
) -> Iterator[tuple[AgentRow, int, str]]:
    """Yield (agent, line, unit key); refuse lines that are no unit, a list without agent once."""
    owner: AgentRow | None = None
    nameless = False
    for agent, number, text in _sections(lines):
        if not text:
            owner = fleet.get(agent)
            if owner is None:
                unknown = NotFoundError("hosts.list_of_unknown_agent")
                refusals.add(ascii(agent[:80])[1:-1], number, unknown, agent)
            elif owner.retired_ms is not None:
                gone = ConflictError("hosts.list_of_retired_agent")
                refusals.add(agent, number, gone, agent)
        elif not agent:
            if not nameless:
                headless = LineError(number, "hosts.list_without_head")
                refusals.add("no agent", number, headless, text)
            nameless = True
        elif owner is not None:
            try:
                yield owner, number, unit_named(_word(text))
            except PrsmError as error:
                refusals.add(agent, number, error, text)


def _word(text: str) -> str:
    word, _, referer = text.partition("\t")
    if "\t" in referer:
        raise FormatError("hosts.two_tabs")
    return word


def _wanted(
    tx: Transaction,
    found: Iterable[tuple[AgentRow, int, str]],
    fleet: dict[str, AgentRow],
    refusals: _Refusals,
) -> dict[int, _ListEntry]:
    """Return where each unit is to go, by its number."""
    names = {row.id: row.name for row in fleet.values()}
    wanted: dict[int, _ListEntry] = {}
    for part in chunks(found):
        ids = hosts.ids_of_units(tx, {key for _, _, key in part})
        merged = {
            row.key for row in hosts.units_by_id(tx, ids.values()) if row.merged_ms is not None
        }
        for agent, line, key in part:
            unit = ids.get(key)
            if unit is None or key in merged:
                unknown = NotFoundError("hosts.unknown_in_list", unit=key, remedy=_remedy(key))
                refusals.add(agent.name, line, unknown, key)
                continue
            entry = wanted.setdefault(unit, _ListEntry(agent.id, line))
            if entry.agent != agent.id:
                twice = ConflictError(
                    "hosts.unit_in_two_lists", unit=key, agent=names[entry.agent], line=entry.line
                )
                refusals.add(agent.name, line, twice, key)
    return wanted


def _remedy(key: str) -> Message:
    if key == host_key(key):
        return Message("hosts.import_or_add")
    return Message("hosts.split_or_name_host", host=host_key(key))


def _pin(
    tx: Transaction,
    wanted: dict[int, _ListEntry],
    fleet: dict[str, AgentRow],
    actor: Actor,
    now_ms: int,
    refusals: _Refusals,
) -> int:
    # Pins from the lists replace earlier pins of the same units, in any order.
    pins.unpin(tx, list(wanted))
    moved = 0
    of_agent: dict[int, list[int]] = defaultdict(list)
    for unit, entry in wanted.items():
        of_agent[entry.agent].append(unit)
    for agent in fleet.values():
        for part in chunks(of_agent[agent.id]):
            keys = {row.key: row.id for row in hosts.units_by_id(tx, part)}
            _, problems, given = pin_keys(tx, agent, list(keys), REASON, actor, now_ms)
            moved += given
            for key, problem in problems:
                refusals.add(agent.name, wanted[keys[key]].line, problem, key)
    return moved


def _add(tx: Transaction, lines: Iterable[ListText], policy: Policy, now_ms: int) -> int:
    tally = Tally()
    urls = (
        (number, complete_unit(text.partition("\t")[0]), None)
        for _, number, text in _sections(lines)
        if text
    )
    for batch in batches(parsed(urls, tally, rules_in_force(tx))):
        store(tx, batch, None, len(batch), policy.start_pages_per_unit, now_ms, tally)
    return tally.new
