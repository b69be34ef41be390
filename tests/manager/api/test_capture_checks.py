"""An agent that lies is contradicted by those who fetched the same pages."""

from __future__ import annotations

import json
from typing import Any

from shared.wire.crawl_log import Comment, LogLine
from tests.manager.api.measured import OK, A, B, tick_all, units_of
from tests.manager.running import Running, fill, log_body

PAGES = 50  # as a probe has, so all three agents probe each host


def probed(prsm: Running, liar: str) -> None:
    """Let three agents probe four hosts; one of them invents the sizes of all pages."""
    agents = [prsm.agent(name) for name in (A, B, "prs.c.example")]
    fill(prsm, *(f"h{number}.jp" for number in range(4)))
    for agent in agents:
        agent.call.get(f"/servlets/subscribe?host={agent.name}")
        units_of(agent)
    prsm.local.post("/api/v1/rounds", json={"method": "random"})
    for turn in range(6):
        tick_all(prsm)
        for agent in agents:
            lines: list[LogLine | Comment] = [
                LogLine(f"{unit}p{page}", 1, 10 if agent.name == liar else 5_000, 1, OK)
                for unit in units_of(agent)
                for page in range(PAGES)
            ]
            minute = f"2026112110{turn:02}"
            assert agent.send_log(log_body(agent.name, lines, minute)).status_code == 200


def compared(prsm: Running, name: str) -> dict[str, Any]:
    """Return what the comparison of an agent says."""
    answer = prsm.local.post(f"/api/v1/agents/{name}/compare")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_liar_is_a_suspect_and_the_others_are_not(prsm: Running) -> None:
    """With examples, an alert, and nothing left behind."""
    probed(prsm, liar=B)
    honest = compared(prsm, A)
    assert (honest["compared"], honest["contradicted"], honest["suspect"]) == (4 * PAGES, 0, False)
    found = compared(prsm, B)
    assert (found["compared"], found["contradicted"], found["suspect"]) == (
        4 * PAGES,
        4 * PAGES,
        True,
    )
    assert len(found["examples"]) == 20
    assert found["examples"][0] == {
        "url": "http://h0.jp/p0", "status": 200, "bytes": 10, "agreeing": 0, "disagreeing": 2,
        "their_status": 200, "their_bytes": 5_000,
    }  # fmt: skip
    rows = prsm.local.get("/api/v1/audit?action=agent.compare").json()
    assert [(row["subject"], row["alert"]) for row in rows] == [(B, True), (A, False)]
    assert json.loads(rows[0]["detail"]) == {
        "compared": 4 * PAGES,
        "contradicted": 4 * PAGES,
    }
    assert prsm.files("spool") == []


def test_logs_from_long_ago_say_nothing(prsm: Running) -> None:
    """They count as long as a probe is fresh; then there is too little to judge."""
    probed(prsm, liar=B)
    prsm.clock.advance(31 * 86_400)
    found = compared(prsm, B)
    assert (found["compared"], found["suspect"]) == (0, False)


def test_an_unknown_agent_is_not_found(prsm: Running) -> None:
    """In words, and nothing is left behind."""
    assert prsm.local.post("/api/v1/agents/nobody/compare").status_code == 404
    assert prsm.files("spool") == []
