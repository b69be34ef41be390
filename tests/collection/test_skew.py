"""Clocks that differ: every segment is settled, whoever is right."""

from __future__ import annotations

import pytest

from agent.collection.orders import Order
from manager.operations.segments.uploads import list_transfers
from tests.collection.site import Site
from tests.manager.running import START_MS

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.mark.parametrize(
    ("ahead_ms", "state", "said"),
    [
        (-60 * DAY_MS, "quarantined", "did not own then"),
        (-3 * DAY_MS, "accepted", ""),
        (-5 * HOUR_MS, "accepted", ""),
        (5 * HOUR_MS, "accepted", ""),
        (3 * DAY_MS, "refused", "set the clock"),
        (4000 * DAY_MS, "refused", "set the clock"),
    ],
)
def test_every_segment_is_settled(site: Site, ahead_ms: int, state: str, said: str) -> None:
    """It is sent once, judged once, and the order says what became of it."""
    site.collect(1, at_ms=START_MS + ahead_ms)
    site.order(Order("1"))
    progress = site.carry_out()["1"]
    assert (progress.state, progress.result) == ("done", f"1 {state}")
    assert site.states() == [state]
    assert said in site.held()[0].result
    assert site.line.body_bytes < 730_000, "not sent again"
    site.order(Order("2"))
    assert site.carry_out()["2"].result == "nothing to send"


def test_what_came_from_the_future_is_taken_when_it_is_past(site: Site) -> None:
    """Refused, it stays with its agent; `full` asks about it again."""
    site.collect(1, at_ms=START_MS + 3 * DAY_MS)
    site.order(Order("1"))
    site.carry_out()
    site.prsm.clock.advance(3 * 86_400)
    site.order(Order("2", "full"))
    assert site.carry_out()["2"].result == "1 accepted"
    assert [one.state for one in list_transfers(site.prsm.manager.db)] == ["accepted", "refused"]
