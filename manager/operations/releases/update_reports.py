"""Update reports of sites: the last of each agent, and its history.

A launcher that did not reach the manager tells later what happened, in the order in which it did.
So reports come late, and after a crash twice: one that is known counts once.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.releases import releases, update_reports
from manager.db.releases.update_reports import UpdateReportRow
from manager.operations.actor import note
from manager.operations.identity.enrolment import AgentIdentity, agent_named
from shared.errors import check_choice
from shared.messages import Message

__all__ = ["OUTCOMES", "report_update", "update_reports_of"]

Outcome = Literal["updated", "went-back", "failed", "refused", "unreached"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
"""unreached: the manager was not; reported when it is over, and so needs no attention."""

TEXT_MOST: Final = 900
KEPT: Final = 50
SHOWN: Final = 500
TIMES_MOST: Final = 1_000_000


def report_update(
    db: Database,
    agent: AgentIdentity,
    version: str,
    outcome: str,
    step: str,
    detail: str,
    now_ms: int,
    *,
    at_ms: int = 0,
    times: int = 1,
) -> None:
    """Take what an agent's launcher says of an update; a failure is an alert.

    at_ms: when it was first so, by the site's clock; 0: now. times: in a row before it could be
    told. Raises FormatError (no such outcome).
    """
    check_choice("outcome", outcome, OUTCOMES)
    version, step, detail = version[:64], step[:64], detail[:TEXT_MOST]
    at_ms = min(at_ms, now_ms) if at_ms > 0 else now_ms
    told = {"version": version, "outcome": outcome, "step": step, "detail": detail}
    with db.write() as tx:
        row = {"agent_id": agent.id, "at_ms": at_ms, "times": min(times, TIMES_MOST)}
        if not update_reports.take(tx, {**row, **told, "reported_ms": now_ms}):
            return
        update_reports.keep_newest(tx, agent.id, KEPT)
        if outcome != "unreached":
            agents.update(tx, agent.id, update_result=_result(version, outcome, step, detail))
            releases.change_agent(tx, agent.id, **told, reported_ms=now_ms)
        alert = outcome not in ("updated", "unreached")
        action = f"agent.update-{outcome}"
        note(tx, now_ms, agent.actor, action, agent.name, alert=alert, at_ms=at_ms, times=times,
             version=version, step=step, detail=detail)  # fmt: skip


def _result(version: str, outcome: str, step: str, detail: str) -> Message:
    """Return an update's end as the agent's page shows it."""
    if outcome == "updated":
        code = "releases.updated_with_detail" if detail else "releases.updated"
        return Message(code, version=version, **({"detail": detail} if detail else {}))
    code = "releases.not_updated_because" if detail else "releases.not_updated"
    given = {"version": version, "outcome": outcome, "step": step}
    return Message(code, **given, **({"detail": detail} if detail else {}))


def update_reports_of(db: Database, agent: str = "") -> list[UpdateReportRow]:
    """Return what an agent said of updates, or all that take part; the newest first.

    Raises NotFoundError.
    """
    with db.read() as tx:
        number = agent_named(tx, agent).id if agent else None
        return update_reports.newest(tx, number, SHOWN)
