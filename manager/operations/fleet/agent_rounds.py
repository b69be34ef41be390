"""Rounds of one agent, without counting those of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.measurement import measurements
from manager.db.rounds import round_units, rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.identity.enrolment import agent_named
from shared.frozen import frozen

__all__ = ["AgentRound", "every_round_of_agent", "rounds_of_agent"]

ROUNDS_AT_ONCE: Final = 100


@frozen
class AgentRound:
    """An agent's part of a round. units: how many are in each state. measured_ms: of the crawl."""

    round: RoundRow
    units: dict[str, int]
    pages: int
    size_bytes: int
    measured_ms: int


def rounds_of_agent(db: Database, name: str, limit: int) -> list[AgentRound]:
    """Return its part of those of the newest rounds that it had units of, newest first.

    How far it is may be cached figures. Raises NotFoundError.
    """
    with db.read() as tx:
        agent_id = agent_named(tx, name).id
        newest = rounds.newest(tx, limit)
    numbers = [one.number for one in newest]
    key = ("rounds of agent", agent_id, max(numbers, default=0), limit)
    parts = db.figure(key, lambda tx: _parts(tx, agent_id, newest))
    return [part for one in newest if (part := parts.get(one.number)) is not None]


def every_round_of_agent(db: Database, name: str) -> Iterator[AgentRound]:
    """Yield its part of every round that it had units of, newest first. Raises NotFoundError."""
    with db.read() as tx:
        agent_id = agent_named(tx, name).id
    before: int | None = None
    while True:
        with db.read() as tx:
            found = rounds.newest(tx, ROUNDS_AT_ONCE, before)
            parts = _parts(tx, agent_id, found)
        if not found:
            return
        yield from (part for one in found if (part := parts.get(one.number)) is not None)
        before = found[-1].number


def _parts(tx: Transaction, agent_id: int, newest: list[RoundRow]) -> dict[int, AgentRound]:
    numbers = [one.number for one in newest]
    done = round_units.progress_of_agent(tx, agent_id, numbers)
    took = measurements.rounds_of_agent(tx, agent_id, numbers, "crawl")
    found = {}
    for one in newest:
        states = [row for row in done if row[0] == one.number]
        if states:
            found[one.number] = AgentRound(
                one,
                {state: held for _, state, held, _, _ in states},
                sum(pages for _, _, _, pages, _ in states),
                sum(size for _, _, _, _, size in states),
                took.get(one.number, 0),
            )
    return found
