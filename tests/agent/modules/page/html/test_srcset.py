"""The candidates of a srcset."""

from __future__ import annotations

import json

import pytest

from agent.modules.page.html.attribute_values import srcset_urls
from tests.fixtures_dir import FIXTURES

ROWS = FIXTURES / "wpt-html" / "srcset.json"


@pytest.mark.parametrize("row", json.loads(ROWS.read_text()) if ROWS.exists() else [])
def test_finds_what_browsers_find(row: dict[str, object]) -> None:
    """The candidate that a browser would take is among ours."""
    wanted = row["must_contain"]
    assert isinstance(wanted, list)
    assert set(wanted) <= set(srcset_urls(str(row["srcset"])))


def test_gives_every_candidate() -> None:
    """Descriptors and commas part the candidates; commas inside a URL do not."""
    assert list(srcset_urls("a,b.png 1x, c.png 2.5x,d.png, e(1).png 100w")) == [
        "a,b.png",
        "c.png",
        "d.png",
        "e(1).png",
    ]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["(", "a (", ", ", ",", "a,", "a ,(", " "])
def test_hostile_values_take_one_pass(piece: str) -> None:
    """Open brackets without end do not take the square of their number."""
    for _ in srcset_urls(piece * 100_000):
        pass
