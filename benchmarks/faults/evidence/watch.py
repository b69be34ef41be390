"""Watch a system from outside: does it serve, is it led, do agents call, and since when again.

Two threads, on CLOCK_MONOTONIC. One asks the database ten times a second for what rises while all
is well: the ticks, the agents' numbers of syncs, the rows of the history. The other is a client at
the front like any other (`witness`): it sends a report, again until it is acknowledged, then the
next; so an answer is good where the whole way to the disk and back works.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import psycopg

from benchmarks.faults.evidence.observations import Mark
from benchmarks.faults.evidence.witness import Witness

__all__ = ["Sample", "Watch"]

LOOK_S: Final = 0.1
ASK: Final = b"""
SELECT coalesce((SELECT ticks FROM clock), 0),
       coalesce((SELECT holder FROM leader), ''), coalesce((SELECT epoch FROM leader), 0),
       coalesce((SELECT max(seq) FROM faults_history), 0),
       (SELECT coalesce(json_object_agg(name, concat(boot_id, ' ', sequence)), '{}') FROM agents)
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A reading of the database. at_s: its time. syncs: of each agent, changes with each."""

    at_s: float
    ticks: int
    leader: str
    epoch: int
    syncs: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Before:
    """The state when the cause went away."""

    at_s: float
    ticks: int
    syncs: dict[str, str]


class Watch:
    """Watches until `close`."""

    def __init__(self, url: str, witness: Witness, alive: Callable[[], list[str]]) -> None:
        """url: of the database. alive: the agents that run and may call."""
        self._url = url
        self._witness = witness
        self._alive = alive
        self.marks: list[Mark] = []
        self._samples: list[Sample] = []
        self._before = _Before(0.0, 0, {})
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._look, daemon=True, name="watch"),
            threading.Thread(target=self._ask, daemon=True, name="witness"),
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Watch no more."""
        self._ended.set()
        for thread in self._threads:
            thread.join(30)

    @property
    def latest(self) -> Sample | None:
        """Return the newest sample."""
        return self._samples[-1] if self._samples else None

    def answers_since(self, at_s: float) -> tuple[int, int]:
        """Return how many requests since a moment were answered well, and how many not."""
        since = [one for one in list(self._witness.answers) if one.began_s >= at_s]
        good = sum(one.good for one in since)
        return good, len(since) - good

    def usual_s(self) -> float:
        """Return how long a good answer takes, the median of the last twenty: how busy it is."""
        good = [one.ended_s - one.began_s for one in self._witness.answers if one.good]
        return median(good[-20:]) if good else 0.0

    def troubles(self) -> list[str]:
        """Return what went wrong with requests since the cause was gone, a few."""
        bad = [
            f"{one.began_s - self._before.at_s:+.1f} s, for {one.ended_s - one.began_s:.1f} s: "
            f"{one.said}"
            for one in self._witness.answers
            if not one.good and one.ended_s > self._before.at_s
        ]
        return bad[:5]

    def cause_is_gone(self) -> None:
        """Count from now on."""
        at_s = time.monotonic()
        try:
            # Earlier writes that were not looked at yet are no sign of recovery.
            with psycopg.connect(self._url, connect_timeout=2) as connection:
                now: Sample | None = _sample(connection)[0]
        except psycopg.Error:
            now = self.latest
        self._before = _Before(at_s, now.ticks if now else 0, dict(now.syncs) if now else {})

    def back_after(self, name: str, patience_s: float) -> float | None:
        """Wait for `service`, `leader` or `agents`; return the seconds since the cause was gone.

        None: it did not come back in time.
        """
        ready = {"service": self._served, "leader": self._led, "agents": self._called}[name]
        end = self._before.at_s + patience_s
        while True:
            at_s = ready()
            if at_s is not None:
                return max(0.0, at_s - self._before.at_s)
            if time.monotonic() > end:
                return None
            time.sleep(LOOK_S / 2)

    def _served(self) -> float | None:
        for one in reversed(self._witness.answers):
            if one.began_s < self._before.at_s:
                break
            if one.good:
                return min(
                    each.ended_s
                    for each in list(self._witness.answers)
                    if each.good and each.began_s >= self._before.at_s
                )
        return None

    def _led(self) -> float | None:
        return self._first(lambda sample: sample.ticks > self._before.ticks)

    def _called(self) -> float | None:
        moments = [self._call_of(name) for name in self._alive()]
        found = [at_s for at_s in moments if at_s is not None]
        return max(found, default=0.0) if len(found) == len(moments) else None

    def _call_of(self, name: str) -> float | None:
        before = self._before.syncs.get(name)
        return self._first(lambda sample: sample.syncs.get(name) != before)

    def _first(self, comes: Callable[[Sample], bool]) -> float | None:
        found = None
        for sample in reversed(self._samples):
            if sample.at_s < self._before.at_s:
                break
            if comes(sample):
                found = sample.at_s
        return found

    def _look(self) -> None:
        while not self._ended.is_set():
            try:
                with psycopg.connect(self._url, connect_timeout=2, autocommit=True) as connection:
                    while not self._ended.wait(LOOK_S):
                        before_s = time.monotonic()
                        sample, seq = _sample(connection)
                        self.marks.append(Mark(before_s, time.monotonic(), seq))
                        self._samples.append(sample)
            except psycopg.Error:
                self._ended.wait(LOOK_S)

    def _ask(self) -> None:
        while not self._ended.wait(2 * LOOK_S):
            self._witness.send_next()


def _sample(connection: psycopg.Connection[Any]) -> tuple[Sample, int]:
    at_s = time.monotonic()
    row = connection.execute(ASK).fetchone()
    assert row is not None
    ticks, leader, epoch, seq, syncs = row
    return Sample(at_s, ticks, leader, epoch, syncs), seq
