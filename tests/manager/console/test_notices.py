"""What an administrator should look at, and why."""

from __future__ import annotations

import json
from contextvars import copy_context
from dataclasses import replace

import pytest

from manager.assignment.liveness import Liveness, LivenessState
from manager.console.language import speak
from manager.console.notices import (
    Notice,
    agent_notices,
    detail_text,
    manager_notices,
    notices,
)
from manager.db.fleet import agents
from manager.operations.fleet.agents import AgentRow, AgentView, agent_views, list_agents
from manager.operations.identity.managers import Managers, ServingManager
from manager.operations.ownership.pin_rules import IneffectiveRule
from manager.operations.people.audit_log import AuditRow
from shared.messages import Message, render
from tests.manager.console.conftest import Visitor
from tests.manager.running import Running

NOW_MS = 1_790_000_000_000
HOUR_MS = 3_600_000


@pytest.fixture
def calm(prsm: Running) -> AgentView:
    """Return an agent with which nothing is wrong."""
    views = list_agents(prsm.manager.db, prsm.clock())
    view = next(view for view in views if view.row.name == "kyoto.example.ac.jp")
    assert list(agent_notices(view, NOW_MS)) == []
    return view


def _told(view: AgentView, **changes: object) -> list[Notice]:
    row: AgentRow = replace(view.row, **changes)  # type: ignore[arg-type]  # columns of many types
    return list(agent_notices(replace(view, row=row), NOW_MS))


def test_troubles_are_told_with_their_numbers(calm: AgentView) -> None:
    """A clock, a disk, reports that wait, two machines with one key: each in a sentence."""
    (skew,) = _told(calm, skew_ms=-120_000)
    assert "skew of −2" in skew.text
    (disk,) = _told(calm, disk_free_bytes=200_000_000)
    assert "200\u00a0MB" in disk.text
    (waiting,) = _told(calm, reports_waiting=1234)
    assert "1,234 undelivered reports" in waiting.text
    (clone,) = _told(calm, clone_reason="sequence 3 came after 7")
    assert clone.weight == "bad"


def test_orders_that_nobody_carries_out_are_told(calm: AgentView) -> None:
    """A restart or command is a notice when it is hours old, and not when it is done."""
    (restart,) = _told(calm, restart_ordered_ms=NOW_MS - 3 * HOUR_MS)
    assert "has not done the command restart, ordered 3\u00a0h ago" in restart.text
    pause = {"command_id": "1", "command": "pause", "command_ordered_ms": NOW_MS - 3 * HOUR_MS}
    (paused,) = _told(calm, **pause)
    assert "pause" in paused.text
    assert _told(calm, **pause, command_done_ms=NOW_MS) == []
    assert _told(calm, restart_ordered_ms=NOW_MS - HOUR_MS) == []


@pytest.mark.parametrize(
    "trouble",
    [
        {"clone_reason": "sequence 3 came after 7"},
        {"suspect_since_ms": 1, "suspect_reason": "it lies"},
        {"skew_ms": 61_000},
        {"disk_free_bytes": 999_999_999},
        {"reports_waiting": 20},
        {"restart_ordered_ms": 1},
        {"command_id": "1", "command": "pause", "command_ordered_ms": 1},
        {"last_contact_ms": 1, "promised_ms": 2, "permit_until_ms": 3},
    ],
)
def test_the_overview_tells_every_trouble_of_an_agent(
    prsm: Running, person: Visitor, calm: AgentView, trouble: dict[str, object]
) -> None:
    """It looks closer only at agents with a trouble: none is missed."""
    with prsm.manager.db.write() as tx:
        agents.update(tx, calm.row.id, command_done_ms=None)
        agents.update(tx, calm.row.id, **trouble)
    (view,) = agent_views(prsm.manager.db, [calm.row.id], prsm.clock())
    (notice,) = agent_notices(view, prsm.clock())
    told = person("viewer").page("/console/").text
    assert f"{notice.about} {notice.text}" in told


def test_lost_is_worse_than_late(calm: AgentView) -> None:
    """What hurts most comes first, and a retired agent has nothing wrong."""
    how = Liveness(LivenessState.LATE, lambda: Message.of_text("last heard 3 h ago"), 1, True)
    late = replace(calm, liveness=how)
    how = Liveness(LivenessState.LOST, lambda: Message.of_text("last heard 9 h ago"), None, True)
    lost = replace(calm, liveness=how)
    found = notices([late, lost], [], [], NOW_MS)
    assert [notice.weight for notice in found] == ["bad", "warn"]
    assert found[0].text == "is lost: last heard 9 h ago."
    retired = replace(lost, row=replace(lost.row, retired_ms=1, clone_reason=Message.of_text("x")))
    assert list(agent_notices(retired, NOW_MS)) == []


def test_an_alert_is_told_once(calm: AgentView) -> None:
    """The same alert about the same thing is one notice, the newest."""
    rows = [
        AuditRow(
            number, NOW_MS - number, "agent", "a", "agent.detect-clone", "a", '{"n": 1}', "", True
        )
        for number in (1, 2, 3)
    ]
    (notice,) = notices([calm], rows, [], NOW_MS)
    assert notice.about == "a"
    assert notice.text.startswith("key of one agent in use on two machines at ")
    assert notice.text.endswith("n 1")


def test_an_alert_is_told_in_the_language_of_the_page() -> None:
    """What it is about, what it tells, and the sentence of why; other words stay as they are."""
    why = Message("fleet.state_asleep", due_ms=NOW_MS, silent_ms=9 * HOUR_MS)
    detail = json.dumps({"reason": why.as_json(), "captures": 3, "others": 2})
    row = AuditRow(1, NOW_MS, "clock", "tick", "agent.mark-lost", "a", detail, "", True)

    def say() -> str:
        speak("ja")
        return notices([], [row], [], NOW_MS)[0].text.replace("\u00a0", " ")

    said = copy_context().run(say)
    assert "消息不明" in said
    assert render(why, "ja") in said
    assert said.endswith("キャプチャ 3, others 2")


def test_a_manager_that_is_silent_is_told() -> None:
    """Where there were two, one is left; one that serves is no notice."""
    seen = ServingManager("one", "one.example, process 7", "1", 0, NOW_MS, True, 0, False)
    gone = replace(seen, name="two", leads=False, silent_ms=3 * HOUR_MS, is_silent=True)
    (notice,) = manager_notices(Managers([seen, gone], 1, NOW_MS, NOW_MS, 0, ""))
    assert notice.weight == "bad"
    assert "no heartbeat for 3\u00a0h; " in notice.text


def test_an_update_that_failed_is_said_until_its_release_is_given_up() -> None:
    """In a sentence that leads to the agent; halted or revoked, nobody waits for it."""
    detail = '{"version": "2.0", "step": "self-test", "detail": "no page came"}'
    row = AuditRow(1, NOW_MS, "agent", "a", "agent.update-went-back", "a", detail, "", True)
    (notice,) = notices([], [row], [], NOW_MS)
    assert notice.text == "did not update to 2.0: failed at step self-test: no page came"
    assert notice.url == "/console/agent?name=a"
    assert notices([], [row], [], NOW_MS, {"2.0"}) == []


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("", ""),
        ("no JSON", "no JSON"),
        ("[1]", "[1]"),
        (json.dumps({"again": False, "agent_kind": "sync"}), "again no, agent kind sync"),
        (json.dumps({"argument": "", "left": None, "units": 3}), "units 3"),
        (json.dumps({"expires_ms": NOW_MS}), "expires 2026-09-21 14:13:20\u00a0UTC"),
        (json.dumps({"makespan_ms": 64_100}), "makespan 1\u00a0min\u00a04\u00a0s"),
        (json.dumps({"list": [1, 2], "left": []}), "list 1, 2, left none"),
        (json.dumps({"pattern": ["^a|b$", "c"]}), "pattern ^a|b$, c"),
        (json.dumps({"names": {"root": 2, "again": True}}), "names (root 2, again yes)"),
        (json.dumps({"query": "host=a%2Fb&text=c+d"}), "query host=a/b&text=c d"),
    ],
)
def test_details_of_the_audit_are_in_words(detail: str, said: str) -> None:
    """The detail of an audit row is read out as words; what is no JSON stays as it is."""
    assert detail_text(detail) == said


def test_what_people_decided_and_cannot_hold_is_said() -> None:
    """With the host's page, where it can be mended."""
    pinned = Message("ownership.pin_ignored", unit="http://h.jp:80/", agent="a")
    one = IneffectiveRule("http://h.jp:80/", pinned, Message("ownership.agent_lost", agent="a"))
    (notice,) = notices([], [], [one], NOW_MS)
    assert notice.text == "http://h.jp:80/ is pinned to a, which is ignored: a is lost."
    assert notice.url.endswith("host?host=http%3A%2F%2Fh.jp%3A80%2F")
