"""A database in the middle of a round: a fleet, what each agent has, and one list of a million.

Agent 1 to `agents` are the fleet, with `UNITS_EACH` units each; then come `log_agents` with
`UNITS_OF_LOGS` each, whose logs are sent; the last has `list_units`. Unit numbers are host numbers.
The rows are made by the database itself, so a million of them takes half a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from benchmarks.vacuum import tidy
from manager.db import Database
from manager.db.engine import Transaction
from manager.db.migrate import migrate
from manager.db.tables import agents, rounds
from shared.wire.names import hash_of_key

__all__ = ["GENERATION", "ROUND", "Filled", "fill", "key_of", "name_of"]

UNITS_EACH: Final = 20
UNITS_OF_LOGS: Final = 2_000
GENERATION: Final = 2
ROUND: Final = 1
DAY_MS: Final = 86_400_000
SPACES: Final = 500  # agents in one INSERT


@dataclass(frozen=True, slots=True)
class Filled:
    """Amounts of the data made."""

    agents: int
    log_agents: int
    list_units: int

    @property
    def listed(self) -> int:
        """Return the number of the agent with the long list."""
        return self.agents + self.log_agents + 1

    def units_of_log(self, agent: int) -> range:
        """Return the units of an agent whose logs are sent."""
        first = self.agents * UNITS_EACH + (agent - self.agents - 1) * UNITS_OF_LOGS + 1
        return range(first, first + UNITS_OF_LOGS)

    def unit_of_fleet(self, agent: int, turn: int) -> int:
        """Return one of the units of an agent of the fleet."""
        return (agent - 1) * UNITS_EACH + turn % UNITS_EACH + 1


def key_of(agent: int) -> str:
    """Return the key that an agent shows."""
    return f"{agent:064d}"


def name_of(agent: int) -> str:
    """Return the name of an agent."""
    return f"a{agent:06d}.bench.example"


_UNITS: Final = """
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {units})
INSERT INTO {table} SELECT {columns} FROM number
"""

_OWNER: Final = """CASE
    WHEN n <= {fleet} THEN (n - 1) / {each} + 1
    WHEN n <= {logs} THEN {agents} + (n - {fleet} - 1) / {of_logs} + 1
    ELSE {listed} END"""


def fill(url: str, filled: Filled, now_ms: int) -> None:
    """Make the tables and their rows."""
    db = Database(url)
    migrate(db)
    with db.write() as tx:
        _agents(tx, filled, now_ms)
        tx.insert(
            rounds,
            [{"number": ROUND, "method": "default", "state": "crawling", "started_by": "bench",
              "started_ms": now_ms, "crawling_ms": now_ms, "open": 1}],
        )  # fmt: skip
        _units(tx, filled, now_ms)
    db.close()
    tidy(url)


def _agents(tx: Transaction, filled: Filled, now_ms: int) -> None:
    rows = [
        {
            "id": agent,
            "name": name_of(agent),
            "kind": "sync",
            "key_hash": hash_of_key(key_of(agent)),
            "joined_ms": now_ms,
            "subscribed": True,
            "last_contact_ms": now_ms,
            "last_contact": "sync",
            "promised_ms": now_ms + DAY_MS,
            "version": "1.0.0",
            "generation": GENERATION,
            "generation_held": GENERATION,
            "permit_epoch": 1,
            "permit_set_ms": now_ms,
            "permit_until_ms": now_ms + DAY_MS,
        }
        for agent in range(1, filled.listed + 1)
    ]
    for at in range(0, len(rows), SPACES):
        tx.insert(agents, rows[at : at + SPACES])


def _units(tx: Transaction, filled: Filled, now_ms: int) -> None:
    fleet = filled.agents * UNITS_EACH
    logs = fleet + filled.log_agents * UNITS_OF_LOGS
    owner = _OWNER.format(
        fleet=fleet, each=UNITS_EACH, logs=logs, agents=filled.agents, of_logs=UNITS_OF_LOGS,
        listed=filled.listed,
    )  # fmt: skip
    key = "'http://h' || n || '.bench.example:80/'"
    for table, columns in (
        ("hosts (id, key, reversed_key, first_seen_ms, resolution, resolved_ms, group_id)",
         f"n, {key}, 'example,bench,h' || n || ')/', {now_ms}, 'resolved', {now_ms}, n"),
        ("units (id, host_id, path, key, state)", f"n, n, '/', {key}, 'placed'"),
        ("assignments (unit_id, agent_id, epoch, since_ms)",
         f"n, {owner}, 1, {now_ms}"),
        ("rights (unit_id, group_id, agent_id, kind, round, granted_ms, granted_generation)",
         f"n, n, {owner}, 'crawl', {ROUND}, {now_ms - DAY_MS}, 1"),
        ("unit_rounds (round, unit_id, agent_id, state)", f"{ROUND}, n, {owner}, 'granted'"),
    ):  # fmt: skip
        units = logs + filled.list_units
        tx.execute(sa.text(_UNITS.format(units=units, table=table, columns=columns)))
    if tx.dialect == "postgresql":
        for table in ("agents", "hosts", "units"):
            tx.execute(
                sa.text(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
                )
            )
