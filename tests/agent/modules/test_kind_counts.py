"""What each kind of links brings, and how a kind travels with its URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.adapters.ledger.jobs.journal import record, url_of
from agent.modules.counts import KindCounts, KindSum
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.link_kinds import EMBEDDED, LinkKind, kind_name
from shared.wire.link_kinds import SWITCHABLE


def test_each_kind_is_counted_by_itself() -> None:
    """Whether a URL was loaded with its page makes no other kind."""
    counts = KindCounts()
    counts.found(LinkKind.STYLE | EMBEDDED)
    counts.found(LinkKind.STRING)
    for status in (200, 404, 410, 500, 301, 0):
        counts.answered(LinkKind.STYLE | EMBEDDED, status)
    assert counts.by_name == {"style": KindSum(1, 1, 2), "string": KindSum(1, 0, 0)}


def test_the_settings_name_every_kind_that_can_be_off() -> None:
    """Pages could not be crawled without anchors, and nothing without the list."""
    assert [kind.name.lower() for kind in LinkKind][2:] == list(SWITCHABLE)
    assert kind_name(99) == "unknown"


@given(st.integers(0, 255), st.integers(0, 50), st.integers(-2, 10_000), st.integers(0, 2**41))
def test_a_queued_url_keeps_its_kind(kind: int, redirects: int, depth: int, due_ms: int) -> None:
    """On disk, over restarts."""
    queued = QueuedUrl(
        7, "http://a.example/", 3, depth, redirects, None, 1, 2, due_ms, link_kind=kind
    )
    assert url_of(record(queued, 1, due_ms), 3, 7, 2) == queued


@pytest.mark.parametrize(("text", "redirects"), [(b"1 0 0 http://a.example/", 0), (b"1 9 0 x", 9)])
def test_urls_that_were_queued_before_have_no_kind(text: bytes, redirects: int) -> None:
    """A queue that an earlier version wrote is read as it is."""
    read = url_of(text, 1, 1, 0)
    assert (read.link_kind, read.redirects) == (0, redirects)
