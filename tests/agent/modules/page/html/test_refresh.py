"""Declarative refreshes."""

from __future__ import annotations

import json

import pytest

from agent.modules.page.addresses import Addresses
from agent.modules.page.html.attribute_values import refresh_target
from tests.fixtures_dir import FIXTURES

ROWS = FIXTURES / "wpt-html" / "meta_refresh.json"


@pytest.mark.parametrize("row", json.loads(ROWS.read_text()) if ROWS.exists() else [])
def test_leads_where_browsers_go(row: dict[str, object]) -> None:
    """A refresh names the page that a browser would load next."""
    target = refresh_target(str(row["content"]))
    refresh = row["refresh"]
    expected = refresh["url"] if isinstance(refresh, dict) else None
    if expected is None:
        assert target is None
    else:
        page = Addresses("http://a.example/d/", "utf-8")
        assert target is not None
        assert page.resolve(target) == page.resolve(expected)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["1", " ", "1.", ";", "url=", "1;url= "])
def test_hostile_values_take_one_pass(piece: str) -> None:
    """Length alone does no harm."""
    refresh_target(piece * 200_000)
