"""Logs and found hosts go when somebody waits for them, and no crash makes two of one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.adapters.reports import DurableReports
from agent.app.reporting.report_schedule import Moment, ReportSchedule
from agent.app.reporting.reports import Reports
from agent.app.runtime import Runtime
from agent.link.link_memory import Memory
from agent.link.manager_time import ManagerTime
from agent.link.outbox import Outbox
from agent.pipeline.messages.pages import Outside
from agent.settings import Home
from agent.settings.groups.reports import ReportSettings
from shared.archive.encode import SegmentInfo
from shared.messages import Message
from shared.wire.crawl_log import Comment, decode
from tests.agent.link.fake_clock import FakeClock
from tests.agent.modules.answers import due_of, ended

TOKYO = ZoneInfo("Asia/Tokyo")
NOON_MS = round(datetime(2026, 11, 20, 3, 0, tzinfo=UTC).timestamp() * 1000)  # 12:00 in Tokyo
HOUR_MS = 3_600_000
QUIET = Moment(
    epoch_ms=NOON_MS,
    now_s=1000.0,
    window_open=True,
    worked_off=False,
    probes_waiting=False,
    log_bytes=500,
)


def schedule(settings: ReportSettings | None = None, spread_minute: int = 0) -> ReportSchedule:
    return ReportSchedule(settings or ReportSettings(), TOKYO, spread_minute, 0.0)


def later(hours: float, moment: Moment = QUIET) -> Moment:
    return replace(
        moment,
        epoch_ms=moment.epoch_ms + round(hours * HOUR_MS),
        now_s=moment.now_s + hours * 3600,
    )


def test_a_log_waits_while_the_crawl_goes_on() -> None:
    """In the middle of the day and of the list nothing is due."""
    plan = schedule()
    assert plan.log_due(QUIET) == ""
    assert plan.log_due(later(5)) == ""


@pytest.mark.parametrize(
    ("moment", "reason"),
    [
        (replace(QUIET, worked_off=True), "the list is worked off"),
        (replace(QUIET, window_open=False), "the hours of this site have ended"),
        (replace(QUIET, log_bytes=10**9), "the log is long"),
    ],
)
def test_what_makes_a_log_due(moment: Moment, reason: str) -> None:
    """Each reason is said; an empty log is never due."""
    plan = schedule()
    assert plan.log_due(moment) == reason
    assert plan.log_due(replace(moment, log_bytes=0)) == ""


def test_a_log_that_was_just_closed_is_not_due_again() -> None:
    """A list that is worked off twice in a second makes one log, and the rest a little later."""
    plan = schedule()
    done = replace(QUIET, worked_off=True)
    plan.log_closed(done)
    assert plan.log_due(replace(done, now_s=done.now_s + 1)) == ""
    assert plan.log_due(replace(done, now_s=done.now_s + 3)) != ""


def test_daily_at_its_time_and_minute() -> None:
    """At 09:00 of the site's zone plus the installation's own minutes, once."""
    plan = schedule(spread_minute=17)
    assert plan.log_due(QUIET) == ""
    assert plan.log_due(later(21)) == "", "09:00"
    nine = later(21 + 17 / 60)
    assert plan.log_due(nine) == "it is the time of the day"
    plan.log_closed(nine)
    assert plan.log_due(later(22)) == ""
    assert plan.log_due(later(45.5)) == "it is the time of the day"


def test_a_machine_that_slept_through_it() -> None:
    """The time of the day that passed meanwhile counts."""
    plan = schedule()
    plan.log_due(QUIET)
    assert plan.log_due(later(30)) == "it is the time of the day"


def test_a_finished_probe_waits_a_while() -> None:
    """Its order is done only with its log; more probes may finish in between."""
    plan = schedule()
    probe = replace(QUIET, probes_waiting=True)
    assert plan.log_due(probe) == ""
    assert plan.log_due(replace(probe, now_s=probe.now_s + 599)) == ""
    assert plan.log_due(replace(probe, now_s=probe.now_s + 600)) == "a probe is finished"
    plan.log_due(QUIET)
    assert plan.log_due(replace(probe, now_s=probe.now_s + 601)) == "", "they were reported"


def test_demonstrations_report_all_the_time() -> None:
    """`log_interval_s` takes the place of all other reasons, for hosts too."""
    plan = schedule(ReportSettings(log_interval_s=5.0))
    assert plan.log_due(QUIET) == "scheduled"
    plan.log_closed(QUIET)
    plan.hosts_sent(QUIET)
    soon = replace(QUIET, now_s=QUIET.now_s + 4)
    assert (plan.log_due(soon), plan.hosts_due(soon)) == ("", False)
    then = replace(QUIET, now_s=QUIET.now_s + 5)
    assert (plan.log_due(then), plan.hosts_due(then)) == ("scheduled", True)


def test_hosts_wait_for_one_another() -> None:
    """Found hosts go every ten minutes, and at the end of a list or of the hours."""
    plan = schedule()
    plan.hosts_sent(QUIET)
    assert not plan.hosts_due(replace(QUIET, now_s=QUIET.now_s + 599))
    assert plan.hosts_due(replace(QUIET, now_s=QUIET.now_s + 600))
    assert plan.hosts_due(replace(QUIET, worked_off=True))
    assert plan.hosts_due(replace(QUIET, window_open=False))


def test_pages_for_other_pieces_go_when_those_before_were_answered() -> None:
    """What is found meanwhile is one report: a slow manager would be sent hundreds."""
    plan = ReportSchedule(ReportSettings(), UTC, 0, QUIET.now_s)
    sharing = replace(QUIET, now_s=QUIET.now_s + 31, shares_hosts=True)
    assert plan.hosts_due(sharing)
    assert not plan.hosts_due(replace(sharing, pages_on_way=True, piece_rests=True))
    assert not plan.hosts_due(replace(sharing, pages_on_way=True, worked_off=True))


class KilledError(Exception):
    """The process died here."""


class Desk:
    """A ledger, an outbox, and what moves reports between them; `begin` is a new process."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "prs")
        self.home.make()
        self.clock = FakeClock()
        self.said: list[str] = []
        self.begin()

    def begin(self) -> None:
        info = SegmentInfo(software="x", operator="x", contact="x")
        options = LedgerOptions(agent="prs1", info=info)
        self.ledger = SqliteLedger.open(self.home.crawl, options, self.clock)
        self.reports = DurableReports(self.ledger.database)
        self.outbox = Outbox(self.home, agent="prs1", limit_bytes=10**9, keep_logs_s=60.0)
        memory = Memory.open(self.home.link_state, epoch_ms=0, rng=Random(1))
        session: Any = SimpleNamespace(ledger=self.ledger, reports=self.reports)
        self.manager_time = ManagerTime(self.clock)
        nothing: Any = None
        runtime = Runtime(self.home, self.clock, nothing, self.said.append)
        self.reporting = Reports(
            runtime, session, nothing, self.outbox, memory, self.manager_time, nothing, nothing
        )

    def die(self) -> None:
        self.ledger.abandon()
        self.begin()

    def fetched(self, url: str) -> None:
        self.ledger.append_log([ended(due_of(url))])
        self.ledger.commit()

    def keys(self) -> list[str]:
        return [report.key for report in self.outbox.waiting()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.ledger.close()


def said_times(desk: Desk) -> list[tuple[int, int]]:
    """Return since and until of each log that waits, milliseconds since 1970."""
    found = []
    for report in desk.outbox.waiting():
        with report.path.open("rb") as file:
            file.readline()
            texts = [one.text for one in decode([file.read()]) if isinstance(one, Comment)]
        values = dict(text.split("=") for text in texts if "=" in text)
        found.append((int(values["Since"]), int(values["Until"])))
    return found


def test_a_clock_that_is_set_does_not_move_the_times_of_a_log(desk: Desk) -> None:
    """They are the manager's: by its clock it is judged what the agent held."""
    manager_ms = desk.clock.epoch_ms()
    desk.manager_time.note(manager_ms, desk.clock.boottime_s())
    for days in (0, -30, 30):
        desk.clock.epoch_0_ms += days * 86_400_000
        desk.clock.now_s += 5.0
        desk.fetched(f"http://a.jp/{days}")
        asyncio.run(desk.reporting.close_log("scheduled"))
    begun_ms = manager_ms
    for number, (since_ms, until_ms) in enumerate(said_times(desk), 1):
        assert (since_ms, until_ms) == (begun_ms, manager_ms + number * 5000)
        begun_ms = until_ms


def test_a_log_does_not_end_before_it_began(desk: Desk) -> None:
    """The clock was 30 days ahead before the manager said the time."""
    desk.clock.epoch_0_ms += 30 * 86_400_000
    desk.fetched("http://a.jp/1")
    asyncio.run(desk.reporting.close_log("scheduled"))
    desk.manager_time.note(desk.clock.epoch_ms() - 30 * 86_400_000, desk.clock.boottime_s())
    desk.clock.now_s += 5.0
    desk.fetched("http://a.jp/2")
    asyncio.run(desk.reporting.close_log("scheduled"))
    since_ms, until_ms = said_times(desk)[-1]
    assert since_ms <= until_ms == desk.manager_time.now_ms()


def test_a_log_goes_from_the_ledger_to_the_outbox(desk: Desk) -> None:
    """Closed, compressed, and forgotten by the ledger; an empty one makes no report."""
    assert desk.ledger.open_log_bytes == 0
    desk.fetched("http://a.jp/")
    assert desk.ledger.open_log_bytes > 0
    asyncio.run(desk.reporting.close_log("scheduled"))
    assert desk.ledger.open_log_bytes == 0
    assert desk.ledger.closed_logs() == []
    assert len(desk.keys()) == 1
    assert "scheduled" in desk.said[-1]
    asyncio.run(desk.reporting.close_log("again"))
    assert len(desk.keys()) == 1


def crash_in(desk: Desk, name: str, work: Callable[[], Any]) -> None:
    """Let the process die when the ledger's method of that name is called."""

    def dies(*_: object) -> None:
        raise KilledError

    target: Any = desk.ledger if hasattr(desk.ledger, name) else desk.reports
    setattr(target, name, dies)
    with pytest.raises(KilledError):
        asyncio.run(work())
    desk.die()


def test_a_crash_before_the_ledger_forgets_makes_no_second_log(desk: Desk) -> None:
    """The next process finds the same log in both places, and sends it once."""
    desk.fetched("http://a.jp/1")
    crash_in(desk, "forget_log", lambda: desk.reporting.close_log("x"))
    assert len(desk.keys()) == 1
    assert len(desk.ledger.closed_logs()) == 1
    asyncio.run(desk.reporting.hand_over_logs("a crash"))
    assert len(desk.keys()) == 1
    assert desk.ledger.closed_logs() == []


def test_a_log_that_was_sent_before_the_ledger_forgot_it_is_the_same_again(desk: Desk) -> None:
    """The disk was full, the manager took it meanwhile, the process died: it must count once."""
    desk.fetched("http://a.jp/1")
    crash_in(desk, "forget_log", lambda: desk.reporting.close_log("x"))
    (report,) = desk.outbox.waiting()
    sent = report.path.read_bytes()
    desk.outbox.acknowledged(report, desk.clock.epoch_ms())
    desk.clock.now_s += 7200.0
    asyncio.run(desk.reporting.hand_over_logs("a crash"))
    (again,) = desk.outbox.waiting()
    assert again.path.read_bytes() == sent


def test_a_crash_while_hosts_are_handed_over(desk: Desk) -> None:
    """The same for hosts; those found later make a report of their own."""
    desk.reports.outside([Outside("http://b.jp/", "http://a.jp/"), Outside("http://c.jp/", None)])
    desk.ledger.commit()
    crash_in(desk, "forget_outside", desk.reporting.hand_over_hosts)
    assert len(desk.keys()) == 1
    assert asyncio.run(desk.reporting.hand_over_hosts()) == 2
    assert len(desk.keys()) == 1
    desk.reports.outside([Outside("http://d.jp/", None)])
    desk.ledger.commit()
    assert asyncio.run(desk.reporting.hand_over_hosts()) == 1
    assert len(desk.keys()) == 2
    assert asyncio.run(desk.reporting.hand_over_hosts()) == 0


def test_reports_of_another_ledger_do_not_stand_for_those_of_this_one(desk: Desk) -> None:
    """Its numbers begin anew where it was moved away; its own reports wait, or were refused."""
    for number in (1, 2):
        desk.fetched(f"http://a.jp/{number}")
        asyncio.run(desk.reporting.close_log("x"))
        desk.reports.outside([Outside(f"http://b{number}.jp/", None)])
        desk.ledger.commit()
        asyncio.run(desk.reporting.hand_over_hosts())
        if number == 1:
            for report in desk.outbox.waiting():
                desk.outbox.refuse(report, Message.of_text("400: no"))
            desk.ledger.abandon()
            for path in desk.home.crawl.glob("ledger.sqlite*"):
                path.unlink()
            desk.clock.now_s += 5.0
            desk.begin()
    assert len(desk.outbox.waiting()) == len(desk.outbox.refused()) == 2
