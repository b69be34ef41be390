"""Reports that came, and what their sender held meanwhile, by which a new one is judged.

Reading the lines, and judging which of them the agent held, is left to `manager.intake`, which asks
`held_during` first and runs without a database; `log_entry` enters what it found.
"""

from __future__ import annotations

from manager.assignment.right_history import LogKind, RightPeriod
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.hosts import directories
from manager.db.logs import reports
from manager.db.logs.reports import ReportRow
from manager.db.ownership import right_lists
from manager.db.rounds import rounds
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.logs.log_close_time import latest_close_ms
from shared.frozen import frozen

__all__ = ["HeldDuring", "ReportRow", "held_during", "list_reports"]


@frozen
class HeldDuring:
    """Facts by which a log is judged.

    round, kind, since_ms: defaults for the lines of a log that does not say (a plain agent's): the
    round and kind of its last units, and the end of its log before.
    last_round: the newest there is, 0: none.
    big: hosts of which it has logged so much in that round that their directories are summed up.
    closed_ms: the latest moment at which a plain agent can have closed the log; None: not known.
    """

    held: tuple[RightPeriod, ...]
    round: int
    kind: LogKind
    since_ms: int
    last_round: int = 0
    big: tuple[str, ...] = ()
    closed_ms: int | None = None


def held_during(
    db: Database, agent: AgentIdentity, since_ms: int, until_ms: int, name: str = ""
) -> HeldDuring:
    """Return what an agent held at any moment between two, by the manager's clock.

    name: that of the log which comes now, at the later one.
    """
    with db.read() as tx:
        held = tuple(right_lists.held_between(tx, agent.id, since_ms, until_ms))
        before = reports.last_until(tx, agent.id)
        last_round = rounds.last_announced(tx)
        closed_ms = latest_close_ms(tx, agent.id, name, until_ms) if agent.kind == "plain" else None
        newest = max(held, key=lambda unit: unit.since_ms, default=None)
        big = directories.big_hosts(tx, agent.id, newest.round) if newest is not None else []
    return HeldDuring(
        held=held,
        round=newest.round if newest is not None else 0,
        kind=newest.kind if newest is not None else "crawl",
        since_ms=before if before is not None else since_ms,
        last_round=last_round,
        big=tuple(big),
        closed_ms=closed_ms,
    )


def list_reports(
    db: Database, *, limit: int = 100, before_id: int | None = None, agent: str = ""
) -> list[ReportRow]:
    """Return reports, newest first, before an id; of one agent, or of all."""
    with db.read() as tx:
        row = agents.by_name(tx, agent) if agent else None
        if agent and row is None:
            return []
        return reports.newest(
            tx, max(1, min(limit, 1000)), before_id, row.id if row is not None else None
        )
