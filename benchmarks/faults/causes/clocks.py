"""Clocks that jump by 30 days, at the leader, a follower and PostgreSQL, and back (libfaketime).

The process starts with the right time and a file that says by how much it is wrong; the file
changes while it runs: the time of day jumps, as by a wrong NTP server. `monotonic`, at PostgreSQL:
CLOCK_MONOTONIC and CLOCK_BOOTTIME jump with it. At a manager they are wrong from its start on, in a
time namespace, as on a machine that has run for a month longer or was booted a minute ago: under
libfaketime no timed wait of Python ends, because it knows nothing of glibc's sem_clockwait.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.faults.causes.killed import lose_agent
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.ground import GAP_S, PERMIT_S
from tools.demo.system import BIN

__all__ = [
    "FAULTS",
    "environment",
    "faketime",
    "in_other_time",
    "needs_time_namespaces",
    "set_clock",
]

READ_S: Final = 1.5
"""The file is read once a second: at each look at a clock, a manager would do little else."""

LASTS_S: Final = 4.0
DAY_S: Final = 86_400
CALLED_S: Final = 10.0
"""All agents are known to have called within it: they do each second or two."""
YOUNG_S: Final = 60
SLEEPING: Final = Path(__file__).parents[1] / "sleeping"


def faketime() -> str:
    """Return where the library is; empty: it is not installed."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(found[0]) if found else ""


def _needs() -> str:
    return "" if faketime() else "no libfaketime: install Debian's `faketime`"


def environment(offset: Path, *, monotonic: bool) -> dict[str, str]:
    """Return variables that make a process take its clocks from a file. A rewrite moves them."""
    told = {
        "PYTHONPATH": str(SLEEPING),
        "LD_PRELOAD": faketime(),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_CACHE_DURATION": "1",
    }
    return told if monotonic else {**told, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def set_clock(offset: Path, days: int) -> None:
    """Set the clocks of the processes that read the file wrong by so many days."""
    part = offset.with_suffix(".part")
    part.write_text(f"{days:+d}d\n")
    part.chmod(0o644)
    part.replace(offset)
    time.sleep(READ_S)


def _at_follower(trial: Trial, days: int) -> None:
    """Half of the syncs come to it. Permits last no longer by it, and no agent seems silent."""
    ground = trial.ground
    ground.clocks_right = False
    offset = trial.folder / f"follower{days}"
    set_clock(offset, 0)
    wrong, leader = ground.replicas
    with ground.supervisor.paused(wrong.name):
        wrong.stop()
        wrong.start_with(environment(offset, monotonic=False))
        trial.wait("the other manager leads", lambda: leader.leads(ground.sample().leader))
        set_clock(offset, days)
        trial.gone()
        trial.recovered()
        trial.lasts(LASTS_S)
        for _ in range(10):
            trial.lasts(LASTS_S / 10)
            _judge_agents(trial)
        lose_agent(trial)
        trial.recovered()
        trial.claim("who leads has the right clock", leader.leads(ground.sample().leader))
        set_clock(offset, 0)
        trial.gone()
        trial.recovered()
        wrong.stop()
        wrong.program.environment = dict(wrong.plain_environment)
        wrong.begin()
    trial.wait("the manager answers with its own clock", wrong.answers)


def _judge_agents(trial: Trial) -> None:
    """Check the times of agents in the tables: by the leader's clock, which is this machine's."""
    rows = trial.ground.postgres.run_sql(
        "SELECT name, last_contact_ms, permit_until_ms FROM agents "
        f"WHERE name IN ({', '.join(repr(one.name) for one in trial.ground.agents)})"
    )
    now_s = time.time()
    for name, called_ms, until_ms in rows:
        ago_s = now_s - int(str(called_ms)) / 1000
        trial.claim(f"{name} called {ago_s:.0f} s ago", -GAP_S - 1 < ago_s < CALLED_S)
        left_s = int(str(until_ms)) / 1000 - now_s
        trial.claim(f"{name}: permit for {left_s:.0f} s", left_s < PERMIT_S + 2 * GAP_S + 1)


def _at_manager(trial: Trial, days: int, *, monotonic: bool) -> None:
    ground = trial.ground
    ground.clocks_right = False
    offset = trial.folder / f"clock{days}{monotonic}"
    set_clock(offset, 0)
    chosen = ground.replicas[0]
    words = chosen.program.words
    with ground.supervisor.paused("one", "two"):
        chosen.stop()
        if monotonic:
            chosen.program.words = in_other_time(words, days)
        chosen.start_with(environment(offset, monotonic=False))
        # It is to be the leader that is wrong.
        other = ground.replicas[1]
        other.stop()
        trial.wait("the manager with the clock leads", lambda: chosen.leads(ground.sample().leader))
        other.begin()
        _jump(trial, offset, days)
        chosen.stop()
        chosen.program.words = words
        chosen.program.environment = dict(chosen.plain_environment)
        chosen.begin()
    trial.wait("the manager answers with its own clock", chosen.answers)


def in_other_time(words: list[str], days: int) -> list[str]:
    """Return a command in a time namespace; a clock that counts from the start is never below 0."""
    now_s = min(time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic())
    ahead_s = days * DAY_S if days > 0 else -max(0, int(now_s) - YOUNG_S)
    unshare = ["/usr/bin/unshare", "--time", "--monotonic", str(ahead_s), "--boottime"]
    return [*unshare, str(ahead_s), str(BIN / words[0]), *words[1:]]


def needs_time_namespaces() -> str:
    """Return why no monotonic clock can be set here, or nothing."""
    if os.geteuid() == 0 and Path("/proc/self/ns/time").exists():
        return _needs()
    return "needs root and a kernel with time namespaces"


def _at_postgres(trial: Trial, days: int, *, monotonic: bool) -> None:
    ground = trial.ground
    ground.clocks_right = False
    offset = ground.folder / f"postgres-clock{days}{monotonic}"
    set_clock(offset, 0)
    with ground.supervisor.paused("postgres"):
        ground.postgres.stop()
        ground.postgres.start(environment(offset, monotonic=monotonic))
        ground.postgres.wait_until_it_answers()
        trial.gone()
        trial.recovered()
        _jump(trial, offset, days)
        ground.postgres.stop()
        ground.postgres.start()
        ground.postgres.wait_until_it_answers()
    trial.gone()


def _jump(trial: Trial, offset: Path, days: int) -> None:
    """There and back; after each jump all must be well, with no hand and no start."""
    for wrong in (days, 0):
        set_clock(offset, wrong)
        trial.gone()
        trial.recovered()
        trial.lasts(LASTS_S)


def _faults() -> list[Fault]:
    made = []
    kinds: list[tuple[str, Callable[..., None]]] = [
        ("leader", _at_manager),
        ("postgres", _at_postgres),
    ]
    for where, act in kinds:
        for days in (30, -30):
            for monotonic in (False, True):
                name = f"clock-{where}{days:+d}d{'-monotonic' if monotonic else ''}"
                promise = "no permit ends early, no agent is lost"
                bound = partial(act, days=days, monotonic=monotonic)
                needs = needs_time_namespaces if monotonic and where == "leader" else _needs
                made.append(Fault(name, promise, bound, needs=needs, clocks=True))
    made += (
        Fault(
            f"clock-follower{days:+d}d",
            "permits end when they should, no agent seems late",
            partial(_at_follower, days=days),
            needs=_needs,
            clocks=True,
            limit_s=400,
        )
        for days in (30, -30)
    )
    return made


FAULTS: Final = _faults()
