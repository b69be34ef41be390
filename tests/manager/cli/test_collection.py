"""`prsm collect`."""

from __future__ import annotations

import json

from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running


def test_an_agent_is_asked_and_schedules_are_kept(prsm: Prsm, manager: Running) -> None:
    """Orders and schedules are made, listed, taken back; what cannot be is refused in words."""
    manager.agent("a.example", kind="sync")
    manager.agent("plain.example")
    assert "No order yet" in prsm("collect", "orders").stdout
    assert "Nothing has come yet" in prsm("collect", "transfers").stdout
    assert "No schedule" in prsm("collect", "schedule").stdout
    assert "order 1: a.example is asked" in prsm("collect", "now", "a.example").stdout
    since = ("collect", "now", "a.example", "--condition", "since")
    assert "since needs a first day" in prsm(*since, code=1).stderr
    prsm(*since, "--from", "2026-11-20")
    listed = json.loads(prsm("collect", "orders", "--json").stdout)
    assert [(one["condition"], one["from_ms"]) for one in listed] == [
        ("since", 1_795_132_800_000), ("difference", None),
    ]  # fmt: skip
    assert "speaks only the five messages" in prsm("collect", "now", "plain.example", code=1).stderr
    prsm(*since, "--from", "yesterday", code=2)
    assert "order 1 is cancelled" in prsm("collect", "cancel", "1").stdout
    orders = ("collect", "orders", "--json")
    for chosen, numbers in (
        (("--state", "open"), [2]),
        (("--state", "cancelled", "--agent", "a.example"), [1]),
        (("--before", "2"), [1]),
        (("--limit", "1"), [2]),
    ):
        listed = json.loads(prsm(*orders, *chosen).stdout)
        assert [one["id"] for one in listed] == numbers, chosen
    assert "No order is like that" in prsm("collect", "orders", "--state", "failed").stdout
    prsm("collect", "orders", "--state", "lost", code=2)
    made = prsm("collect", "schedule", "set", "0 3 * * *", "--zone", "Asia/Tokyo").stdout
    assert "all agents without a schedule" in made
    assert "03:00 JST" in made
    prsm("collect", "schedule", "set", "@daily", "--agent", "a.example", "--pull")
    assert "pull" in prsm("collect", "schedule").stdout
    changed = ("collect", "schedule", "change", "2", "0 5 * * *", "--zone", "Asia/Tokyo")
    assert "05:00 JST" in prsm(*changed, "--agent", "a.example", "--pull").stdout
    said = prsm("collect", "schedule", "run", "2").stdout
    assert "1 agent is asked to send by schedule 2" in said
    assert "no agent to send an order to" in prsm("collect", "schedule", "run", "2", code=1).stderr
    assert "1 agent is asked" in prsm("collect", "now", "--all").stdout
    prsm("collect", "now", code=2)
    prsm("collect", "now", "a.example", "--all", code=2)
    assert "schedule 2 is removed" in prsm("collect", "schedule", "remove", "2").stdout
    assert "schedule 2: not found" in prsm("collect", "schedule", "remove", "2", code=1).stderr
    for command in ("cancel-transfer", "give-up"):  # the second is its old name
        assert "transfer 9: not found" in prsm("collect", command, "9", code=1).stderr
    assert "give-up" not in prsm("collect", "--help").stdout


def test_how_an_agent_sends_is_limited(prsm: Prsm, manager: Running) -> None:
    """Rate and hours are set, shown, lifted; nothing at all is a mistake."""
    manager.agent("a.example", kind="sync")
    limit = ("collect", "limit", "a.example")
    prsm(*limit, code=2)
    prsm(*limit, "--lift", "--bytes-per-s", "20000", code=2)
    assert "at least 10000" in prsm(*limit, "--bytes-per-s", "5", code=1).stderr
    hours = ("--weekday", "02:00-08:00", "--weekday", "20:00-24:00", "--zone", "Asia/Tokyo")
    assert "next sync" in prsm(*limit, "--bytes-per-s", "20000", *hours).stdout
    shown = prsm("agents", "show", "a.example").stdout
    words = "at most 20,000 bytes/s; Monday to Friday 02:00-08:00 20:00-24:00 (Asia/Tokyo)"
    assert words in shown
    prsm(*limit, "--lift")
    assert "rate set by its site" in prsm("agents", "show", "a.example").stdout
