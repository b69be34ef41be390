"""A manager's data after months: a fleet, a million hosts, rounds, plans, logs, an audit log.

Rows are made by the database itself; unit numbers are host numbers. Crawl logs are files as intake
writes them: `DISTINCT` are written, and each report is a hard link to one of them, which DuckDB
cannot tell from a separate file. So are the segments of the archive.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from benchmarks.console.archive_files import fill_archive, segments_of
from benchmarks.console.hurried import hurried
from benchmarks.console.moved import NUMBERED, fill_moved
from manager.db.engine import Transaction
from manager.db.tables import agents, plans, rounds
from manager.store import Layout, LogFile
from shared.wire.names import hash_of_key

__all__ = ["CONTROL", "DAY_MS", "DOMAINS", "HOST", "Filled", "fill"]

DAY_MS: Final = 86_400_000
HOST: Final = "http://h{}.d{}.example:80/"
"""Of a host's number, and that number modulo `DOMAINS`."""
DOMAINS: Final = 1000
LINES_OF_LOG: Final = 5_000
DISTINCT: Final = 20
STATUSES: Final = (200, 200, 200, 200, 200, 200, 304, 404, 500, None)
HEADERS: Final = b'HTTP/1.1 %d\r\nServer: nginx\r\nContent-Type: text/html\r\nETag: "%x"\r\n'
METHODS: Final = ("default", "tree", "prices", "exchange")
ROUNDS: Final = 60
MOVES: Final = 2_000  # of each plan
AUDIT_ROWS: Final = 300_000
KNOWING: Final = 3  # agents that have measured a host
CONTROL: Final = 1  # the number of the host that all of them have


@dataclass(frozen=True, slots=True)
class Filled:
    """Amounts of rows and files in a filled database."""

    agents: int
    hosts: int
    lines: int

    @property
    def reports(self) -> int:
        """Return how many logs came."""
        return self.lines // LINES_OF_LOG


def fill(url: str, layout: Layout, filled: Filled, now_ms: int) -> None:
    """Make tables, rows and files in an empty place. url: of the database, as `Database` has it."""
    with hurried(url) as tx:
        _agents(tx, filled, now_ms)
        _rounds(tx, filled, now_ms)
        _hosts(tx, filled, now_ms)
        _records(tx, filled, now_ms)
        fill_archive(tx, layout, filled.agents, HOST.format(CONTROL, CONTROL), now_ms)
        fill_moved(tx, _insert, filled.agents, segments_of(filled.agents), now_ms)
        if tx.dialect == "postgresql":
            _after_numbers(tx)
    _logs(layout, filled)


def _name(agent: int) -> str:
    return f"a{agent:04d}.bench.example"


def _agents(tx: Transaction, filled: Filled, now_ms: int) -> None:
    rows = [
        {
            "id": agent,
            "name": _name(agent),
            "kind": "sync",
            "key_hash": hash_of_key(f"{agent:064d}"),
            "joined_ms": now_ms - 90 * DAY_MS,
            "last_contact_ms": now_ms - agent * 20,
            "last_contact": "sync",
            "last_work_ms": now_ms - agent * 60_000,
            "promised_ms": now_ms + DAY_MS,
            "version": f"1.{agent % 3}.0",
            "disk_free_bytes": agent * 10**9,
            "generation": 5,
            "generation_held": 5,
            "permit_epoch": 1,
            "permit_set_ms": now_ms,
            "permit_until_ms": now_ms + DAY_MS,
            "load_ms": 1e6 * (agent % 17),
            "latitude": agent * 37 % 120 - 50,
            "longitude": agent * 53 % 360 - 180,
        }
        for agent in range(1, filled.agents + 1)
    ]
    for at in range(0, len(rows), 200):
        tx.insert(agents, rows[at : at + 200])


def _rounds(tx: Transaction, filled: Filled, now_ms: int) -> None:
    names = [_name(agent) for agent in range(1, filled.agents + 1)]
    per_agent = filled.hosts // filled.agents
    detail = json.dumps(
        {
            "agents": [
                {"name": name, "capacity": 1.0, "elapsed_before_ms": 9_000_000,
                 "elapsed_ms": 8_000_000, "work_ms": 7_000_000, "volume_kb": 5_000_000,
                 "before_ms": 6e6 + 999 * (at % 31), "after_ms": 6e6 + 99 * (at % 31),
                 "units_before": per_agent, "units_after": per_agent}
                for at, name in enumerate(names)
            ],
            "tree": [
                (names[(at - 1) // 2], name, 1.0 + at % 7) for at, name in enumerate(names) if at
            ],
            "explanation": ["made for a measurement"],
            "compared": [],
        }
    )  # fmt: skip
    first_ms = now_ms - ROUNDS * DAY_MS
    tx.insert(
        rounds,
        [
            {"number": number, "method": METHODS[number % 4], "started_by": "bench",
             "state": "finished" if number < ROUNDS else "crawling",
             "open": None if number < ROUNDS else 1, "plan_id": number,
             "started_ms": first_ms + number * DAY_MS, "crawling_ms": first_ms + number * DAY_MS,
             "finished_ms": first_ms + (number + 1) * DAY_MS if number < ROUNDS else None,
             "makespan_ms": 6_003_000, "makespan_agent": names[0], "elapsed_ms": 80_000_000}
            for number in range(1, ROUNDS + 1)
        ],
    )  # fmt: skip
    tx.insert(
        plans,
        [
            {"id": number, "round": number, "method": METHODS[number % 4], "made_by": "bench",
             "made_ms": first_ms + number * DAY_MS, "applied_ms": first_ms + number * DAY_MS,
             "units": filled.hosts, "moves": MOVES, "before_ms": 6.1e6, "makespan_ms": 6.003e6,
             "bound_ms": 5.9e6, "detail": detail}
            for number in range(1, ROUNDS + 1)
        ],
    )  # fmt: skip


def _insert(tx: Transaction, table: str, rows: int, **values: object) -> None:
    """Insert rows that the database makes, numbered n from 1. values: SQL by column."""
    tx.execute(
        sa.text(
            "WITH RECURSIVE number(n) AS "
            f"(SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {rows}) "
            f"INSERT INTO {table} ({', '.join(values)}) "
            f"SELECT {', '.join(map(str, values.values()))} FROM number"
        )
    )


def _hosts(tx: Transaction, filled: Filled, now_ms: int) -> None:
    owner = f"n % {filled.agents} + 1"
    key = f"'http://h' || n || '.d' || (n % {DOMAINS}) || '.example:80/'"
    since = now_ms - 80 * DAY_MS
    last = ROUNDS - 1
    _insert(
        tx, "hosts", filled.hosts, id="n", key=key, first_seen_ms=since, resolution="'resolved'",
        reversed_key=f"'example,d' || (n % {DOMAINS}) || ',h' || n || ')/'", resolved_ms=since,
        group_id="n",
    )  # fmt: skip
    _insert(
        tx, "host_addresses", filled.hosts, host_id="n", source=0,
        address="'10.' || (n / 65536) || '.' || (n / 256 % 256) || '.' || (n % 256)",
    )  # fmt: skip
    _insert(
        tx, "units", filled.hosts, id="n", host_id="n", path="'/'", key=key, state="'placed'",
        volume_kb="10.0 * (n % 997)", pages="n % 997", volume_round=last,
    )  # fmt: skip
    _insert(
        tx, "assignments", filled.hosts, unit_id="n", agent_id=owner, epoch=1, since_ms=since,
    )  # fmt: skip
    _insert(
        tx, "unit_rounds", filled.hosts, round=ROUNDS, unit_id="n", agent_id=owner,
        state="CASE n % 4 WHEN 0 THEN 'finished' WHEN 1 THEN 'granted' ELSE 'waiting' END",
        pages="n % 97", bytes="1000 * (n % 97)",
    )  # fmt: skip
    granted = "(4 * n - 3)"
    _insert(
        tx, "rights", filled.hosts // 4, unit_id=granted, group_id=granted,
        agent_id=f"{granted} % {filled.agents} + 1", kind="'crawl'", round=ROUNDS,
        granted_ms=now_ms - 60_000,
    )  # fmt: skip
    for turn in range(KNOWING):
        _insert(
            tx, "distances", filled.hosts, unit_id="n",
            agent_id=f"(n + {turn * 7}) % {filled.agents} + 1", measured_ms=f"{now_ms} - n",
            round=last, kind="'probe'", lines=50, bytes=500_000, ms=5000,
            ms_per_kb="10.0 + n % 13", median="9.0 + n % 13",
        )  # fmt: skip
    tx.execute(sa.text(f"DELETE FROM distances WHERE unit_id = {CONTROL}"))
    _insert(
        tx, "distances", filled.agents, unit_id=CONTROL, agent_id="n",
        measured_ms=f"{now_ms} - n", round=last, kind="'probe'", lines=50, failed="n % 40",
        bytes="500000 - 12000 * (n % 40)", ms="5000 + n", ms_per_kb="10.0 + n % 977",
        first_quartile="8.0 + n % 977", median="9.0 + n % 977", third_quartile="12.0 + n % 977",
    )  # fmt: skip
    _insert(
        tx, "host_sums", filled.hosts, agent_id=owner, unit_id="n", round=ROUNDS, kind="'crawl'",
        requests=100, pages=97, errors=3, request_bytes=30_000, response_bytes="1000 * (n % 97)",
        ms="10 * (n % 97)", first_ms=now_ms - DAY_MS, last_ms=now_ms, spread="''",
    )  # fmt: skip


def _records(tx: Transaction, filled: Filled, now_ms: int) -> None:
    who = "'a000' || (n % 9) || '.bench.example'"
    agent = f"n % {filled.agents} + 1"
    _insert(
        tx, "audit", AUDIT_ROWS, at_ms=f"{now_ms} - ({AUDIT_ROWS} - n) * 1000",
        actor_kind="'agent'", actor_name=who, action="'log.accept'", subject=who,
        detail="'{}'", request_id="''", alert="n % 997 = 0",
    )  # fmt: skip
    step = DAY_MS * 7 // max(1, filled.reports)
    since, until = (f"{now_ms} - ({filled.reports} - n + {more}) * {step}" for more in (1, 0))
    _insert(
        tx, "reports", filled.reports, agent_id=agent, name="'bench.' || n", sha256="'sha' || n",
        kind="'log'", size_bytes=200_000, lines=LINES_OF_LOG, quarantined=0, since_ms=since,
        until_ms=until, received_ms=until, path=f"'logs/' || ({agent}) || '/' || n || '.parquet'",
    )  # fmt: skip
    _insert(
        tx, "plan_moves", ROUNDS * MOVES, plan_id=f"(n - 1) / {MOVES} + 1",
        unit_id=f"(n - 1) % {MOVES} + 1", from_agent=agent,
        to_agent=f"(n + 1) % {filled.agents} + 1", from_ms=900.0, to_ms=500.0,
    )  # fmt: skip


def _after_numbers(tx: Transaction) -> None:
    for table in ("agents", "hosts", "units", "plans", "arrivals", "segments", *NUMBERED):
        tx.execute(
            sa.text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")
        )


def _logs(layout: Layout, filled: Filled) -> None:
    first: list[Path] = []
    for number in range(1, filled.reports + 1):
        folder = layout.logs / str(number % filled.agents + 1)
        folder.mkdir(exist_ok=True)
        target = folder / f"{number}.parquet"
        if number <= DISTINCT:
            _write(target, number, filled)
            first.append(target)
        else:
            os.link(first[number % DISTINCT], target)


def _write(target: Path, number: int, filled: Filled) -> None:
    with LogFile(target.with_suffix(".part"), target) as file:
        for line in range(2, LINES_OF_LOG + 2):
            at = (number * 7919 + line // 50 * 104_729) % filled.hosts + 1
            host = HOST.format(at, at % DOMAINS)
            path = f"/docs/section-{line % 50}/page-{line}.html"
            status = STATUSES[line % len(STATUSES)]
            head = b"" if status is None else HEADERS % (status, line)
            file.add(
                (line, host[:-4].replace(":80", "") + path, host, path, status, 300, 11_000, 25,
                 head, ROUNDS, "crawl", True, host)
            )  # fmt: skip
