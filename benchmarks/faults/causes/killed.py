"""kill -9, again and again while rounds are under way; systemd starts it again 2 s later."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Final

from benchmarks.faults.fault import TAKE_OVER_S, Fault, Trial
from benchmarks.faults.system.ground import AGENTS
from benchmarks.faults.system.replica import Replica
from benchmarks.faults.system.supervisor import RESTART_S
from tools.demo.system import Agent

__all__ = ["FAULTS", "lose_agent"]

_chance: Final = random.Random(6)


def _some_time() -> None:
    time.sleep(_chance.random())


def _manager(trial: Trial) -> None:
    """The one that does not lead."""
    for _ in range(trial.times):
        _some_time()
        manager = trial.ground.follower()
        manager.kill()
        trial.gone()
        trial.recovered()
        trial.wait("the manager that was killed answers again", manager.answers)


def _leader(trial: Trial) -> None:
    """Every third time it stays away until another leads; else it may be the first one back."""
    ground = trial.ground
    for number in range(trial.times):
        trial.wait("a round under way", ground.round_is_open)
        _some_time()
        epoch, leader = ground.sample().epoch, ground.leader()
        with ExitStack() as away:
            if number % 3 == 0:
                away.enter_context(ground.supervisor.paused(leader.name))
            leader.kill()
            trial.gone()
            trial.recovered()
        trial.claim("another epoch", ground.sample().epoch > epoch)
        trial.wait("the manager that was killed answers again", leader.answers)
    _check_apart(trial)


def _check_apart(trial: Trial) -> None:
    """Judge the database in a process that knows nothing else."""
    ground = trial.ground
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.faults.check", ground.postgres.url,
         "--acknowledged", str(ground.folder / "acknowledged.jsonl"),
         "--files", str(ground.files)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        trial.say(f"    check: {line}")
    trial.claim("the separate script finds all as promised", done.returncode == 0)


def _postgres(trial: Trial) -> None:
    postgres = trial.ground.postgres
    for _ in range(trial.times):
        _some_time()
        with trial.ground.supervisor.paused("postgres"):
            postgres.kill()
            trial.lasts(RESTART_S)
            postgres.start()
        trial.gone()
        trial.recovered()


def _agent(trial: Trial) -> None:
    """Kill agents one after the other, each at a different moment; they come back together."""
    agents = trial.ground.agents[:AGENTS]
    left = trial.times
    while left > 0:
        dying = agents[:left]
        with trial.ground.supervisor.paused(*(one.name for one in dying)):
            for agent in dying:
                _some_time()
                agent.kill()
            trial.lasts(RESTART_S)
            for agent in dying:
                agent.start()
        trial.gone()
        trial.causes += len(dying) - 1
        trial.recovered()
        left -= len(dying)


def lose_agent(trial: Trial) -> None:
    """An agent stays away: its units are with others soon after its permit, and not before."""
    ground = trial.ground
    agent = ground.agents[-1]
    owned = (
        "SELECT count(*) FROM assignments s JOIN agents a ON a.id = s.agent_id "
        f"WHERE s.until_ms IS NULL AND a.name = '{agent.name}'"
    )
    left = f"SELECT permit_until_ms FROM agents WHERE name = '{agent.name}'"
    trial.wait("units of the agent", lambda: ground.postgres.run_sql(owned)[0][0])
    with ground.supervisor.paused(agent.name):
        agent.kill()
        until_s = int(str(ground.postgres.run_sql(left)[0][0])) / 1000
        trial.wait("its units are others'", lambda: not ground.postgres.run_sql(owned)[0][0])
        over_s = time.time() - until_s
        trial.claim("no take-over before the end of the permit", over_s > 0)
        trial.within("take-over", over_s, TAKE_OVER_S)
        agent.start()
    trial.gone()


def _power_cut(trial: Trial) -> None:
    """Everything but the web ends at the same moment, and is started again at the same moment."""
    for _ in range(trial.times):
        _cut_power(trial)
        trial.recovered()


def _cut_power(trial: Trial) -> None:
    ground = trial.ground
    programs: list[Replica | Agent] = [*ground.replicas, *ground.agents]
    with ground.supervisor.paused():
        ground.postgres.send(signal.SIGKILL)
        for program in programs:
            program.program.send(signal.SIGKILL)
        ground.postgres.kill()
        for program in programs:
            program.kill()
        trial.lasts(RESTART_S)
        ground.postgres.start()
        for replica in ground.replicas:
            replica.begin()
        for agent in ground.agents:
            agent.start()
        trial.gone()


FAULTS: Final = [
    Fault("manager-killed", "the other serves and leads on", _manager, 25, 2, limit_s=600),
    Fault("leader-killed", "it or the other leads, in a later epoch", _leader, 25, 2, limit_s=600),
    Fault("postgres-killed", "managers wait for it", _postgres, 25, 2, limit_s=600),
    Fault("agent-killed", "it continues where it stopped", _agent, 25, 3, limit_s=400),
    Fault("agent-lost", "its units are others' after its permit", lose_agent),
    Fault("power-cut", "all start at once, in any order", _power_cut, 3, 1),
]
