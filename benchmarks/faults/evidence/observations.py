"""Observations from outside, on the clock that no fault sets: CLOCK_MONOTONIC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simweb.judging.log_reader import read_log

__all__ = ["Acknowledged", "Mark", "Request", "requests_of", "sent_logs"]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A report that the manager said it has. sha256: of the whole body, hexadecimal."""

    agent: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Between two moments (seconds) the history reached to this row."""

    before_s: float
    after_s: float
    seq: int


@dataclass(frozen=True, slots=True)
class Request:
    """A request that a site saw. at_s: when it came in."""

    agent: str
    host: str
    path: str
    at_s: float


def requests_of(log: Path, agents: dict[str, str]) -> Iterator[Request]:
    """Yield the requests that a simulated web logged. agents: names by address."""
    for event in read_log(log):
        if event["event"] == "request" and event["client"] in agents:
            yield _request(event, agents[event["client"]])


def _request(event: dict[str, Any], agent: str) -> Request:
    return Request(agent, event["host"], event["path"], float(event["mono_start"]))


def sent_logs(home: Path) -> Iterable[Path]:
    """Return the logs that an agent was told to be taken: it moves them here then."""
    return sorted((home / "sent").glob("transfer.log.*"))
