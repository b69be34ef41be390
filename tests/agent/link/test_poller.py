"""The poller says, does and waits what the protocol asks for, one answer at a time."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import ValidationError

from agent.errors import FaultError, LinkError, RefusedError, WaitError
from agent.link.actions import (
    ApplySettings,
    ForgetReported,
    GrantPermit,
    RevokePermit,
    RunCommand,
    ShowMessage,
    TakeList,
    View,
)
from agent.link.call_schedule import LEAST_WAIT_S
from agent.link.poller import ListNumber, Poller, ResumedLink
from shared.errors import FormatError
from shared.messages import Message
from shared.wire import sync
from shared.wire.sync import (
    Capacity,
    Command,
    FinishedUnit,
    Permit,
    RenamedSetting,
    Settings,
    SyncAnswer,
    SyncRequest,
    said,
)
from shared.wire.sync_bounds import MAX_RENAMED
from shared.wire.sync_json import message_of
from shared.wire.sync_reading import read_answer
from tests.agent.link.pollers import make_poller

UNIT = "http://www.example.jp:80/"
PERMIT = Permit(epoch=3, duration_s=7200)


def view(**changes: Any) -> View:
    given: dict[str, Any] = {"state": "working", "clock_ms": 5}
    return View(**(given | changes))


def answer(**changes: Any) -> SyncAnswer:
    given: dict[str, Any] = {
        "server_time_ms": 5,
        "next_poll_s": 60,
        "round": 1,
        "generation": 0,
        "permit": PERMIT,
    }
    return SyncAnswer(**(given | changes))


def finished(count: int) -> tuple[FinishedUnit, ...]:
    return tuple(
        FinishedUnit(
            unit=f"http://h{number}.example.jp:80/",
            kind="crawl",
            round=1,
            pages=1,
            response_bytes=1,
        )
        for number in range(count)
    )


def ask(machine: Poller, sequence: int, now_s: float = 0.0, **changes: Any) -> SyncRequest:
    return machine.request(sequence, view(**changes), now_s)


def test_the_first_call_is_at_once_and_the_next_when_the_manager_says() -> None:
    """A new agent calls at once; then the manager sets the pace, and a sleeper its own."""
    machine = make_poller()
    assert machine.next_s == 0.0
    ask(machine, 1, 10.0)
    machine.answered(1, answer(), 12.0)
    assert machine.next_s == 72.0
    ask(machine, 2, 72.0, rest_s=3600.0)
    machine.answered(2, answer(), 73.0)
    assert machine.next_s == 73.0 + 3600.0


def test_no_manager_makes_an_agent_call_without_a_pause() -> None:
    """However little time it names; and a time that never ends is no answer at all."""
    machine = make_poller()
    ask(machine, 1, 10.0)
    machine.answered(1, answer(next_poll_s=1e-300), 12.0)
    assert machine.next_s >= 12.0 + LEAST_WAIT_S
    for text in (
        '"next_poll_s":1e999',
        '"next_poll_s":NaN',
        '"next_poll_s":5,"permit":{"epoch":1,"duration_s":1e300}',
        '"next_poll_s":5,"settings":{"interval_s":Infinity}',
    ):
        with pytest.raises(FormatError):
            read_answer(f'{{"server_time_ms":5,"round":1,"generation":0,{text}}}'.encode())


def test_a_permit_counts_from_the_sending() -> None:
    """However late the answer comes, the permit began when the question left."""
    machine = make_poller()
    ask(machine, 1, 10.0)
    assert GrantPermit(3, 7200, 10.0) in machine.answered(1, answer(), 500.0)


def test_no_permit_ends_the_one_before() -> None:
    """An answer without a permit lets no request begin any more."""
    machine = make_poller()
    ask(machine, 1)
    machine.answered(1, answer(), 1.0)
    ask(machine, 2)
    assert machine.answered(2, answer(permit=None), 2.0) == [
        RevokePermit(Message("agent.permit_not_granted"))
    ]


def test_a_new_generation_is_taken_and_acknowledged_when_all_is_quiet() -> None:
    """generation_held follows only when the list is in force and each dropped job is closed."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    assert ask(machine, 1).generation_held == 4
    actions = machine.answered(1, answer(round=2, generation=5), 1.0)
    assert TakeList(2, 5) in actions
    assert machine.list_in_force(ListNumber(2, 5), [11, 12], 2.0) == [GrantPermit(3, 7200, 0.0)]
    assert ask(machine, 2, finished=finished(1)).generation_held == 4
    machine.answered(2, answer(round=2, generation=5), 3.0)
    machine.unit_closed(11, 4.0)
    assert ask(machine, 3).generation_held == 4
    machine.answered(3, answer(round=2, generation=5), 5.0)
    machine.unit_closed(12, 6.0)
    assert machine.next_s <= 12.0, "the manager waits for this"
    request = ask(machine, 4, finished=finished(1))
    assert (request.round_held, request.generation_held) == (2, 5)
    assert len(request.finished) == 1


def test_finished_units_wait_until_their_list_is_acknowledged() -> None:
    """A unit of a list that the manager does not know to be in force would not count."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    ask(machine, 1)
    machine.answered(1, answer(generation=5), 1.0)
    machine.list_in_force(ListNumber(1, 5), [9], 2.0)
    assert ask(machine, 2, finished=finished(2)).finished == ()
    assert ask(make_poller(), 1, finished=finished(2)).finished == ()


def test_a_goodbye_while_a_list_is_taken_names_no_finished_unit() -> None:
    """It may be one of the new list, which the manager is not told to be in force yet."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 5)))
    assert len(ask(machine, 1, finished=finished(1)).finished) == 1
    machine.answered(1, answer(generation=6), 1.0)
    request = ask(machine, 2, finished=finished(1))
    assert (request.generation_held, request.finished) == (5, ())


def test_a_permit_of_a_new_epoch_waits_for_its_list() -> None:
    """Rights that were free in between may be others'; the old list is not good any more."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    ask(machine, 1)
    machine.answered(1, answer(generation=4), 1.0)
    ask(machine, 2, 10_000.0)
    late = Permit(epoch=4, duration_s=7200)
    actions = machine.answered(2, answer(generation=6, permit=late), 10_001.0)
    assert [type(action) for action in actions] == [RevokePermit, TakeList]
    assert machine.list_in_force(ListNumber(1, 6), [], 10_002.0) == [GrantPermit(4, 7200, 10_000.0)]


def test_the_same_epoch_goes_on_under_the_old_list() -> None:
    """While the manager never took the rights back, a list on its way stops nothing."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    ask(machine, 1)
    machine.answered(1, answer(generation=4), 1.0)
    ask(machine, 2, 60.0)
    assert machine.answered(2, answer(generation=5), 61.0) == [
        GrantPermit(3, 7200, 60.0),
        TakeList(1, 5),
    ]


def test_a_list_is_asked_for_once_at_a_time() -> None:
    """While one is on its way no other is taken; a failed one is asked for again."""
    machine = make_poller()
    ask(machine, 1)
    assert TakeList(1, 2) in machine.answered(1, answer(generation=2), 1.0)
    ask(machine, 2)
    assert TakeList(1, 2) not in machine.answered(2, answer(generation=2), 2.0)
    machine.list_failed(LinkError("gone"), 3.0)
    assert str(machine.trouble) == "gone"
    ask(machine, 3)
    assert TakeList(1, 2) in machine.answered(3, answer(generation=2), 4.0)


def test_an_answer_that_is_older_than_the_list_takes_no_list() -> None:
    """The answer to a sync sent before the list was taken speaks of the old one."""
    machine = make_poller()
    ask(machine, 1)
    machine.answered(1, answer(generation=2), 1.0)
    ask(machine, 2)
    machine.list_in_force(ListNumber(1, 3), [], 2.0)
    actions = machine.answered(2, answer(generation=2), 3.0)
    assert not any(isinstance(action, TakeList) for action in actions)


def test_a_stale_answer_changes_nothing() -> None:
    """What answers an older sync, or the same one twice, is passed over."""
    machine = make_poller()
    ask(machine, 1)
    ask(machine, 2)
    before = machine.next_s
    assert machine.answered(1, answer(generation=9), 1.0) == []
    assert machine.failed(1, LinkError("late"), 1.0) == []
    assert machine.next_s == before
    machine.answered(2, answer(), 2.0)
    assert machine.answered(2, answer(generation=9), 3.0) == []


def test_finished_units_are_said_until_answered() -> None:
    """A lost answer loses nothing; an answer lets them be forgotten, exactly those said."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    assert len(ask(machine, 1, finished=finished(2)).finished) == 2
    machine.failed(1, LinkError("lost"), 1.0)
    request = ask(machine, 2, finished=finished(3))
    assert machine.answered(2, answer(generation=4), 2.0)[0] == ForgetReported(
        tuple(request.finished), ()
    )


def test_a_command_runs_once_and_is_acknowledged() -> None:
    """Repeated by the manager until it hears of it; also by a process that comes after."""
    machine = make_poller()
    order = answer(command=Command(id="c1", name="drain"))
    ask(machine, 1)
    assert RunCommand("c1", "drain", "") in machine.answered(1, order, 1.0)
    ask(machine, 2)
    assert not any(isinstance(a, RunCommand) for a in machine.answered(2, order, 2.0))
    machine.command_finished("c1", 3.0)
    assert ask(machine, 3).command_done == "c1"
    assert not any(isinstance(a, RunCommand) for a in machine.answered(3, order, 4.0))
    later = make_poller(resumed=ResumedLink(command_done="c1"))
    assert ask(later, 4).command_done == "c1"
    assert not any(isinstance(a, RunCommand) for a in later.answered(4, order, 5.0))


def test_a_command_that_failed_is_tried_again() -> None:
    """It is not acknowledged; the manager's repeat starts it anew."""
    machine = make_poller()
    order = answer(command=Command(id="c1", name="restart"))
    ask(machine, 1)
    machine.answered(1, order, 1.0)
    machine.command_failed()
    assert ask(machine, 2).command_done is None
    assert RunCommand("c1", "restart", "") in machine.answered(2, order, 2.0)


def test_what_is_handed_back_needs_a_new_list() -> None:
    """After leaving, a permit of the old epoch is not taken up again under the old list."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    ask(machine, 1)
    machine.answered(1, answer(generation=4), 1.0)
    assert machine.permit_returned() == [RevokePermit(Message("agent.work_handed_back"))]
    assert machine.permit_returned() == []
    ask(machine, 2)
    assert machine.answered(2, answer(generation=5), 2.0) == [TakeList(1, 5)]
    assert machine.list_in_force(ListNumber(1, 5), [], 3.0) == [GrantPermit(3, 7200, 0.0)]


def test_settings_and_message_are_told_when_they_change() -> None:
    """The same wish or message twice is no news; its end is."""
    machine = make_poller()
    said = answer(settings=Settings(interval_s=30), message="hello")
    ask(machine, 1)
    assert machine.answered(1, said, 1.0)[0] == ApplySettings(Settings(interval_s=30))
    ask(machine, 2)
    assert machine.answered(2, said, 2.0) == [GrantPermit(3, 7200, 0.0)]
    ask(machine, 3)
    assert machine.answered(3, answer(), 3.0) == [
        ApplySettings(Settings()),
        GrantPermit(3, 7200, 0.0),
        ShowMessage(""),
    ]


def test_failures_wait_longer_and_longer() -> None:
    """The pause doubles up to its limit, half of it random; an answer ends it."""
    machine = make_poller()
    pauses = []
    for number in range(1, 12):
        ask(machine, number)
        machine.failed(number, LinkError("unreachable"), 100.0)
        pauses.append(machine.next_s - 100.0)
    for number, pause in enumerate(pauses):
        whole = min(3600.0, 60.0 * 2**number)
        assert whole / 2 <= pause <= whole
    ask(machine, 99)
    machine.answered(99, answer(), 200.0)
    assert (machine.next_s, machine.trouble) == (260.0, None)


@pytest.mark.parametrize(
    ("status", "ends", "said"),
    [
        (401, True, "prs enrol"),
        (403, True, "blocked"),
        (404, False, "manager.url"),
        (409, True, "copy of this home"),
        (426, True, "current version"),
    ],
)
def test_a_no_is_said_with_its_remedy(status: int, ends: bool, said: str) -> None:
    """Where the manager does not count on this agent any more its permit ends; calls get rare."""
    machine = make_poller()
    ask(machine, 1)
    machine.answered(1, answer(), 1.0)
    ask(machine, 2)
    actions = machine.failed(2, RefusedError(status, "because"), 2.0)
    assert [type(action) for action in actions] == ([RevokePermit] if ends else [])
    assert f"{status}: because; " in str(machine.trouble)
    assert said in str(machine.trouble)
    assert machine.next_s >= 2.0 + 1800.0


def test_an_outage_leaves_the_permit_alone() -> None:
    """The permit is what an outage is survived with: it ends by itself."""
    machine = make_poller()
    ask(machine, 1)
    machine.answered(1, answer(), 1.0)
    for number, error in enumerate(
        [LinkError("gone"), FaultError(500, "x"), WaitError(503, "x", 5.0)], 2
    ):
        ask(machine, number)
        assert machine.failed(number, error, 2.0) == []


def test_too_large_a_request_is_sent_in_parts() -> None:
    """413 halves what is said at once; nothing is left out for good."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    assert len(ask(machine, 1, finished=finished(9)).finished) == 9
    for number in range(2, 16):
        machine.failed(number - 1, RefusedError(413, "too large"), 1.0)
        size = len(ask(machine, number, finished=finished(9)).finished)
        assert machine.next_s <= 1.0 + 3600.0
    assert size == 1
    machine.answered(15, answer(generation=4), 2.0)
    assert len(ask(machine, 16, finished=finished(9)).finished) == 2


def test_retry_after_is_the_least() -> None:
    """A manager that asks for time gets at least that, also from news in a hurry."""
    machine = make_poller()
    ask(machine, 1)
    machine.failed(1, WaitError(503, "busy", 500.0), 10.0)
    assert 510.0 + 30.0 <= machine.next_s <= 510.0 + 60.0
    machine.call_soon(11.0)
    assert machine.next_s >= 510.0
    ask(machine, 2)
    machine.failed(2, WaitError(429, "slow down", 1e12), 10.0)
    assert machine.next_s <= 10.0 + 86_400.0 + 60.0


def test_news_come_sooner_but_not_at_once() -> None:
    """A tenth of the manager's pace lies between two calls, whatever happens here."""
    machine = make_poller()
    ask(machine, 1, 100.0)
    machine.answered(1, answer(next_poll_s=600), 101.0)
    machine.call_soon(102.0)
    assert machine.next_s == 160.0
    machine.call_soon(500.0)
    assert machine.next_s == 160.0
    ask(machine, 2, 500.0)
    machine.answered(2, answer(next_poll_s=600), 501.0)
    machine.call_soon(800.0)
    assert machine.next_s == 800.0


def test_a_restart_asks_for_the_list_anew() -> None:
    """After a restart no list is held, and the manager's is taken, whatever its number."""
    machine = make_poller(resumed=ResumedLink(ListNumber(1, 4)))
    ask(machine, 1)
    machine.answered(1, answer(generation=4), 1.0)
    machine.list_dropped([5], 2.0)
    assert ask(machine, 2).generation_held == 4, "a request may still be under way"
    machine.answered(2, answer(generation=4), 3.0)
    machine.unit_closed(5, 4.0)
    assert machine.acknowledged == ListNumber()
    ask(machine, 3)
    machine.list_failed(LinkError("x"), 4.0)
    assert TakeList(1, 4) in machine.answered(3, answer(generation=4), 5.0)


def test_every_sync_says_what_the_agent_may_do() -> None:
    """The manager may have been restored from a copy that does not know it."""
    capacity = Capacity(parallel_hosts=50, weekday=((120, 480),), zone="Asia/Tokyo")
    machine = make_poller(capacity=capacity)
    first = machine.request(1, view(), 0)
    assert first.capacity == capacity
    told = message_of(sync.SyncRequest, said(first)).capacity
    assert told is not None
    assert told == capacity
    machine.report_calm(0.5)
    asked = machine.request(2, view(), 0).capacity
    assert asked is not None
    assert (asked.calm, asked.parallel_hosts) == (0.5, 50)


def test_more_old_names_than_a_sync_may_have_are_cut() -> None:
    """A manager refuses a longer list and the whole sync with it."""
    renamed = tuple(
        RenamedSetting(old=f"old.name_{n}", new=f"new.name_{n}") for n in range(MAX_RENAMED + 1)
    )
    request = make_poller().request(1, view(renamed=renamed), 0.0)
    received = message_of(sync.SyncRequest, said(request))
    assert received.renamed_settings == renamed[:MAX_RENAMED]
    too_many = dataclasses.replace(request, renamed_settings=renamed)
    with pytest.raises(ValidationError, match="renamed_settings"):
        message_of(sync.SyncRequest, said(too_many))
