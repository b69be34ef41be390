"""The rules by which the suite of faults accuses: each is broken here, and is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.faults.evidence.observations import Mark, Request
from benchmarks.faults.evidence.owners import (
    Change,
    Interval,
    RightInterval,
    appended_only,
    foreign_requests,
    holders,
    led_only,
    one_leader,
    one_owner,
    overlaps,
)


def owner(agent: str, since_ms: int, until_ms: int | None, epoch: int) -> Interval:
    return Interval("u", agent, since_ms, until_ms, epoch)


def change(
    seq: int,
    what: str,
    was: dict[str, Any] | None,
    becomes: dict[str, Any] | None,
    epoch: int = 1,
    writer: str = "",
) -> Change:
    op = "INSERT" if was is None else "DELETE" if becomes is None else "UPDATE"
    return Change(seq, what, op, epoch, was, becomes, writer)


def right(agent: int, **more: Any) -> dict[str, Any]:
    return {"unit_id": 7, "agent_id": agent, **more}


def test_owners_that_follow_each_other_are_fine() -> None:
    rows = [owner("b", 5, 9, 2), owner("a", 1, 5, 1), owner("a", 9, None, 3)]
    assert list(one_owner(rows)) == []
    assert list(overlaps(rows, 0)) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([owner("a", 1, None, 1), owner("b", 5, None, 2)], "has 2 owners now"),
        ([owner("a", 1, None, 1), owner("b", 5, 9, 2)], "while a was not over"),
        ([owner("a", 1, 5, 1), owner("b", 5, None, 3)], "rows are missing"),
        ([owner("a", 1, 5, 1), owner("b", 5, None, 1)], "rows are missing or double"),
    ],
)
def test_owners_that_do_not_are_found(rows: list[Interval], said: str) -> None:
    assert any(said in one for one in one_owner(rows))


def test_overlaps_are_found_also_behind_a_short_one() -> None:
    rows = [owner("a", 0, 100, 1), owner("a", 10, 20, 2), owner("b", 50, None, 3)]
    assert len(list(overlaps(rows, 0))) == 1
    assert len(list(overlaps(rows, 49))) == 1
    assert list(overlaps(rows, 50)) == []


def test_an_owner_without_an_end_overlaps_all_that_come() -> None:
    assert len(list(overlaps([owner("a", 0, None, 1), owner("b", 5, 6, 2)], 1_000))) == 1


def test_assignments_are_added_and_closed_and_nothing_else() -> None:
    opened = {"id": 1, "agent_id": 3, "until_ms": None, "reason_closed": ""}
    closed = {**opened, "until_ms": 9, "reason_closed": "moved"}
    fine = [change(1, "assignments", None, opened), change(2, "assignments", opened, closed)]
    assert list(appended_only(fine)) == []
    for was, becomes, said in (
        (opened, None, "was removed"),
        (opened, {**opened, "agent_id": 4}, "['agent_id'] changed"),
        (closed, {**closed, "until_ms": 12}, "after its end"),
        (closed, opened, "after its end"),
    ):
        (found,) = appended_only([change(3, "assignments", was, becomes)])
        assert said in found


def test_a_tick_of_who_does_not_lead_is_found() -> None:
    history = [
        change(1, "leader", None, {"holder": "x", "epoch": 1}),
        change(2, "clock", {"ticks": 1, "epoch": 1}, {"ticks": 2, "epoch": 1}),
        change(3, "leader", {"holder": "x", "epoch": 1}, {"holder": "y", "epoch": 2}, 2),
        change(4, "clock", {"ticks": 2, "epoch": 1}, {"ticks": 3, "epoch": 2}, 2),
    ]
    assert list(one_leader(history)) == []
    late = change(5, "clock", {"ticks": 3, "epoch": 2}, {"ticks": 4, "epoch": 1}, 2)
    assert list(one_leader([*history, late])) == ["a tick of epoch 1 in epoch 2"]
    again = change(6, "leader", {"holder": "y", "epoch": 2}, {"holder": "x", "epoch": 2}, 2)
    assert list(one_leader([*history, again])) == ["x leads in epoch 2, after 2"]


def test_what_a_former_leader_gives_is_found() -> None:
    lead = {"holder": "x", "epoch": 1}
    history = [
        change(1, "rights", None, right(1), writer="two"),  # who led before is not known
        change(2, "leader", None, lead, writer="one"),
        change(3, "rights", None, right(1), writer="one"),
        change(4, "rights", right(1), None, writer="two"),  # an agent acknowledged it there
        change(5, "assignments", None, right(1), writer="one"),
        change(6, "leader", lead, {"holder": "y", "epoch": 2}, 2, writer="two"),
        change(7, "assignments", None, right(2), 2, writer="two"),
    ]
    assert list(led_only(history)) == []
    late = change(8, "assignments", None, right(3), 2, writer="one")
    (found,) = led_only([*history, late], {3})
    assert "given to agent 3 (assignments, row 8 of the history) by one, while two led" in found
    seen = change(8, "assignments", None, right(3, reason_opened="shares an address"), 2, "one")
    assert list(led_only([*history, seen])) == []
    asked = change(8, "rights", None, right(3), 2, writer="one")
    assert list(led_only([*history, asked], {3})) == []
    assert len(list(led_only([*history, asked]))) == 1
    ended = change(9, "leader", {"holder": "y"}, {"holder": ""}, 2, writer="two")
    assert list(led_only([*history, ended, replace(asked, seq=10)])) == []


def test_a_right_passes_on_through_free_only() -> None:
    held: list[RightInterval] = []
    history = [
        change(1, "rights", None, right(1)),
        change(2, "rights", right(1), right(1, round=2)),
        change(3, "rights", right(1), None),
        change(4, "rights", None, right(2)),
    ]
    assert list(holders(history, held)) == []
    assert held == [RightInterval(7, 1, 1, 3), RightInterval(7, 2, 4, None)]
    (found,) = holders([history[0], change(2, "rights", right(1), right(2))], [])
    assert "passed from" in found
    (found,) = holders([history[0], change(2, "rights", None, right(2))], [])
    assert "while agent 1 had it" in found


def test_a_request_without_the_right_is_found_and_a_doubtful_one_is_not() -> None:
    marks = [Mark(0.0, 0.1, 0), Mark(1.0, 1.1, 3), Mark(2.0, 2.1, 5)]
    held = [RightInterval(7, 1, 1, 4), RightInterval(7, 2, 5, None)]

    def accused(agent: str, at_s: float, host: str = "h") -> bool:
        one = Request(agent, host, "/", at_s)
        return bool(list(foreign_requests([one], held, marks, {"h": 7}, {"a": 1, "b": 2})))

    assert not accused("a", 0.5)  # given between 0 and 1.1
    assert not accused("a", 2.05)  # taken away between 1 and 2.1
    assert accused("a", 2.2)
    assert accused("b", 0.9)
    assert not accused("b", 1.5)
    assert not accused("b", 99.0)
    assert accused("a", 0.5, "elsewhere")
