"""A person's decision to plan a round now, with predictions in place of its open probes."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.ownership import rights
from manager.db.ownership.work_orders import OPEN
from manager.db.planning import probes
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from shared.messages import Message

__all__ = ["use_predictions"]


def use_predictions(
    db: Database, actor: Actor, now_ms: int, *, meant: int | None = None
) -> tuple[int, int]:
    """Plan a round now, with predictions in place of its open probes; return its number and them.

    Agents stop probing with their next lists; logs that still come count for later plans. meant:
    its number; None: the one that probes. Raises ConflictError where none does, or it does not.
    """
    with db.write() as tx:
        current = rounds.open_round(tx)
        if current is None or current.state != "probing":
            raise ConflictError("rounds.none_probing")
        if meant is not None and meant != current.number:
            raise ConflictError("rounds.other_probing", meant=meant, number=current.number)
        counts = probes.counts(tx, current.number)
        orders = sum(counts.get(state, 0) for state in OPEN)
        instead = Message("planning.predicted_instead")
        probes.drop_waiting(tx, current.number, instead)
        probes.fail_round(tx, current.number, instead)
        rights.withdraw_probes(tx, current.number, now_ms, instead)
        rounds.update(tx, current.number, predicted_ms=now_ms, verified_ms=now_ms)
        note(tx, now_ms, actor, "round.use-predictions", str(current.number), orders=orders)
        return current.number, orders
