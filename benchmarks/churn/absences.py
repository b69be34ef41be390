"""Absences of agents: killed, stopped or cut off, for less and for more than a permit.

Agents leave in turn. Every second time a short absence ends before the agent's permit does, every
second time a long one ends after others were given its units.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from benchmarks.faults.transit.line import Line
from tools.demo.system import Agent

__all__ = ["KINDS", "Absence", "Member", "absences"]

KINDS: Final = ("killed", "stopped", "cut off")


@dataclass(frozen=True, slots=True)
class Member:
    """An agent with its line to the manager."""

    agent: Agent
    line: Line

    def leave(self, kind: str) -> None:
        """Leave: by SIGKILL, by SIGSTOP, or because the network passes nothing on."""
        if kind == "killed":
            self.agent.kill()
        elif kind == "stopped":
            self.agent.program.send(signal.SIGSTOP)
        else:
            self.line.hold()

    def come_back(self, kind: str) -> None:
        """End what `leave` began."""
        if kind == "killed":
            self.agent.start()
        elif kind == "stopped":
            self.agent.program.send(signal.SIGCONT)
        else:
            self.line.mend()


@dataclass(frozen=True, slots=True)
class Absence:
    """One absence. left_s, back_s: seconds of the monotonic clock."""

    agent: str
    kind: str
    is_short: bool
    left_s: float
    back_s: float


def absences(
    members: list[Member],
    every_s: float,
    short_s: float,
    long_s: float,
    is_running: Callable[[], bool],
) -> Iterator[Absence]:
    """Take an agent away, or bring one back, once in `every_s`, while `is_running` says so.

    short_s, long_s: what a short absence and a long one take. Yields each absence when it is over;
    whoever is away at the end comes back.
    """
    for turn in count():
        member, kind = members[turn % len(members)], KINDS[turn % len(KINDS)]
        is_short = turn % 2 == 0
        if not _wait(every_s, is_running):
            return
        left_s = time.monotonic()
        member.leave(kind)
        try:
            _wait(short_s if is_short else long_s, is_running)
        finally:
            member.come_back(kind)
        yield Absence(member.agent.name, kind, is_short, left_s, time.monotonic())


def _wait(seconds: float, is_running: Callable[[], bool]) -> bool:
    """Wait so long; return whether the crawl still runs."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        if not is_running():
            return False
        time.sleep(min(0.5, seconds))
    return True
