"""What fills the short tables of pages, too: more rows than a page shows, and what is rare."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.releases import releases
from manager.db.tables import (
    agents,
    directory_sums,
    host_sums,
    hosts,
    probe_orders,
    refetch_orders,
    refetch_pages,
)
from manager.operations.actor import note_alone
from manager.operations.health.silences import add_window
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import import_hosts
from manager.operations.planning.plans import make_plan
from manager.operations.rounds.round_schedules import add_schedule
from manager.operations.segments.collection_orders import NewCollection, collect_now
from manager.operations.segments.collection_schedules import add_collection_schedule
from manager.operations.segments.file_checks import FileFinding
from manager.operations.segments.file_problems import record_findings
from manager.operations.segments.kept_file_list import FileKind
from manager.store.segments.verification import FileProblem
from tests.manager.console.filled import AGENTS, HOSTS, SCRIPT
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running

__all__ = [
    "AGENT",
    "BESIDE",
    "DIRECTORIES",
    "HOST",
    "ORDERS",
    "OTHER",
    "PAGES",
    "PLAN",
    "PROBLEMS",
    "ROUNDS",
    "START_PAGES",
    "TRASHED",
    "fill_tables",
]

AGENT, OTHER = list(AGENTS)[:2]
HOST: Final = f"http://{HOSTS[5]}:80/"
ROUNDS: Final = range(101, 161)
DIRECTORIES: Final = 130
PAGES: Final = 25
ORDERS: Final = 12
PROBLEMS: Final = 12
PLAN: Final = 4
BESIDE: Final = [f"http://shared{number:03d}.example9.jp:80/" for number in range(130)]
START_PAGES: Final = [f"{HOST}{number}.html" for number in range(120)]
TRASHED: Final = ("2026-09-19", "2026-09-20")
DAY_MS: Final = 86_400_000


def fill_tables(prsm: Running) -> None:
    """Add to a world that has run for a while; `PLAN` is a preview beside other methods."""
    _add_measured(prsm)
    _add_refetched(prsm)
    _add_beside(prsm)
    _add_trash(prsm)
    db = prsm.manager.db
    assert make_plan(db, "random", ADMIN, START_MS, compare=True) == PLAN
    add_schedule(db, "0 2 * * *", "Asia/Tokyo", "tree", ADMIN, START_MS, moves=0.1)
    asked = NewCollection("since", "push", START_MS - DAY_MS)
    add_collection_schedule(db, AGENT, "0 3 * * *", "UTC", asked, ADMIN, START_MS)
    for name in AGENTS:
        for _ in range(ORDERS // len(AGENTS)):
            collect_now(db, name, asked, ADMIN, START_MS)
    damaged = [
        FileFinding(FileKind.LOG, f"logs/{n}", f"{n}{SCRIPT}", FileProblem.WRONG_SIZE)
        for n in range(PROBLEMS)
    ]
    record_findings(db, damaged, START_MS)
    add_window(db, START_MS, START_MS + DAY_MS, f"a switch {SCRIPT}", ADMIN, START_MS)
    note_alone(db, START_MS, ADMIN, "alert.tell", f"agent:{AGENT}")
    with db.write() as tx:
        for role, days in (("root", 200), ("targets", 18), ("timestamp", -1)):
            releases.add_metadata(tx, role, 1, b"{}", START_MS + days * DAY_MS, START_MS)


def _add_measured(prsm: Running) -> None:
    """Let a host have more rounds, probe orders and directories than its page shows."""
    detail = host_detail(prsm.manager.db, HOST)
    (unit,) = detail.units
    agent = detail.owners[0].agent_id
    whose = {"agent_id": agent, "unit_id": unit.id}
    sums = {"kind": "crawl", "requests": 9, "response_bytes": 900, "ms": 90}
    with prsm.manager.db.write() as tx:
        tx.insert(host_sums, [{**whose, **sums, "round": n, "last_ms": START_MS} for n in ROUNDS])
        tx.insert(
            probe_orders,
            [{**whose, "round": n, "state": "done", "ordered_ms": START_MS} for n in ROUNDS],
        )
        tx.insert(
            directory_sums,
            [
                {"agent_id": agent, "host_id": unit.host_id, "round": 2, "path": f"/d{n}/", **sums}
                for n in range(DIRECTORIES)
            ],
        )


def _add_beside(prsm: Running) -> None:
    """Let hosts share the address of `HOST`, and pages of it be known."""
    db = prsm.manager.db
    import_hosts(db, enumerate([*BESIDE, *START_PAGES], 1), ADMIN, START_MS)
    with db.write() as tx:
        group = tx.value(sa.select(hosts.c.id).where(hosts.c.key == HOST))
        same = hosts.c.key.in_([HOST, *BESIDE])
        tx.execute(hosts.update().where(same).values(group_id=group))


def _add_trash(prsm: Running) -> None:
    """Let a file that no row names lie in the trash of two days."""
    for day in TRASHED:
        path = prsm.manager.layout.trash / day / "indexes/robot.example/2026/a.parquet"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 2500)


def _add_refetched(prsm: Running) -> None:
    """Let another agent have fetched pages of `AGENT` again, each otherwise."""
    (unit,) = host_detail(prsm.manager.db, HOST).units
    with prsm.manager.db.write() as tx:
        ids = {row.name: row.id for row in tx.execute(sa.select(agents.c.id, agents.c.name))}
        tx.execute(
            agents.update()
            .where(agents.c.id == ids[AGENT])
            .values(refetch_round=2, refetch_compared=PAGES)
        )
        tx.insert(
            refetch_pages,
            [
                {"id": n, "round": 2, "agent_id": ids[AGENT], "unit_id": unit.id, "rank": n,
                 "url": f"{HOST}{n}{SCRIPT}", "status": 200, "response_bytes": 1000,
                 "state": "closed"}
                for n in range(1, PAGES + 1)
            ],
        )  # fmt: skip
        tx.insert(
            refetch_orders,
            [
                {"page_id": n, "unit_id": unit.id, "agent_id": ids[OTHER], "state": "done",
                 "ordered_ms": START_MS, "status": 404, "response_bytes": 500}
                for n in range(1, PAGES + 1)
            ],
        )  # fmt: skip
