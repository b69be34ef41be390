"""Few hosts: when so many fail for the manager or an agent that its own side is at fault.

Pure rules. A `FewHosts` is a typed reason with its numbers; its message is made of them. Hosts of
the manager are judged by their last look-ups, those of an agent by its units that ended in the
newest round, and by the names that its name servers do not answer now. Invariant: an alert follows
from the current numbers alone and ends with them; no state is kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from manager.operations.alert import Alert
from shared.frozen import frozen
from shared.host_failures import HostFailure
from shared.messages import Message
from shared.naming import is_naming_failure

__all__ = [
    "FewCode",
    "FewHosts",
    "UnitCounts",
    "alert_of",
    "few_of_agents",
    "few_of_manager",
    "key_of",
    "reasons",
]

LEAST: Final = 4
"""Hosts that must have been tried, or all there are: two dead names of two thousand say nothing
while they are the first two."""


class FewCode(StrEnum):
    """The kind of few: hosts that resolve, or hosts that answer."""

    RESOLVED = "few_resolved"
    REACHED = "few_reached"


@frozen
class FewHosts:
    """Few hosts are resolved or reached. agent: its name; "": the manager.

    failures: how many failed, by code of `HostFailure`. share: of the tried, that must be good.
    """

    code: FewCode
    agent: str
    tried: int
    failures: tuple[tuple[str, int], ...]
    share: float

    @property
    def failed(self) -> int:
        """Return how many of the tried failed in this way."""
        return sum(count for _, count in self.failures)


@frozen
class UnitCounts:
    """The units of an agent in a round. unanswered: hosts whose name servers keep silent now."""

    agent: str
    finished: int
    failures: Mapping[str, int]
    open: int = 0
    unanswered: int = 0


def few_of_manager(
    resolved: int, failures: Mapping[str, int], share: float, waiting: int = 0
) -> FewHosts | None:
    """Judge the look-ups of the manager. share: of all hosts that must be resolved; 0: any is.

    failures: unresolved hosts by code. waiting: hosts that were not looked up yet.
    """
    failed = sum(failures.values())
    return _few(FewCode.RESOLVED, "", resolved + failed, failures, share, open_=waiting)


def few_of_agents(counts: Iterable[UnitCounts], share: float) -> Iterator[FewHosts]:
    """Judge agents by their units of the newest round: first names, then answers.

    Units without an address are not counted among those that might have answered.
    """
    for one in counts:
        unnamed = Counter({c: n for c, n in one.failures.items() if is_naming_failure(c)})
        silent = {
            c: n
            for c, n in one.failures.items()
            if c != HostFailure.ASKS_FOR_TIME and not is_naming_failure(c)
        }
        if one.unanswered:
            unnamed["name_unanswered"] += one.unanswered
        reached = one.finished + one.failures.get(HostFailure.ASKS_FOR_TIME, 0)
        named = reached + sum(silent.values())
        tried = named + unnamed.total()
        open_ = max(0, one.open - one.unanswered)
        for code, of, failures in (
            (FewCode.RESOLVED, tried, unnamed),
            (FewCode.REACHED, named, silent),
        ):
            found = _few(code, one.agent, of, failures, share, open_=open_)
            if found is not None:
                yield found


def _few(
    code: FewCode, agent: str, tried: int, failures: Mapping[str, int], share: float, *, open_: int
) -> FewHosts | None:
    failed = sum(failures.values())
    if not share or not failed or (tried < LEAST and open_) or tried - failed >= share * tried:
        return None
    ordered = tuple(sorted(failures.items(), key=lambda item: (-item[1], item[0])))
    return FewHosts(code, agent, tried, ordered, share)


def alert_of(one: FewHosts) -> Alert:
    """Return the alert of few hosts."""
    code = "alerts.hosts_not_reached"
    if one.code is FewCode.RESOLVED:
        code = "alerts.hosts_not_named_by_agent" if one.agent else "alerts.hosts_not_named"
    named = {"name": one.agent} if one.agent else {}
    why = reasons(dict(one.failures))
    numbers = {"failed": one.failed, "tried": one.tried, "share": one.share, "why": why}
    return Alert(key_of(one), Message(code, **named, **numbers))


def key_of(one: FewHosts) -> str:
    """Return the key of its alert."""
    if not one.agent:
        return "names:"
    kind = "agent-names" if one.code is FewCode.RESOLVED else "agent-reach"
    return f"{kind}:{one.agent}"


def reasons(failures: Mapping[str, int]) -> tuple[Message, ...]:
    """Return counts by code."""
    return tuple(
        Message("alerts.hosts_few_failures", hosts=count, failure=code)
        for code, count in failures.items()
    )
