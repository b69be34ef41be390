"""The clock's one row: when the last tick was. Permits count from it (`assignment.permits`)."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.db.tables import agents, clock, hosts, probe_orders
from manager.db.transaction import Transaction

__all__ = [
    "held_until",
    "hold",
    "last_epoch",
    "last_tick",
    "move_deadlines",
    "number_rounds_from",
    "rounds_from",
    "set_last_tick",
    "set_watched_report",
    "watch_again",
    "watched_report",
]


_LAST_TICK: Final = sa.select(clock.c.last_tick_ms)
_LAST_EPOCH: Final = sa.select(clock.c.epoch)
_HELD_UNTIL: Final = sa.select(clock.c.held_until_ms)
_WATCHED_REPORT: Final = sa.select(clock.c.watched_report)


def last_tick(tx: Transaction) -> int | None:
    """Return when the last tick was; None: there was none yet."""
    found = tx.value(_LAST_TICK)
    return None if found is None else int(found)


def last_epoch(tx: Transaction) -> int:
    """Return the epoch of the leader whose tick was the last."""
    return int(tx.value(_LAST_EPOCH) or 0)


def set_last_tick(tx: Transaction, now_ms: int, epoch: int) -> None:
    """Note a tick."""
    row = {"id": 1, "last_tick_ms": now_ms, "epoch": epoch, "ticks": 1}
    tx.upsert(clock, [row], ["id"], add=["ticks"])


def held_until(tx: Transaction) -> int:
    """Return until when no rights are given out; 0: they are."""
    return int(tx.value(_HELD_UNTIL) or 0)


def hold(tx: Transaction, until_ms: int) -> None:
    """Grant no rights until a moment."""
    tx.upsert(clock, [{"id": 1, "held_until_ms": until_ms}], ["id"])


def rounds_from(tx: Transaction) -> int:
    """Return the number behind which new rounds are numbered."""
    return int(tx.value(sa.select(clock.c.rounds_from)) or 0)


def number_rounds_from(tx: Transaction, number: int) -> None:
    """Give new rounds greater numbers than this one."""
    tx.upsert(clock, [{"id": 1, "rounds_from": number}], ["id"])


def watched_report(tx: Transaction) -> int:
    """Return the newest report by which the agents were judged."""
    return int(tx.value(_WATCHED_REPORT) or 0)


def set_watched_report(tx: Transaction, report_id: int) -> None:
    """Note that the agents were judged."""
    tx.execute(clock.update().values(watched_report=report_id))


def watch_again(tx: Transaction) -> None:
    """Request a review of agents at the next tick, though no report came."""
    tx.execute(clock.update().values(watched_report=-1))


def move_deadlines(tx: Transaction, by_ms: int) -> None:
    """Move what is promised and waited for with a clock that leapt or stood.

    by_ms: negative where the clock was set back; then also what is due later than that.
    """
    tx.execute(
        agents.update()
        .where(agents.c.permit_until_ms > 0)
        .values(permit_until_ms=agents.c.permit_until_ms + by_ms)
    )
    tx.execute(
        agents.update()
        .where(agents.c.last_contact_ms.is_not(None))
        .values(
            last_contact_ms=agents.c.last_contact_ms + by_ms,
            promised_ms=agents.c.promised_ms + by_ms,
        )
    )
    tx.execute(
        clock.update()
        .where(clock.c.held_until_ms > 0)
        .values(held_until_ms=clock.c.held_until_ms + by_ms)
    )
    tx.execute(
        probe_orders.update()
        .where(probe_orders.c.state.in_(("waiting", "granted", "finished")))
        .values(
            ordered_ms=probe_orders.c.ordered_ms + by_ms,
            granted_ms=probe_orders.c.granted_ms + by_ms,
            finished_ms=probe_orders.c.finished_ms + by_ms,
        )
    )
    if by_ms < 0:
        tx.execute(
            hosts.update()
            .where(hosts.c.resolve_after_ms.is_not(None))
            .values(resolve_after_ms=hosts.c.resolve_after_ms + by_ms)
        )
