"""End of the probes of a round: which of them it waits for.

While few probes of a step are open, the next step is ordered for the other units. When no step is
to come, a round waits for the last few probes as long again as for all others; then they are given
up and the crawl begins. So one slow host, which its agents probe one after the other, does not stop
all other hosts.
Invariant: probes of an agent that is away, outside its hours or plain are always waited for, until
they time out: an agent gets only units that it measured.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.ownership import rights
from manager.db.planning import probe_progress, probes
from manager.db.planning.probe_progress import ProbeProgress
from manager.db.rounds import rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.actor import CLOCK, note
from manager.operations.planning.balancing_problem import DEAL
from manager.operations.policy import Policy
from manager.operations.rounds.agent_timing import ForecastReason, timings_of
from shared.messages import Message

__all__ = ["ProbeState", "give_up_late_probes", "probe_state"]

LATE_SHARE: Final = 0.05
"""Of the probes of a round: so few are not waited for at any price."""


class ProbeState(Enum):
    """State of the probes of a round."""

    OPEN = "open"
    """It waits for them."""
    NEARLY_DONE = "nearly done"
    """Few of the last step are open: more may be ordered for other units."""
    LATE = "late"
    """Few of the round are open, and have been for as long as all others took."""
    DONE = "done"
    """None is open."""


def probe_state(tx: Transaction, current: RoundRow, policy: Policy, now_ms: int) -> ProbeState:
    """Return the state of the probes of a round that probes."""
    number = current.number
    if not probes.any_open(tx, number):
        return ProbeState.DONE
    if _has_more_steps(current, policy):
        nearly = probe_progress.is_nearly_done(tx, number, current.probe_steps)
        return ProbeState.NEARLY_DONE if nearly else ProbeState.OPEN
    found = probe_progress.progress_of(tx, number)
    late = found is not None and _is_late(tx, number, found, policy, now_ms)
    return ProbeState.LATE if late else ProbeState.OPEN


def _has_more_steps(current: RoundRow, policy: Policy) -> bool:
    is_planned = current.method != DEAL and current.verified_ms is None
    return current.probe and is_planned and current.probe_steps < policy.probe_steps


def _is_late(
    tx: Transaction, number: int, found: ProbeProgress, policy: Policy, now_ms: int
) -> bool:
    if found.open_orders > LATE_SHARE * found.all_orders:
        return False
    most_ms = probe_progress.end_of_first(tx, number, round((1 - LATE_SHARE) * found.measured))
    if most_ms is None:
        return False
    took_ms = max(most_ms - found.began_ms, round(1000 * policy.log_timeout_s))
    if now_ms < max(most_ms, found.step_ms) + took_ms:
        return False
    timings = timings_of(tx, probe_progress.open_agents(tx, number), policy, now_ms)
    return all(
        one.reason is ForecastReason.WORKING and not one.is_plain for one in timings.values()
    )


def give_up_late_probes(
    db: Database, current: RoundRow, now: Callable[[], int], policy: Policy
) -> int:
    """Give up the late probes of a round, if they are still late; return how many.

    Agents stop with their next lists; a log that still comes counts for later plans.
    """
    with db.write() as tx:
        again, now_ms = rounds.open_round(tx), now()
        if again is None or again.number != current.number or again.state != "probing":
            return 0
        found = probe_progress.progress_of(tx, again.number)
        if found is None or probe_state(tx, again, policy, now_ms) is not ProbeState.LATE:
            return 0
        late = Message("planning.late_probe")
        probes.fail_round(tx, again.number, late)
        rights.withdraw_probes(tx, again.number, now_ms, late)
        rounds.update(tx, again.number, verified_ms=now_ms)
        note(tx, now_ms, CLOCK, "round.give-up-probes", str(again.number), orders=found.open_orders)
        return found.open_orders
