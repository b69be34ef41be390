"""Crawl logs (M3), once intake has made sums of them, are entered.

Invariants: a report's id is its agent and the SHA-256 of its body, so a repeat is answered as done
and changes nothing; the same name with another body is refused. The report, its sums and what
follows from them (distances, volumes, probes that are done) are one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import directories, hosts
from manager.db.hosts.directories import DirectoryRow
from manager.db.logs import reports
from manager.db.logs.reports import NewReport
from manager.db.measurement.measurements import SumRow
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.distance.line_sums import DirectoryLineSums, UnitLineSums
from manager.errors import ConflictError, ForbiddenError
from manager.operations.actor import note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.activity import add_activity
from manager.operations.logs.log_close_time import latest_close_ms
from manager.operations.logs.log_summary import LogSummary
from manager.operations.logs.plain_completion import began_ms, finish_by_log
from manager.operations.measurement.distances import add_sums, refresh_distances, refresh_volumes
from manager.operations.measurement.refetch_orders import enter_results, keep_drawn
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen, values_of

__all__ = ["Accepted", "accept_log", "known_report"]


@frozen
class Accepted:
    """repeated: the same body was accepted before; the numbers are those of then."""

    repeated: bool
    lines: int
    quarantined: int


def known_report(db: Database, agent: AgentIdentity, sha256: str, name: str) -> Accepted | None:
    """Return the earlier answer to this body, or None: it is new.

    Raises ConflictError where another body came under this name.
    """
    with db.read() as tx:
        return _known(tx, agent, sha256, name)


def _known(tx: Transaction, agent: AgentIdentity, sha256: str, name: str) -> Accepted | None:
    same = reports.by_sha256(tx, agent.id, sha256)
    if same is not None:
        return Accepted(repeated=True, lines=same.lines, quarantined=same.quarantined)
    other = reports.by_name(tx, agent.id, name)
    if other is not None:
        raise ConflictError("logs.name_taken", report=name, digest=other.sha256)
    return None


def accept_log(
    db: Database,
    agent: AgentIdentity,
    summary: LogSummary,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> Accepted:
    """Keep a log and what it sums up to: distances, volumes, probes that are done.

    Of a plain agent it also finishes the units that it says to be finished (`plain_completion`).
    Raises ConflictError where another body came under the same name.
    """
    with db.write() as tx:
        known = _known(tx, agent, summary.sha256, summary.name)
        if known is not None:
            return known
        row = agents.by_id(tx, agent.id)
        if row is None:
            raise ForbiddenError("general.agent_removed", agent=agent.name)
        log_closed_ms = (
            latest_close_ms(tx, row.id, summary.name, now_ms, summary.until_ms)
            if row.is_plain
            else now_ms
        )
        reports.add(
            tx,
            NewReport(
                agent_id=agent.id,
                name=summary.name,
                sha256=summary.sha256,
                kind="log",
                size_bytes=summary.size_bytes,
                lines=summary.lines,
                quarantined=summary.quarantined,
                since_ms=summary.since_ms,
                until_ms=summary.until_ms,
                received_ms=now_ms,
                path=summary.path,
            ),
            summary.file_sha256,
        )
        _take_sums(tx, row, summary, log_closed_ms, now_ms)
        _note_impossible(tx, agent, summary, now_ms)
        _take_pages(tx, row, summary, now_ms, policy)
        agents.update(tx, agent.id, log_since_list=True, last_work_ms=now_ms)
        if row.is_plain:
            finish_by_log(tx, row, summary, log_closed_ms, now_ms)
        note(
            tx,
            now_ms,
            agent.actor,
            "log.accept",
            summary.name,
            lines=summary.lines,
            quarantined=summary.quarantined,
        )
    return Accepted(repeated=False, lines=summary.lines, quarantined=summary.quarantined)


def _take_sums(
    tx: Transaction, row: AgentRow, summary: LogSummary, log_closed_ms: int, now_ms: int
) -> None:
    named = {one.unit for one in summary.units} | {one.unit for one in summary.probed}
    ids = hosts.ids_of_units(tx, named)
    last_ms = min(summary.until_ms, log_closed_ms, now_ms)
    first_ms = _first_ms(tx, row, ids.values(), (summary.since_ms, last_ms), now_ms)
    sums = [
        SumRow(
            agent_id=row.id,
            unit_id=ids[one.unit],
            first_ms=first_ms[ids[one.unit]],
            last_ms=last_ms,
            **values_of(one, UnitLineSums),
        )
        for one in summary.units
        if one.unit in ids
    ]
    probed = {(ids[one.unit], one.round) for one in summary.probed if one.unit in ids}
    known = add_sums(tx, row.id, sums, probed)
    add_activity(
        tx,
        summary.since_ms,
        summary.until_ms,
        now_ms,
        (
            sum(one.requests for one in sums),
            sum(one.pages for one in sums),
            sum(one.errors for one in sums),
            sum(one.response_bytes for one in sums),
        ),
    )
    host_ids = {
        unit.key: unit.host_id
        for unit in hosts.units_of_hosts(tx, {one.host for one in summary.directories})
    }
    directories.add(
        tx,
        row.id,
        [
            DirectoryRow(
                agent_id=row.id,
                host_id=host_ids[one.host],
                **values_of(one, DirectoryLineSums),
            )
            for one in summary.directories
            if one.host in host_ids
        ],
    )
    refresh_distances(tx, row.id, known)
    probes.set_done(tx, row.id, [(one.unit_id, one.round) for one in sums if one.kind == "probe"])
    counted = {(one.unit_id, one.round) for one in known if one.with_probe}
    crawled: dict[int, set[int]] = defaultdict(set)
    for unit_id, number in probed:
        crawled[number].add(unit_id)
    for one in sums:
        if one.kind == "crawl" or (one.unit_id, one.round) in counted:
            crawled[one.round].add(one.unit_id)
    for number, unit_ids in crawled.items():
        refresh_volumes(tx, number, unit_ids)


def _first_ms(
    tx: Transaction, row: AgentRow, unit_ids: Collection[int], period: tuple[int, int], now_ms: int
) -> dict[int, int]:
    """Return since when the lines of each unit are.

    period: of the whole log. Of a unit that a plain agent holds that is not before it was given it:
    most of its logs do not say when they begin.
    """
    since_ms, last_ms = period
    began = dict.fromkeys(unit_ids, min(since_ms, last_ms))
    for right in rights.of_units(tx, unit_ids) if row.is_plain else ():
        at_ms = began_ms(row, right, now_ms)
        if right.agent_id == row.id and at_ms <= last_ms:
            began[right.unit_id] = max(began[right.unit_id], at_ms)
    return began


def _note_impossible(
    tx: Transaction, agent: AgentIdentity, summary: LogSummary, now_ms: int
) -> None:
    """Alert of lines that say what no line can; they are kept and count in no sum."""
    odd = [one for one in summary.units if one.odd_lines]
    if odd:
        note(
            tx,
            now_ms,
            agent.actor,
            "log.find-impossible",
            agent.name,
            alert=True,
            lines=sum(one.odd_lines for one in odd),
            unit=odd[0].unit,
            report=summary.name,
        )


def _take_pages(
    tx: Transaction, row: AgentRow, summary: LogSummary, now_ms: int, policy: Policy
) -> None:
    ids = hosts.ids_of_units(tx, {one.unit for one in summary.drawn})
    keep_drawn(
        tx,
        row.id,
        [(ids[page.unit], page) for page in summary.drawn if page.unit in ids],
        policy,
    )
    enter_results(tx, row.id, summary.refetched, now_ms, policy)
