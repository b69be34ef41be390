"""What a sync says of URLs that were found: by kind, and those that are not fetched."""

from __future__ import annotations

from agent.app.reporting.agent_view import _opens_s, _wait_row, kinds_of_links, stopped_urls
from agent.modules.counts import KindCounts, StopCounts
from agent.modules.frontier import Wait, WaitReason
from agent.pipeline.link_kinds import EMBEDDED, LinkKind
from shared.wire.link_kinds import LINK_KINDS
from shared.wire.sync import Counters, KindOfLinks, said
from shared.wire.sync_bounds import MAX_KINDS, MAX_REASONS
from shared.wire.sync_json import message_of


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
    assert len(message_of(Counters, {"stopped": said(told)}).stopped) == MAX_REASONS


def test_kinds_are_told_with_what_they_brought() -> None:
    """All of them fit into a message, under the names that the manager knows."""
    counts = KindCounts()
    counts.found(LinkKind.IMAGE | EMBEDDED)
    counts.found(LinkKind.STRING)
    counts.answered(LinkKind.IMAGE, 200)
    counts.answered(LinkKind.STRING, 404)
    told = message_of(Counters, {"kinds": said(kinds_of_links(counts))}).kinds
    assert told == (
        KindOfLinks(kind="image", links=1, pages=1),
        KindOfLinks(kind="string", links=1, missing=1),
    )
    for kind in LinkKind:
        counts.found(kind)
    told = message_of(Counters, {"kinds": said(kinds_of_links(counts))}).kinds
    assert [one.kind for one in told] == list(LINK_KINDS)
    assert len(LINK_KINDS) < MAX_KINDS


def test_no_request_is_due_before_the_hours_of_the_site() -> None:
    """A host whose rest ends sooner waits for them; one that rests longer keeps its reason."""
    opens_s = _opens_s(1_060_000, 1_000_000, 500.0)
    assert opens_s == 560.0
    soon = _wait_row(Wait("a", "192.0.2.1", 510.0, WaitReason.INTERVAL, "20 s"), 500.0, opens_s)
    assert (soon.reason, soon.detail, soon.remaining_s) == ("closed", "", 60.0)
    late = _wait_row(Wait("a", "192.0.2.1", 900.0, WaitReason.BACK_OFF, "x"), 500.0, opens_s)
    assert (late.reason, late.remaining_s) == ("back_off", 400.0)
    assert _opens_s(None, 1_000_000, 500.0) == 0.0
