"""A manager with something to look at: agents in many states, rounds, plans, hostile texts.

Made through the operations alone, with the fake agents of the operations' own tests.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from manager.operations.archive.downloads import Taken, store_downloads
from manager.operations.archive.selection_jobs import submit_job
from manager.operations.fleet.agents import order_command, retire, set_next_list_limit
from manager.operations.hosts.hosts import exclude_host
from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.operations.people.clients import authenticate_client, issue_token, register_client
from manager.operations.people.users import ROLES, add_user, login
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import make_plan, start_round
from manager.operations.segments.upload_completion import settle
from manager.operations.segments.uploads import NewUpload, begin_upload
from shared.messages import Message
from shared.wire.names import hash_of_key
from shared.wire.sync import Counters, KindOfLinks, StoppedUrls
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.logged import HOUR_MS, add_log
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World
from tests.manager.running import START_MS, Running, running

__all__ = ["BIDI", "HOSTILE", "HOSTS", "PASSWORD", "SCRIPT", "fill_world"]

PASSWORD = "correct horse battery"
SCRIPT = "<script>alert(1)</script>"
BIDI = "\u202egnp.exe"
HOSTILE = f"{SCRIPT}{BIDI}\x00\x1b[31m'\"&"
HOSTS = [f"www{number:03}.example{number % 7}.jp" for number in range(60)]
AGENTS = {"kyoto.example.ac.jp": 1.0, "osaka.example.ac.jp": 1.6, "sendai.example.ac.jp": 2.4}


class _Varied(World):
    """Hosts of many sizes, the same each time."""

    def fetch(self, name: str, unit: str, kbytes: int = 100) -> None:
        digest = hashlib.sha256(unit.encode()).digest()
        super().fetch(name, unit, round(20 * 1.02 ** digest[0]))


def fill_world(
    folder: Path, *overrides: str, hosts: list[str] | None = None, rounds: int = 2
) -> dict[str, str]:
    """Make the data directory of a manager that has run for a while.

    There is a person for each role, with its name; returns the tokens of their sessions.
    """
    with running(folder, *overrides) as prsm:
        db = prsm.manager.db
        for role in ROLES:
            add_user(db, role, PASSWORD, role, ADMIN, START_MS - 86_400_000)
        # Long leases: between two turns of the little world nobody is lost.
        world = _Varied(
            db,
            Policy(
                permit_s=600,
                log_timeout_s=20,
                tick_batch_rows=500,
                parallel_probes=400,
                max_tick_gap_s=36_000,
            ),
        )
        world.true_ms = START_MS - 6 * 3_600_000
        names = list(AGENTS)
        for name, speed in AGENTS.items():
            world.join(name, speed=speed)
        world.hosts(*(hosts or HOSTS))
        for number in range(rounds):
            start_round(
                db, ("random", "tree")[number % 2], ADMIN, world.now_ms, policy=world.policy
            )
            world.run()
            world.wait(600)
        _add_states(world, names)
        _add_hostile(world, names[0])
        make_plan(db, "prices", ADMIN, START_MS - 120_000, policy=world.policy)
        start_round(db, "prices", ADMIN, START_MS - 60_000, policy=world.policy)
        world.true_ms = START_MS - 50_000
        world.tick()
        _speak(world, names)
        _add_transfers(prsm, world, names[0])
        _add_third_parties(prsm)
        _add_log(prsm, world, names[0])
        return {role: login(db, role, PASSWORD, START_MS).token for role in ROLES}


def _add_states(world: World, names: list[str]) -> None:
    """Agents that never called, are late, were retired, or speak only the five messages."""
    db = world.db
    issue_join_token(db, "nagoya.example.ac.jp", ADMIN, START_MS - 3600_000)
    for name in ("fukuoka.example.ac.jp", "sapporo.example.ac.jp"):
        token = issue_join_token(db, name, ADMIN, START_MS - 7200_000).token
        enrol(db, name, token, hash_of_key(f"key of {name}"), START_MS - 7200_000)
    world.true_ms = START_MS - 7000_000
    world.join("hiroshima.example.ac.jp")
    world.true_ms = START_MS - 3_000_000
    world.join("plain.example.ac.jp", kind="plain")
    retire(db, "sapporo.example.ac.jp", ADMIN, START_MS - 3_600_000)
    order_command(db, "plain.example.ac.jp", "restart", ADMIN, START_MS - 3 * 3_600_000)
    set_next_list_limit(db, names[1], 50, ADMIN, START_MS - 3_000_000)


def _add_hostile(world: World, name: str) -> None:
    """Texts that agents, crawled pages and people could bring."""
    agent = world.agents[name].identity
    urls = [
        (1, "http://evil.example.com/", f"javascript:{SCRIPT}"),
        (2, "http://evil.example.com/page.html", f"http://from.example.com/{BIDI}"),
        (3, f"http://also-evil.example.com/{SCRIPT}", HOSTILE.replace("\x00", "")),
    ]
    record_discovered(world.db, agent, urls, START_MS - 60_000)
    exclude_host(world.db, HOSTS[0], f"=cmd {SCRIPT}{BIDI}", ADMIN, START_MS - 50_000)
    order_command(world.db, "hiroshima.example.ac.jp", "restart", ADMIN, START_MS - 10_000_000)


def _add_log(prsm: Running, world: World, name: str) -> None:
    """A log whose paths and headers are what a hostile site would send."""
    lines = [
        (f"http://evil.example.com:80/{number}?{SCRIPT}{BIDI}", status)
        for number, status in enumerate((200, 404, 503, None))
    ]
    agent, hour = world.agents[name].identity, START_MS // HOUR_MS - 2
    add_log(world.db, prsm.manager.layout, agent, hour, lines, headers=HOSTILE.encode())


def _add_transfers(prsm: Running, world: World, name: str) -> None:
    """A segment that is coming, and one that was refused with a hostile sentence."""
    manager, agent = prsm.manager, world.agents[name].identity
    for number, filename in enumerate(("first.warc.gz", "second.warc.gz")):
        row = begin_upload(
            manager.db,
            manager.parts,
            agent,
            NewUpload(filename, f"{number:064}", 1000),
            manager.settings.collection,
            START_MS - 5000,
        )
        if number:
            hostile = Message.of_text(HOSTILE.replace("\x00", ""))
            settle(manager.db, row, "refused", hostile, START_MS)


def _add_third_parties(prsm: Running) -> None:
    """One that took something, is taking something and waits for a job; one with hostile words."""
    db, hostile = prsm.manager.db, HOSTILE.replace("\x00", "")
    register_client(db, "library", "a@library.example", "research", ADMIN, START_MS - 86_400_000)
    register_client(db, "museum", f"=cmd {SCRIPT}", hostile, ADMIN, START_MS - 86_400_000)
    token = issue_token(db, "library", ADMIN, START_MS - 86_400_000)
    client = authenticate_client(db, token.token, START_MS)
    query = f"host={SCRIPT}"
    submit_job(db, client, "extract-zip", query, client.actor("1"), START_MS - 60_000)
    states = (("done", 1000), ("cut", 300), ("going", 500))
    store_downloads(
        db,
        [
            Taken(token.id, f"{number}{SCRIPT}", state,
                  Message.of_text(hostile) if state == "cut" else None, 1000, sent, 1,
                  START_MS - 9000, START_MS - 1000, afresh=True)
            for number, (state, sent) in enumerate(states)
        ],
    )  # fmt: skip


def _speak(world: World, names: list[str]) -> None:
    """Let the live agents say something, one of them something hostile."""
    for ago_s, name in enumerate(names, 3):
        world.true_ms = START_MS - ago_s * 1000
        digest = hashlib.sha256(name.encode()).digest()
        request = replace(
            world.request(name),
            version="0.1.0" if name != names[0] else f"0.1{SCRIPT}",
            state="working",
            state_reason=HOSTILE.replace("\x00", "") if name == names[0] else "",
            disk_free_bytes=10**9 * digest[0] if name != names[2] else 500_000_000,
            clock_ms=world.now_ms + (digest[1] * 10 if name != names[1] else 90_000),
            counters=Counters(
                requests=digest[2] * 101,
                pages=digest[2] * 97,
                response_bytes=digest[3] * 10**6,
                stopped=(
                    StoppedUrls(reason="calendar without end", count=digest[4], example=SCRIPT),
                ),
                kinds=(
                    KindOfLinks(kind="anchor", links=digest[5] * 7, pages=digest[5] * 5),
                    KindOfLinks(kind=SCRIPT, links=digest[6] * 3, missing=digest[6]),
                ),
            ),
        )
        sync(world.db, world.agents[name].identity, request, world.now_ms, world.policy)
