"""Rounds and plans through the API."""

from __future__ import annotations

from typing import get_args

import pytest

from manager.api.rounds.rounds import Method
from manager.operations.rounds.rounds import METHODS
from tests.manager.many_rounds import add_plans, add_rounds
from tests.manager.running import Running, fill


def test_methods_are_those_of_the_operations() -> None:
    """No method is missing here."""
    assert set(get_args(Method)) == set(METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_a_round_is_started_and_cancelled(prsm: Running, method: str) -> None:
    """A round shows its progress; a second one is 409; cancelled, it says why."""
    fill(prsm, "a.example", "b.example")
    prsm.agent().call.get("/servlets/subscribe?host=a.example")
    started = prsm.local.post("/api/v1/rounds", json={"method": method})
    assert started.status_code == 201
    assert started.json()["round"]["method"] == method
    again = prsm.local.post("/api/v1/rounds", json={})
    assert again.status_code == 409
    cancelled = prsm.local.post("/api/v1/rounds/cancel", json={"reason": "a try"}).json()
    assert cancelled["round"]["state"] == "cancelled"
    assert cancelled["round"]["reason"] == "a try"
    assert [one["number"] for one in prsm.local.get("/api/v1/rounds").json()["rounds"]] == [1]
    assert prsm.local.get("/api/v1/rounds/2").status_code == 404


def test_there_must_be_somebody_to_work(prsm: Running) -> None:
    """Without agents a round and a plan are 409 in words; an unknown method is 400."""
    for path in ("rounds", "plans", "rounds/cancel"):
        answer = prsm.local.post(f"/api/v1/{path}", json={})
        assert answer.status_code == 409
        assert len(answer.json()["detail"]) > 10
    for path in ("rounds", "plans"):
        answer = prsm.local.post(f"/api/v1/{path}", json={"method": "magic"})
        assert answer.status_code == 400
        assert "method" in answer.json()["detail"]


def test_a_plan_is_made_and_applied(prsm: Running) -> None:
    """A plan shows costs before and after and its moves; applied, units have owners."""
    fill(prsm, "a.example", "b.example")
    for name in ("x.example", "y.example"):
        prsm.agent(name).call.get(f"/servlets/subscribe?host={name}")
    made = prsm.local.post("/api/v1/plans", json={"method": "random", "seed": 3})
    assert made.status_code == 201
    plan = made.json()
    number = plan["plan"]["id"]
    assert {agent["name"] for agent in plan["agents"]} == {"x.example", "y.example"}
    assert len(plan["moves"]) == 2
    assert prsm.local.get(f"/api/v1/plans/{number}").json() == plan
    taker = plan["moves"][0]["taker"]
    wanted = [move for move in plan["moves"] if move["taker"] == taker]
    his = prsm.local.get(f"/api/v1/plans/{number}?agent={taker}&limit=1").json()
    assert (his["moving"], his["moves"]) == (len(wanted), wanted[:1])
    assert prsm.local.get(f"/api/v1/plans/{number}?agent=z.example").status_code == 404
    applied = prsm.local.post(f"/api/v1/plans/{number}/apply", json={})
    assert applied.json() == {"moved": 2}
    owners = {host["owner"] for host in prsm.local.get("/api/v1/hosts").json()["hosts"]}
    assert owners <= {"x.example", "y.example"}
    assert prsm.local.post(f"/api/v1/plans/{number}/apply", json={}).json() == {"moved": 0}
    assert prsm.local.post("/api/v1/plans/99/apply", json={}).status_code == 404
    assert [one["id"] for one in prsm.local.get("/api/v1/plans").json()["plans"]] == [number]


def test_a_plan_is_taken_back(prsm: Running) -> None:
    """The answer is the plan that gives back; with nothing to give back it is 409."""
    fill(prsm, "a.example", "b.example")
    prsm.agent("x.example").call.get("/servlets/subscribe?host=x.example")
    assert prsm.local.post("/api/v1/plans/undo", json={}).status_code == 409
    made = prsm.local.post("/api/v1/plans", json={"method": "keep"}).json()
    assert {one["method"] for one in made["compared"]} == set(METHODS) - {"keep"}
    number = made["plan"]["id"]
    prsm.local.post(f"/api/v1/plans/{number}/apply", json={})
    undone = prsm.local.post("/api/v1/plans/undo", json={})
    assert undone.status_code == 201
    assert undone.json()["plan"]["undoes"] == number
    shown = prsm.local.get(f"/api/v1/plans/{number}").json()
    assert shown["undone_by"] == undone.json()["plan"]["id"]


def test_many_rounds_and_plans_are_listed_page_by_page(prsm: Running) -> None:
    """Each page says how many there are, so none is the last unnoticed."""
    add_rounds(prsm.manager.db, 1, 1100)
    add_plans(prsm.manager.db, 1, 1100)
    for kind, key in (("rounds", "number"), ("plans", "id")):
        first = prsm.local.get(f"/api/v1/{kind}?limit=1000").json()
        rest = prsm.local.get(f"/api/v1/{kind}?limit=1000&offset=1000").json()
        assert first["total"] == rest["total"] == 1100
        assert [one[key] for one in first[kind] + rest[kind]] == list(range(1100, 0, -1))
        tree = prsm.local.get(f"/api/v1/{kind}?method=tree&limit=1&sort=number").json()
        assert (tree["total"], [one[key] for one in tree[kind]]) == (367, [1])
        assert prsm.local.get(f"/api/v1/{kind}?sort=colour").status_code == 400
    assert prsm.local.get("/api/v1/plans?applied=false").json()["total"] == 1100 - 366
    assert prsm.local.get("/api/v1/rounds?state=asleep").status_code == 400
    before = prsm.local.get("/api/v1/rounds/history?before=3").json()
    assert [one["number"] for one in before] == [1, 2]


def test_rounds_by_the_clock(prsm: Running) -> None:
    """A schedule is added, listed with its next runs, and removed; what is none is 400."""
    asked = {"crontab": "0 2 * * 1-5", "zone": "Asia/Tokyo", "method": "keep"}
    made = prsm.local.post("/api/v1/rounds/schedules", json=asked)
    assert made.status_code == 201
    assert len(made.json()["next_runs"]) == 5
    assert prsm.local.get("/api/v1/rounds/schedules").json() == [made.json()]
    for wrong in ({"crontab": "nightly"}, {"zone": "Nowhere"}, {"method": "luck"}):
        assert prsm.local.post("/api/v1/rounds/schedules", json=asked | wrong).status_code == 400
    remove = "/api/v1/rounds/schedules/1/remove"
    assert prsm.local.post(remove, json={}).status_code == 204
    assert prsm.local.post(remove, json={}).status_code == 404


def test_a_round_is_reported(prsm: Running) -> None:
    """Also while it goes on."""
    fill(prsm, "a.example")
    prsm.agent().call.get("/servlets/subscribe?host=a.example")
    prsm.local.post("/api/v1/rounds", json={"method": "keep"})
    report = prsm.local.get("/api/v1/rounds/1/report").json()
    assert (report["number"], report["state"]) == (1, "probing")
    assert prsm.local.get("/api/v1/rounds/2/report").status_code == 404


def test_what_a_round_waits_for_is_listed(prsm: Running) -> None:
    """Each host has its agent and the code of a reason; a round that is over waits for nothing."""
    fill(prsm, "a.example", "b.example")
    prsm.agent().call.get("/servlets/subscribe?host=a.example")
    assert prsm.local.post("/api/v1/probes", json={"agent": "a.example"}).json()["orders"] == 2
    prsm.local.post("/api/v1/rounds", json={})
    held = prsm.local.get("/api/v1/rounds/1/holders", params={"limit": 1}).json()
    assert held["total"] == 2
    (first,) = held["holders"]
    assert (first["unit"], first["agent"], first["reason"]) == (
        "http://a.example:80/", "a.example", "probing",
    )  # fmt: skip
    assert prsm.local.get("/api/v1/rounds/1/holders", params={"limit": 0}).status_code == 400
    prsm.local.post("/api/v1/rounds/cancel", json={})
    assert prsm.local.get("/api/v1/rounds/1/holders").json() == {"total": 0, "holders": []}
    assert prsm.local.get("/api/v1/rounds/2/holders").status_code == 404
