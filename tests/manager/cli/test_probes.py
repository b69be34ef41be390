"""`prsm probes`, and what else lays the crawl open: trees of plans, rounds and hours over time."""

from __future__ import annotations

import json

from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running, fill


def test_probes_are_ordered_and_seen(prsm: Prsm, manager: Running) -> None:
    """Before the first round they wait for it; nothing named is a usage error."""
    fill(manager, "x.example", "y.example")
    manager.agent().call.get("/servlets/subscribe?host=a.example")
    assert "name a --host" in prsm("probes", "order", code=2).stderr
    said = prsm("probes", "order", "--host", "x.example").stdout
    assert "1 probe is ordered in round 1, when it begins" in said
    again = json.loads(prsm("probes", "order", "--agent", "a.example", "--json").stdout)
    assert (again["orders"], again["known"], again["waits"]) == (1, 1, True)
    assert "not known" in prsm("probes", "order", "--host", "z.example", code=1).stderr
    assert "hosts were measured within 30 days" in prsm("probes").stdout
    (seen,) = json.loads(prsm("probes", "--json").stdout)["agents"]
    assert (seen["agent"], seen["waiting"], seen["measured"]) == ("a.example", 2, 0)
    assert "Nothing like that" in prsm("probes", "list", "--older", "5").stdout
    assert "not found" in prsm("probes", "list", "--agent", "b.example", code=1).stderr
    assert len(json.loads(prsm("activity", "--json", "--steps", "5").stdout)) == 5


def test_a_plan_is_taken_back_by_its_number(prsm: Prsm, manager: Running) -> None:
    """Only where it is the one that was applied last; its tree and the rounds are shown."""
    fill(manager, "x.example", "y.example")
    manager.agent().call.get("/servlets/subscribe?host=a.example")
    prsm("plan", "--apply", "--no-compare")
    assert "One agent has no neighbour" in prsm("plans", "tree", "1").stdout
    assert "but it is plan 1" in prsm("plans", "undo", "7", code=1).stderr
    assert "taken back by plan 2" in prsm("plans", "undo", "1").stdout
    assert "No round yet" in prsm("rounds", "history").stdout
    prsm("rounds", "start", "--method", "keep")
    assert json.loads(prsm("rounds", "history", "--json").stdout)[0]["state"] == "probing"
