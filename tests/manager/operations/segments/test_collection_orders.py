"""When agents are asked to send, and how what they were asked ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.agents import retire
from manager.operations.people.audit_log import audit_page
from manager.operations.segments.collection_orders import (
    AskedAll,
    NewCollection,
    cancel_order,
    collect_all_now,
    collect_now,
    list_orders,
    open_orders,
    report_order,
)
from manager.operations.segments.collection_schedules import (
    TIMETABLE,
    add_collection_schedule,
    change_collection_schedule,
    run_collection_schedule,
)
from shared.errors import FormatError
from shared.messages import Message
from shared.messages.received import sent_message
from shared.wire.sync import CollectionOrder, OrderReport
from tests.manager.operations.world import ADMIN, World

DAY_MS = 86_400_000


def ready(database: Database) -> World:
    """Return a world with two agents, at 12:00 UTC."""
    world = World(database)
    noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    world.true_ms = round(noon.timestamp() * 1000)
    for name in ("a", "b"):
        world.join(name)
    return world


def asked(world: World, name: str) -> tuple[CollectionOrder, ...]:
    """Return what an agent hears in its next sync."""
    return world.sync(name).collection


def test_a_schedule_asks_once_and_until_it_is_answered(database: Database) -> None:
    """At its time, each agent once; repeated in syncs; a report ends it, the same again is fine."""
    world = ready(database)
    made = add_collection_schedule(
        database, None, "30 2 * * *", "Asia/Tokyo", NewCollection(), ADMIN, world.now_ms
    )
    assert made.next_runs[0] == "Sunday, 22 November 2026, 02:30 JST"
    assert len(made.next_runs) == 5
    world.tick()
    assert asked(world, "a") == ()
    world.wait(5.5 * 3600)
    assert world.tick().collections_ordered == 2
    assert world.tick().collections_ordered == 0
    (order,) = asked(world, "a")
    assert (order.condition, order.way) == ("difference", "push")
    assert asked(world, "a") == (order,)
    identity = world.agents["a"].identity
    trying = OrderReport(state="open", tries=1, next_try_ms=world.now_ms + 5, result="502")
    report_order(database, identity, order.id, trying, world.now_ms)
    assert asked(world, "a") == (order,)
    assert [one.result for one in list_orders(database) if one.id == order.id] == [
        Message.of_text("502")
    ]
    judged = Message(
        "agent.segments_judged",
        states=[Message("agent.segments_of_state", count=3, state="accepted")],
    )
    done = OrderReport(
        state="done", tries=2, segments=3, sent_bytes=99, result="3 accepted",
        result_message=sent_message(judged),
    )  # fmt: skip
    report_order(database, identity, order.id, done, world.now_ms)
    report_order(database, identity, order.id, trying, world.now_ms)
    assert asked(world, "a") == ()
    listed = {one.agent: one for one in list_orders(database)}
    assert (listed["a"].state, listed["a"].segments, listed["a"].made_by) == (
        "done", 3, "schedule 1",
    )  # fmt: skip
    assert listed["a"].result == judged
    assert [row.subject for row in audit_page(database, action="collection.complete-order")] == [
        "1"
    ]
    world.wait(86_400)
    assert world.tick().collections_ordered == 1, "b has not answered its last one"


def test_an_agents_own_schedule_goes_before_that_of_all(database: Database) -> None:
    """Who has one of its own is not asked by the general one."""
    world = ready(database)
    for agent, crontab in ((None, "0 13 * * *"), ("a", "0 14 * * *")):
        add_collection_schedule(
            database, agent, crontab, "UTC", NewCollection("full"), ADMIN, world.now_ms
        )
    world.wait(3600)
    world.tick()
    assert [one.agent for one in list_orders(database)] == ["b"]
    world.wait(3600)
    world.tick()
    assert [one.agent for one in list_orders(database)] == ["a", "b"]
    TIMETABLE.remove(database, 2, ADMIN, world.now_ms)
    assert [one.schedule.agent for one in TIMETABLE.listed(database, world.now_ms)] == [None]
    with pytest.raises(NotFoundError, match="schedule 2"):
        TIMETABLE.remove(database, 2, ADMIN, world.now_ms)


def test_an_agent_is_asked_now(database: Database) -> None:
    """The order names days; it is in the audit; cancelling takes it back."""
    world = ready(database)
    period = NewCollection("period", "push", DAY_MS, 3 * DAY_MS)
    made = collect_now(database, "a", period, ADMIN, world.now_ms)
    (heard,) = asked(world, "a")
    assert (heard.id, heard.from_ms, heard.until_ms) == (made.id, DAY_MS, 3 * DAY_MS)
    assert audit_page(database, action="collection.order")[0].subject == "a"
    cancel_order(database, made.id, ADMIN, world.now_ms)
    assert asked(world, "a") == ()
    with pytest.raises(ConflictError, match="cancelled already"):
        cancel_order(database, made.id, ADMIN, world.now_ms)


def test_open_orders_of_all_ages_are_found(database: Database) -> None:
    """By state and agent, page by page, behind any number that are over."""
    world = ready(database)
    old = collect_now(database, "a", NewCollection(), ADMIN, world.now_ms).id
    for _ in range(5):
        number = collect_now(database, "b", NewCollection(), ADMIN, world.now_ms).id
        cancel_order(database, number, ADMIN, world.now_ms)
    new = collect_now(database, "a", NewCollection(), ADMIN, world.now_ms).id
    assert [one.id for one in list_orders(database, state="open", limit=1)] == [new]
    assert [one.id for one in list_orders(database, state="open", before=new)] == [old]
    assert list_orders(database, agent="b", state="open") == []
    assert len(list_orders(database, state="cancelled")) == 5
    assert open_orders(database) == 2


def test_all_agents_are_asked_now(database: Database) -> None:
    """One audit row with the number; who has too many open orders is left out, and counted."""
    world = ready(database)
    with pytest.raises(FormatError):
        collect_all_now(database, NewCollection("since"), ADMIN, world.now_ms)
    for _ in range(20):
        collect_now(database, "a", NewCollection(), ADMIN, world.now_ms)
    world.join("c")
    retire(database, "c", ADMIN, world.now_ms)
    world.join("d", kind="plain")
    done = collect_all_now(database, NewCollection("full"), ADMIN, world.now_ms)
    assert done == AskedAll(asked=1, skipped=1)
    (heard,) = asked(world, "b")
    assert heard.condition == "full"
    row = audit_page(database, action="collection.order")[0]
    assert (row.subject, json.loads(row.detail)["agents"]) == ("all agents", 1)
    assert json.loads(row.detail)["skipped"] == 1
    for _ in range(19):
        collect_all_now(database, NewCollection(), ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="20 open orders"):
        collect_all_now(database, NewCollection(), ADMIN, world.now_ms)
    for name in ("a", "b"):
        retire(database, name, ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="no agent"):
        collect_all_now(database, NewCollection(), ADMIN, world.now_ms)


def test_a_schedule_runs_before_its_time(database: Database) -> None:
    """Its orders are made at once, its next time stays; who has not answered is not asked again."""
    world = ready(database)
    pull = NewCollection("full", "pull")
    made = add_collection_schedule(
        database, None, "0 3 * * *", "UTC", pull, ADMIN, world.now_ms
    ).schedule
    add_collection_schedule(database, "b", "0 4 * * *", "UTC", pull, ADMIN, world.now_ms)
    assert run_collection_schedule(database, made.id, ADMIN, world.now_ms) == 1
    (heard,) = asked(world, "a")
    assert (heard.condition, heard.way) == ("full", "pull")
    (order,) = list_orders(database)
    assert (order.schedule_id, order.made_by) == (made.id, ADMIN.name)
    (row,) = audit_page(database, action="collection.run-schedule")
    assert (row.subject, row.detail) == (str(made.id), '{"agents": 1}')
    shown = TIMETABLE.listed(database, world.now_ms)[0].schedule
    assert (shown.next_ms, shown.last_ms) == (made.next_ms, world.now_ms)
    assert shown.last_result == Message("segments.agents_asked", agents=1)
    with pytest.raises(ConflictError, match="no agent"):
        run_collection_schedule(database, made.id, ADMIN, world.now_ms)
    with pytest.raises(NotFoundError, match="schedule 9"):
        run_collection_schedule(database, 9, ADMIN, world.now_ms)
    assert len(audit_page(database, action="collection.run-schedule")) == 1


def test_a_schedule_is_changed_under_its_number(database: Database) -> None:
    """Whole, with one audit row; not where somebody else changed it since it was shown."""
    world = ready(database)
    first = add_collection_schedule(
        database, "a", "0 3 * * *", "UTC", NewCollection(), ADMIN, world.now_ms
    ).schedule
    run_collection_schedule(database, first.id, ADMIN, world.now_ms)
    asked_now = ("30 4 * * *", "Asia/Tokyo", NewCollection("full"), ADMIN, world.now_ms + 5)
    changed = change_collection_schedule(
        database, first.id, None, *asked_now, shown_ms=first.made_ms
    )
    assert changed.next_runs[0] == "Sunday, 22 November 2026, 04:30 JST"
    row = changed.schedule
    assert (row.id, row.agent, row.condition, row.made_ms) == (
        first.id, None, "full", world.now_ms + 5,
    )  # fmt: skip
    assert (row.next_ms, row.last_ms) == (changed.next_runs_ms[0], world.now_ms)
    (told,) = audit_page(database, action="collection.change-schedule")
    assert json.loads(told.detail) == {
        "agent": "all agents", "before": "0 3 * * * (UTC)", "condition": "full",
        "crontab": "30 4 * * *", "way": "push", "zone": "Asia/Tokyo",
    }  # fmt: skip
    with pytest.raises(ConflictError, match="changed since it was shown"):
        change_collection_schedule(database, first.id, "a", *asked_now, shown_ms=first.made_ms)
    with pytest.raises(NotFoundError, match="schedule 7"):
        change_collection_schedule(database, 7, "a", *asked_now)
    with pytest.raises(FormatError):
        change_collection_schedule(database, first.id, None, "nightly", *asked_now[1:])
    (only,) = TIMETABLE.listed(database, world.now_ms)
    assert only.schedule == row


@pytest.mark.parametrize(
    "wrong",
    [
        NewCollection("all"),
        NewCollection("full", "carrier pigeon"),
        NewCollection("since"),
        NewCollection("difference", "push", DAY_MS),
        NewCollection("period", "push", DAY_MS),
        NewCollection("period", "push", DAY_MS, DAY_MS),
    ],
)
def test_what_cannot_be_sent_is_refused(database: Database, wrong: NewCollection) -> None:
    """Unknown words, days that are missing or too many, periods without a length."""
    with pytest.raises(FormatError):
        collect_now(ready(database).db, "a", wrong, ADMIN, 1)


def test_others_orders_are_unknown(database: Database) -> None:
    """An agent reports its own orders only; nobody orders of who is not there."""
    world = ready(database)
    made = collect_now(database, "a", NewCollection(), ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        report_order(
            database, world.agents["b"].identity, made.id, OrderReport(state="done"), world.now_ms
        )
    with pytest.raises(NotFoundError, match="agent c"):
        collect_now(database, "c", NewCollection(), ADMIN, world.now_ms)
