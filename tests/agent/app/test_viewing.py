"""What a sync says of URLs that were found and not fetched."""

from __future__ import annotations

from agent.app.viewing import stopped_urls
from agent.modules.counts import StopCounts
from shared.wire.sync import Counters
from shared.wire.sync_bounds import MAX_REASONS
from shared.wire.sync_light import said


def test_stops_are_told_with_reason_and_example() -> None:
    """The most frequent reason comes first, and no more of them than a message takes."""
    filtered, given_up = StopCounts(), StopCounts()
    filtered.add("too deep", "http://a.example/1")
    for number in range(3):
        given_up.add("timeout", f"http://b.example/{number}")
    told = stopped_urls(filtered, given_up)
    assert [(one.reason, one.count, one.example) for one in told] == [
        ("timeout", 3, "http://b.example/0"),
        ("too deep", 1, "http://a.example/1"),
    ]
    for number in range(2 * MAX_REASONS):
        filtered.add(f"reason {number}", "x" * 5000)
    told = stopped_urls(filtered, given_up)
    assert len(Counters.model_validate({"stopped": said(told)}).stopped) == MAX_REASONS
