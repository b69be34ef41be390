"""No unit with two owners: judged by the tables, and by the history that the database wrote down.

Pure: rows in, sentences out. Invariants that are looked for:

    assignments  owners of a unit follow each other: epochs 1, 2, 3 without a gap (nothing was
                 removed), each closed before the next; rows are only added, and closed once
    rights       whoever may fetch a unit had it free before; holdings of two agents do not overlap
    leader       its epoch rises; ticks are those of the leader of that moment, and owners and
                 rights are given by it alone
    requests     a site is asked only by the agent that has the right to
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from benchmarks.faults.evidence.observations import Mark, Request

__all__ = [
    "Change",
    "Interval",
    "RightInterval",
    "appended_only",
    "foreign_requests",
    "holders",
    "led_only",
    "one_leader",
    "one_owner",
    "overlaps",
]

SHARED: Final = "shares an address"
"""Why any manager gives a unit to another agent: it heard of an address in a sync."""
CLOSING: Final = frozenset({"until_ms", "generation_until", "reason_closed"})


@dataclass(frozen=True, slots=True)
class Interval:
    """An owner, or a holder, of a unit. epoch: 0: not counted. until_ms None: still."""

    unit: str
    agent: str
    since_ms: int
    until_ms: int | None
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the history; was, becomes: the row before and after, or None.

    writer: the manager that wrote it, by the name that it gives PostgreSQL; empty: unknown.
    """

    seq: int
    what: str
    op: str
    leader_epoch: int
    was: Mapping[str, Any] | None
    becomes: Mapping[str, Any] | None
    writer: str = ""


@dataclass(frozen=True, slots=True)
class RightInterval:
    """An agent had the right to a unit between two rows of the history; None: it still has."""

    unit_id: int
    agent_id: int
    from_seq: int
    to_seq: int | None


def one_owner(rows: Iterable[Interval]) -> Iterator[str]:
    """Yield places where owners of a unit do not follow each other."""
    for unit, owners in _by_unit(rows).items():
        owners.sort(key=lambda one: one.epoch)
        numbers = [one.epoch for one in owners]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{unit}: epochs {numbers} of its owners: rows are missing or double"
        if sum(one.until_ms is None for one in owners) > 1:
            yield f"{unit}: has {sum(one.until_ms is None for one in owners)} owners now"
        for one, next_one in pairwise(owners):
            if one.until_ms is None:
                yield f"{unit}: {next_one.agent} came while {one.agent} was not over"


def overlaps(rows: Iterable[Interval], tolerance_ms: int) -> Iterator[str]:
    """Yield overlaps of intervals of two agents by more than the tolerance.

    Holds only where all clocks were right: each writer brings its own time.
    """
    for unit, held in _by_unit(rows).items():
        held.sort(key=lambda one: (one.since_ms, one.until_ms or 2**62))
        latest: Interval | None = None
        for one in held:
            if latest is not None and one.agent != latest.agent:
                end = latest.until_ms
                if end is None or one.since_ms < end - tolerance_ms:
                    yield (
                        f"{unit}: {one.agent} from {one.since_ms} on, {latest.agent} until "
                        f"{end or 'now'}"
                    )
            if latest is None or (one.until_ms or 2**62) >= (latest.until_ms or 2**62):
                latest = one


def appended_only(history: Iterable[Change]) -> Iterator[str]:
    """Yield rows of `assignments` that were removed, or changed otherwise than by closing them."""
    for change in history:
        if change.what != "assignments" or change.op == "INSERT":
            continue
        was, becomes = change.was or {}, change.becomes
        if becomes is None:
            yield f"assignment {was.get('id')} was removed"
            continue
        changed = {name for name in was if was[name] != becomes.get(name)}
        if was.get("until_ms") is not None:
            yield f"assignment {was.get('id')} was changed after its end: {sorted(changed)}"
        elif changed - CLOSING:
            yield f"assignment {was.get('id')}: {sorted(changed - CLOSING)} changed"


def one_leader(history: Iterable[Change]) -> Iterator[str]:
    """Yield places where a leader's epoch did not rise, or a tick was not the leader's."""
    epoch = 0
    for change in history:
        row = change.becomes or {}
        if change.what == "leader":
            if change.op == "DELETE":
                yield "the row of the leader was removed"
            elif row["holder"] and row["holder"] != (change.was or {}).get("holder"):
                if row["epoch"] <= epoch:
                    yield f"{row['holder']} leads in epoch {row['epoch']}, after {epoch}"
                epoch = row["epoch"]
        elif (
            change.what == "clock"
            and row.get("ticks") != (change.was or {}).get("ticks")
            and row["epoch"] != change.leader_epoch
        ):
            yield f"a tick of epoch {row['epoch']} in epoch {change.leader_epoch}"


def led_only(history: Iterable[Change], plain: Collection[int] = ()) -> Iterator[str]:
    """Yield owners and rights that were given by a manager that did not lead then.

    plain: agents to whom any manager gives rights, as they ask for their list. Who leads is known
    from the first change on: a manager takes the row itself.
    """
    leads = ""
    for change in history:
        row = change.becomes or {}
        if change.what == "leader":
            if row.get("holder") != (change.was or {}).get("holder"):
                leads = change.writer if row.get("holder") else ""
        elif (
            change.what in ("assignments", "rights")
            and change.op == "INSERT"
            and leads
            and change.writer != leads
            and not (change.what == "rights" and row["agent_id"] in plain)
            and not str(row.get("reason_opened")).startswith(SHARED)
        ):
            yield (
                f"unit {row['unit_id']}: given to agent {row['agent_id']} ({change.what}, row "
                f"{change.seq} of the history) by {change.writer}, while {leads} led"
            )


def holders(history: Iterable[Change], found: list[RightInterval]) -> Iterator[str]:
    """Gather who had which right when; say where one passed on without having been free."""
    open_rights: dict[int, tuple[int, int]] = {}
    for change in history:
        if change.what != "rights":
            continue
        was, becomes = change.was, change.becomes
        if was is not None and (becomes is None or _holder(was) != _holder(becomes)):
            unit_id, agent_id = _holder(was)
            _, from_seq = open_rights.pop(unit_id, (agent_id, 0))
            found.append(RightInterval(unit_id, agent_id, from_seq, change.seq))
            if becomes is not None:
                yield f"unit {unit_id}: its right passed from {_holder(was)} to {_holder(becomes)}"
        if becomes is not None and (was is None or _holder(was) != _holder(becomes)):
            unit_id, agent_id = _holder(becomes)
            if unit_id in open_rights:
                yield (
                    f"unit {unit_id}: given to agent {agent_id} while agent "
                    f"{open_rights[unit_id][0]} had it"
                )
            open_rights[unit_id] = (agent_id, change.seq)
    for unit_id, (agent_id, from_seq) in open_rights.items():
        found.append(RightInterval(unit_id, agent_id, from_seq, None))


def foreign_requests(
    requests: Iterable[Request],
    held: Iterable[RightInterval],
    marks: Sequence[Mark],
    units: Mapping[str, int],
    agents: Mapping[str, int],
) -> Iterator[str]:
    """Yield requests from an agent that had no right to the unit at that moment.

    units: unit by host name; agents: their ids by name. A moment of the history is known to lie
    between two marks, and whoever may be innocent is: so an accusation holds.
    """
    seqs = [mark.seq for mark in marks]
    times: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for one in held:
        # Not there yet at the last mark below it; no longer at the first one from it on.
        before = bisect_left(seqs, one.from_seq) - 1
        since_s = marks[before].before_s if before >= 0 else float("-inf")
        after = len(marks) if one.to_seq is None else bisect_left(seqs, one.to_seq)
        until_s = marks[after].after_s if after < len(marks) else float("inf")
        times[one.unit_id, one.agent_id].append((since_s, until_s))
    for request in requests:
        unit_id, agent_id = units.get(request.host), agents.get(request.agent)
        if unit_id is None or agent_id is None:
            yield f"{request.agent} asked {request.host}, which is no host of the manager"
            continue
        if not any(a <= request.at_s <= b for a, b in times.get((unit_id, agent_id), ())):
            at = bisect_right([mark.after_s for mark in marks], request.at_s)
            near = marks[min(at, len(marks) - 1)].seq if marks else 0
            yield (
                f"{request.agent} asked {request.host}{request.path} without the right to "
                f"(at {request.at_s:.3f}, near row {near} of the history)"
            )


def _holder(row: Mapping[str, Any]) -> tuple[int, int]:
    return int(row["unit_id"]), int(row["agent_id"])


def _by_unit(rows: Iterable[Interval]) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = defaultdict(list)
    for row in rows:
        found[row.unit].append(row)
    return found
