"""Agents through the API: tokens, how they are, what is ordered of them."""

from __future__ import annotations

import pytest

from tests.manager.operations.doubted import doubt
from tests.manager.running import Running


def test_tokens_are_shown_once(prsm: Running) -> None:
    """A token is answered once; the list of waiting ones has neither it nor its hash."""
    made = prsm.local.post("/api/v1/agents/a.example/token").json()
    assert made["agent"] == "a.example"
    assert made["expires_ms"] == prsm.clock() + 72 * 3_600_000
    waiting = prsm.local.get("/api/v1/join-tokens")
    assert [one["agent"] for one in waiting.json()] == ["a.example"]
    assert made["token"] not in waiting.text
    assert "hash" not in waiting.text
    assert prsm.local.post("/api/v1/agents/Bad_Name/token").status_code == 400


def test_agents_are_listed_with_reasons(prsm: Running) -> None:
    """An agent is shown with how it is and why; its key's hash is not."""
    agent = prsm.agent()
    agent.call.get("/servlets/subscribe?host=a.example")
    listed = prsm.local.get("/api/v1/agents")
    (shown,) = listed.json()
    assert (shown["name"], shown["kind"], shown["last_contact"]) == (
        "a.example", "plain", "subscribe"
    )  # fmt: skip
    assert shown["state"]
    assert shown["reason"]
    assert "hash" not in listed.text
    detail = prsm.local.get("/api/v1/agents/a.example").json()
    assert detail["agent"] == shown
    assert prsm.local.get("/api/v1/agents/none.example").status_code == 404


def test_a_restart_is_ordered_and_handled(prsm: Running) -> None:
    """After the order M4 says RESTART, until the agent takes its list."""
    agent = prsm.agent()
    ordered = prsm.local.post("/api/v1/agents/a.example/command", json={"command": "restart"})
    assert ordered.status_code == 200
    for _ in range(2):
        answer = agent.call.get("/servlets/isrestart?host=a.example")
        assert answer.text.splitlines()[0] == "RESTART"
    agent.call.get("/servlets/list?host=a.example")
    assert agent.call.get("/servlets/isrestart?host=a.example").text == "CONTINUE\n"
    shown = prsm.local.get("/api/v1/agents/a.example").json()["agent"]
    assert shown["restart_handled_ms"] == prsm.clock()


def test_a_restart_deletes_pages_where_it_is_asked_to(prsm: Running) -> None:
    """By a field of its own; one that the call does not know is refused, not passed over."""
    agent = prsm.agent(kind="sync")
    path = f"/api/v1/agents/{agent.name}/command"
    assert prsm.local.post(path, json={"command": "restart", "pages": True}).status_code == 200
    shown = prsm.local.get(f"/api/v1/agents/{agent.name}").json()["agent"]
    assert (shown["command"], shown["command_argument"]) == ("restart", "confirmed")
    unknown = prsm.local.post(path, json={"command": "restart", "argument": "confirmed"})
    assert unknown.status_code == 400


@pytest.mark.parametrize("command", ["drain", "pause", "resume"])
def test_a_plain_agent_can_only_restart(prsm: Running, command: str) -> None:
    """What the five messages cannot say is 409; what no agent knows is 400."""
    prsm.agent()
    answer = prsm.local.post("/api/v1/agents/a.example/command", json={"command": command})
    assert answer.status_code == 409
    unknown = prsm.local.post("/api/v1/agents/a.example/command", json={"command": "dance"})
    assert unknown.status_code == 400
    nobody = prsm.local.post("/api/v1/agents/x/command", json={"command": command})
    assert nobody.status_code == 404


def test_a_retired_agent_gets_no_list(prsm: Running) -> None:
    """After retiring, the list is 403 with the reason, and its key is still known."""
    agent = prsm.agent()
    assert prsm.local.post("/api/v1/agents/a.example/retire").status_code == 204
    answer = agent.call.get("/servlets/list?host=a.example")
    assert answer.status_code == 403
    assert "retired" in answer.text


def test_the_next_list_is_limited(prsm: Running) -> None:
    """The source's switch between 50 pages and all is kept for each agent."""
    prsm.agent()
    for pages in (50, None):
        answer = prsm.local.post("/api/v1/agents/a.example/list-limit", json={"pages": pages})
        assert answer.status_code == 204
        shown = prsm.local.get("/api/v1/agents/a.example").json()["agent"]
        assert shown["list_limit"] == pages
    assert prsm.local.post("/api/v1/agents/a.example/list-limit", json={}).status_code == 400


def test_a_doubted_agent_says_why_and_can_be_believed(prsm: Running) -> None:
    """The faults are typed, with their parameters; believing ends them, once."""
    prsm.agent("a.example")
    doubt(prsm.manager.db, "a.example")
    shown = prsm.local.get("/api/v1/agents/a.example").json()["agent"]
    assert shown["doubted"] == [
        {"fault": "times", "factor": 9.7, "units": 40, "evidence": "others"}
    ]
    assert prsm.local.post("/api/v1/agents/a.example/believe").status_code == 204
    assert prsm.local.get("/api/v1/agents/a.example").json()["agent"]["doubted"] == []
    assert prsm.local.post("/api/v1/agents/a.example/believe").status_code == 409
    assert prsm.local.post("/api/v1/agents/nobody/believe").status_code == 404
