"""The right to fetch ends in time, whatever the clock of the process does."""

from __future__ import annotations

from agent.pipeline.permit import HeldPermit, PermitGate
from tests.agent.fakes import FakeClock


def test_a_permit_counts_from_the_sending_of_its_sync() -> None:
    """It ends a margin earlier than at the manager, however late the answer came."""
    clock = FakeClock(1000.0)
    gate = PermitGate(clock, margin_s=50.0)
    assert not gate.may_fetch()
    gate.grant(epoch=3, duration_s=200.0, sent_boottime_s=900.0)
    assert gate.held == HeldPermit(3, 1050.0)
    assert gate.remaining_s() == 50.0
    clock.now_s = 1049.9
    assert gate.may_fetch()
    clock.now_s = 1050.0
    assert not gate.may_fetch()
    assert gate.held is None
    assert gate.remaining_s() == 0.0


def test_a_late_answer_of_an_older_epoch_changes_nothing() -> None:
    """Answers that overtake each other cannot bring an old right back."""
    gate = PermitGate(FakeClock(1000.0), margin_s=0.0)
    gate.grant(4, 100.0, 1000.0)
    gate.grant(3, 9999.0, 1000.0)
    assert gate.held == HeldPermit(4, 1100.0)
    gate.grant(4, 200.0, 1000.0)
    assert gate.held == HeldPermit(4, 1200.0)


def test_a_permit_can_be_given_up() -> None:
    """After the manager granted none, nothing may be begun."""
    gate = PermitGate(FakeClock(), margin_s=0.0)
    gate.grant(1, 100.0, 1000.0)
    gate.revoke()
    assert not gate.may_fetch()
