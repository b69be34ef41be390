"""A page never waits for what counts millions of rows: it comes later, or says how old it is."""

from __future__ import annotations

import threading

import pytest

from manager.console.requests import access
from manager.db.engine import Transaction
from manager.db.hosts import host_views
from tests.manager.console.conftest import Visitor
from tests.manager.running import Running


def test_the_first_look_is_told_that_it_is_being_counted(
    prsm: Running, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says so and comes again by itself; when all is counted, it is there."""
    go, count = threading.Event(), host_views.count_by_state

    def slowly(tx: Transaction) -> dict[str, int]:
        assert go.wait(30)
        return count(tx)

    monkeypatch.setattr(host_views, "count_by_state", slowly)
    monkeypatch.setattr(access, "FIRST_FIGURE_S", 0.05)
    viewer = person("viewer")
    answer = viewer.get("/console/")
    assert (answer.status_code, answer.headers["refresh"]) == (503, "1")
    assert "being counted for the first time" in answer.text
    go.set()
    monkeypatch.setattr(access, "FIRST_FIGURE_S", 30.0)
    assert "Needs attention" in viewer.get("/console/").text


def test_old_figures_are_shown_with_their_age(
    prsm: Running, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who comes back after an hour sees the page at once, and what it is of."""
    now_s = 1000.0
    monkeypatch.setattr(prsm.manager.db.figures, "_quick_s", 0.0)
    monkeypatch.setattr(prsm.manager.db.figures, "_clock", lambda: now_s)
    viewer = person("viewer")
    assert "counted" not in viewer.get("/console/").text
    now_s += 3600
    said = "Some figures on this page are 1\N{NO-BREAK SPACE}h old"
    assert said in viewer.get("/console/").text
