"""The page of a round names what it waits for."""

from __future__ import annotations

from manager.cli.rounds.rounds import HOLDING
from manager.console.pages.rounds.round_tables import HOLDING_WORDS
from manager.operations.rounds.round_holders import HolderReason
from tests.manager.console.browser import Browser
from tests.manager.running import Running, fill


def test_every_reason_has_words() -> None:
    """The console and `prsm` say the same."""
    assert {reason: str(words) for reason, words in HOLDING_WORDS.items()} == HOLDING
    assert set(HOLDING_WORDS) == set(HolderReason)


def test_a_page_of_a_round_names_its_hosts(fresh: Running) -> None:
    """With links to each host and agent; a round that is over has no such list."""
    prsm, operator = fresh, Browser(fresh.public)
    operator.log_in("admin")
    fill(prsm, "x.example", "y.example")
    prsm.agent().call.get("/servlets/subscribe?host=a.example")
    prsm.local.post("/api/v1/probes", json={"agent": "a.example"})
    prsm.local.post("/api/v1/rounds", json={})
    page = operator.page("/console/rounds/1")
    assert "Pending units" in page.text
    assert "its distance is being measured" in page.text
    assert "/console/host?host=http%3A//x.example%3A80/" in page.links()
    assert "/console/agent?name=a.example" in page.links()
    prsm.local.post("/api/v1/rounds/cancel", json={})
    assert "Pending units" not in operator.page("/console/rounds/1").text
