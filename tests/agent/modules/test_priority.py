"""Which queue a URL waits in."""

from __future__ import annotations

import pytest

from agent.modules.priority import level_of
from agent.pipeline.ledger import LEVELS


@pytest.mark.parametrize(
    ("url", "depth", "redirects", "level"),
    [
        ("http://a.example/", 0, 0, 0),
        ("http://a.example/start?id=1", 0, 0, 0),
        ("http://a.example/moved?x", 12, 1, 0),
        ("http://a.example/news", 1, 0, 0),
        ("http://a.example/news?page=2", 1, 0, 2),
        ("http://a.example/old", 2, 0, 1),
        ("http://a.example/old", 10, 0, 1),
        ("http://a.example/old", 11, 0, 3),
        ("http://a.example/old?a=b", 11, 0, 3),
    ],
)
def test_near_and_plain_pages_come_first(url: str, depth: int, redirects: int, level: int) -> None:
    """The list's pages and targets of redirects, then plain pages, queries, and what is far."""
    assert level_of(url, depth, redirects) == level < LEVELS
