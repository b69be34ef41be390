"""Selects the units of a plain agent that its logs show to be finished.

A plain agent says nothing of single units in a sync. Its logs say it, in one of three ways:
- `#Finished=URL` behind the last line of a unit. An agent that has ever written such a comment
  (`#Finished=` alone will do, at the head of its logs) is judged by them and the page limit only.
- A unit with a page limit has as many lines.
- An agent without such comments asks for a list within `SOON_MS` of its last log: it is through
  with the units that have lines since its list before. Or it asks once a night, as the agent of the
  source does, and whole nights brought no more lines of a unit (`QUIET_MS`).
Invariants: a unit without a line in a log of its order stays open, whatever is asked for: lines
from before it was given, or from before a restart, are of another order. A list that is asked for
twice, or after a restart, finishes nothing. So an agent that asks at each nightly start and sends a
log each morning never has a unit taken from it that it is not through with.
Source: seed 004, 5.1.4; docs/protocol.md, M3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.logs import reports
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.db.ownership import rights
from manager.db.ownership.rights import RightRow
from manager.db.planning import probes
from manager.operations.logs.completion import CompletionClaim, finish_units
from manager.operations.logs.log_close_time import LOGS_READ, closed_ms
from manager.operations.logs.log_summary import LogSummary
from shared.messages import Message
from shared.naming import HostFailure

__all__ = ["began_ms", "finish_by_list", "finish_by_log"]

HOUR_MS: Final = 3_600_000
SOON_MS: Final = HOUR_MS
"""An agent that asks for a list so soon after a log asks because it is through with the last one.
One that works by night sends its log in the morning and asks in the evening."""
PROBE_MS: Final = 12 * HOUR_MS
"""A probe takes minutes. One whose last lines are of the night before ended there."""
QUIET_MS: Final = 36 * HOUR_MS
"""From a log with the last lines of a unit to the list after the next night."""
NEXT_LOG_MS: Final = 20 * HOUR_MS
"""From a log to that of the next night, at least."""
AHEAD_MS: Final = 60_000
"""A log that was closed longer after now has a time by a clock that was put right since."""


def began_ms(row: AgentRow, right: RightRow, now_ms: int) -> int:
    """Return since when lines of a unit are of the order by which an agent holds it.

    Lines from before the unit was given, or from before a restart, do not show how much of it is
    left. A moment after now is by a clock that was put right since, and unknown.
    """
    moments = (right.granted_ms, row.restart_handled_ms or 0)
    return max((one for one in moments if one <= now_ms), default=0)


def finish_by_log(
    tx: Transaction, row: AgentRow, summary: LogSummary, log_closed_ms: int, now_ms: int
) -> None:
    """Finish the units of a plain agent that a log says to be finished, or that reached a limit.

    log_closed_ms: the latest moment at which it can have been closed (`log_close_time`).
    """
    if summary.says_finished or summary.finished:
        agents.update(tx, row.id, says_finished=True)
    if not row.list_sent_generation:
        return
    said = {(one.unit, one.round, one.kind) for one in summary.finished}
    keys = {one.unit for one in summary.units} | {one.unit for one in summary.finished}
    ids = hosts.ids_of_units(tx, keys)
    finished = {(ids[unit], number, kind) for unit, number, kind in said if unit in ids}
    held = [
        one
        for one in rights.of_units(tx, ids.values())
        if one.agent_id == row.id and began_ms(row, one, now_ms) <= log_closed_ms
    ]
    sums = _sums(tx, row, held)
    of_log = {(ids[one.unit], one.kind): one.page_lines for one in summary.units if one.unit in ids}
    claims = [
        _claim(right, found, probes.IN_ITS_LOG)
        for right in held
        if (found := sums.get(right.unit_id)) is not None
        and (
            (right.unit_id, right.round, found.kind) in finished
            or _is_full(right, found, of_log, began_ms(row, right, now_ms))
        )
    ]
    finish_units(tx, row, claims, row.list_sent_generation, now_ms, log_came=True)


def finish_by_list(tx: Transaction, row: AgentRow, now_ms: int) -> None:
    """Finish the units of a plain agent that it is through with, by its asking for a list."""
    if row.says_finished or not row.list_sent_generation or row.restart_ordered_ms is not None:
        return
    last_closed_ms = max(
        map(closed_ms, reports.newest(tx, LOGS_READ, agent_id=row.id)), default=None
    )
    if last_closed_ms is None:
        return
    is_through = row.log_since_list and -AHEAD_MS <= now_ms - last_closed_ms <= SOON_MS
    held = [one for one in rights.of_agent(tx, row.id) if one.kind != "refetch"]
    sums = _sums(tx, row, held)
    claims = []
    for right in held:
        found = sums.get(right.unit_id)
        if found is None or found.last_ms < began_ms(row, right, now_ms):
            continue
        if is_through and found.last_ms >= (row.list_sent_ms or 0):
            claims.append(_claim(right, found, probes.WANTS_A_LIST))
        elif right.kind == "probe":
            if now_ms - found.last_ms >= PROBE_MS:
                claims.append(_claim(right, found, probes.ITS_LOG_ENDS))
        elif now_ms - found.last_ms >= QUIET_MS and last_closed_ms - found.last_ms >= NEXT_LOG_MS:
            claims.append(_claim(right, found, probes.NO_MORE_LINES))
    finish_units(tx, row, claims, row.list_sent_generation, now_ms, log_came=True)


def _sums(tx: Transaction, row: AgentRow, held: Sequence[RightRow]) -> dict[int, SumRow]:
    """Return what the logs of an agent say of units for the orders that it holds them by."""
    order_of = {right.unit_id: (right.round, _kind(right)) for right in held}
    return {
        one.unit_id: one
        for one in measurements.sums_of_agent(tx, row.id, order_of)
        if order_of[one.unit_id] == (one.round, one.kind) and one.requests
    }


def _kind(right: RightRow) -> str:
    return "probe" if right.kind == "probe" else "crawl"


def _is_full(
    right: RightRow, found: SumRow, of_log: Mapping[tuple[int, str], int], since_ms: int
) -> bool:
    """Return whether a unit with a page limit has as many lines; robots.txt is not counted.

    Where the sums have lines of an earlier order, too, those of this log alone count.
    """
    lines = found.page_lines
    if found.first_ms is None or found.first_ms < since_ms:
        lines = of_log.get((right.unit_id, found.kind), 0)
    return 0 < right.max_transfer <= lines


def _claim(right: RightRow, found: SumRow, reason: Message) -> CompletionClaim:
    is_silent = found.requests > 0 and found.failed >= found.requests
    return CompletionClaim(
        unit_id=right.unit_id,
        kind=right.kind,
        round=right.round,
        pages=found.pages,
        response_bytes=found.response_bytes,
        reason=reason,
        failure=HostFailure.UNREACHABLE.value if is_silent else "",
    )
