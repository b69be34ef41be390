"""Links by kind, on the page of a round, on that of an agent, and in the calls behind them."""

from __future__ import annotations

import pytest

from manager.db.fleet.link_counts import LinkKindRow, add_link_kinds
from tests.manager.console.conftest import Visitor
from tests.manager.running import Running

KINDS = (("anchor", 1200, 900, 30), ("string", 40, 2, 37))


@pytest.fixture
def counted(prsm: Running) -> Running:
    """Return a manager that was told what links brought in round 1."""
    with prsm.manager.db.write() as tx:
        add_link_kinds(tx, [LinkKindRow(1, 1, *row) for row in KINDS])
    return prsm


def test_a_round_shows_what_each_kind_brought(counted: Running, person: Visitor) -> None:
    """The most URLs first; nothing where nobody told."""
    viewer = person("viewer")
    text = viewer.get("/console/rounds/1").text
    card = text[text.index('id="links"') :]
    assert card.index("<code>anchor</code>") < card.index("<code>string</code>")
    assert "pages: 900, missing: 30" in card
    assert "1,200" in card
    assert 'id="links"' not in viewer.get("/console/rounds/2").text


def test_an_agent_shows_what_each_kind_brought_since_it_started(person: Visitor) -> None:
    """Also a kind whose name is hostile, as text."""
    text = person("viewer").get("/console/agent?name=kyoto.example.ac.jp").text
    assert "<code>anchor</code>" in text
    assert "<code>&lt;" in text
