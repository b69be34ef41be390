"""Nights in fake time: hours on the site's clock, over changes of daylight saving, and none.

The crawl, the hours, the permit, the conversation with the manager and the schedule of reports are
the agent's own; the clock, the sites and the manager are played. What is asserted is asked of
Python's time zones and not of the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from agent.app.manager_link.fetch_permission import Permission
from agent.app.reporting.report_schedule import Moment, ReportSchedule
from agent.link.actions import GrantPermit, RevokePermit, TakeList, View
from agent.link.poller import ListNumber
from agent.modules.limits import Politeness
from agent.pipeline.permit import PermitGate
from agent.settings.groups.reports import ReportSettings
from shared.windows import Windows
from shared.wire.sync import Permit, SyncAnswer
from tests.agent.fakes import FakeClock, Page
from tests.agent.link.pollers import make_poller
from tests.agent.world import World, order, site

STEP_S = 20.0
INTERVAL_S = 600.0
PERMIT_S = 7200.0
POLL_S = 300.0
SPREAD_S = 900.0
HOSTS = ("a", "b", "c")


class SiteClock(FakeClock):
    """Fake time that begins at a moment of the calendar."""

    def __init__(self, begin: datetime) -> None:
        super().__init__()
        self._zero_ms = round(begin.timestamp() * 1000) - round(self.now_s * 1000)

    def epoch_ms(self) -> int:
        return self._zero_ms + round(self.now_s * 1000)


@dataclass
class Said:
    """One sync as the manager saw it."""

    at: datetime
    state: str
    promise: datetime | None


@dataclass
class Nights:
    """Some days of an agent, from one instant on."""

    zone: ZoneInfo
    begin: datetime
    weekday: tuple[int, int] = (2 * 60, 8 * 60)
    weekend: tuple[int, int] = (2 * 60, 22 * 60)
    syncs: list[Said] = field(default_factory=list)
    logs: list[tuple[datetime, str, int]] = field(default_factory=list)  # lines of each

    def __post_init__(self) -> None:
        web: dict[str, Page] = {}
        for name in HOSTS:
            web |= site(f"{name}.example", 600)
        politeness = Politeness(interval_s=INTERVAL_S, fast_interval_s=INTERVAL_S, times_last=0)
        self.world = World(web, politeness=politeness)
        self.clock = self.world.clock = SiteClock(self.begin)
        for number, name in enumerate(HOSTS, start=1):
            self.world.resolver_addresses[f"http://{name}.example:80/"] = (f"192.0.2.{number}",)
        self.world.boot()
        self.gate = PermitGate(self.clock, margin_s=INTERVAL_S)
        windows = Windows(self.zone, (self.weekday,), (self.weekend,))
        self.permission = Permission(self.gate, windows, self.clock)
        self.poller = make_poller(seed=1, now_s=self.clock.boottime_s())
        self.schedule = ReportSchedule(ReportSettings(), self.zone, 15, self.clock.monotonic_s())
        self.reported = 0  # requests whose lines went

    @property
    def now(self) -> datetime:
        return self.moment(self.clock.now_s)

    def moment(self, now_s: float) -> datetime:
        """Return the instant of a monotonic time."""
        return self.begin + timedelta(seconds=now_s - 1000.0)

    @property
    def requests(self) -> list[datetime]:
        """When requests began."""
        return [self.moment(when) for when, _, _ in self.world.started]

    def run(self, days: float) -> None:
        """Let time pass."""
        end = self.now + timedelta(days=days)
        while self.now < end:
            self.clock.now_s += STEP_S
            if self.clock.boottime_s() >= self.poller.next_s:
                self.sync()
            self.world.fetching = self.permission.may_start()
            self.world.tick()
            while self.world.complete():
                pass
            self.report()

    def sync(self) -> None:
        """One sync, answered as a manager does that has one list."""
        is_open = self.permission.window_open
        unreported = len(self.world.started) - self.reported
        promise_ms, rest_s = self.permission.rest_outside_hours(SPREAD_S, unreported)
        state = "working" if is_open else "asleep"
        view = View(state, self.clock.epoch_ms(), promise_ms=promise_ms, rest_s=rest_s)  # type: ignore[arg-type]
        now_s = self.clock.boottime_s()
        number = len(self.syncs) + 1
        request = self.poller.request(number, view, now_s)
        promised = request.next_contact_ms
        self.syncs.append(
            Said(
                self.now,
                request.state,
                None if promised is None else datetime.fromtimestamp(promised / 1000, UTC),
            )
        )
        answer = SyncAnswer(
            server_time_ms=self.clock.epoch_ms(),
            next_poll_s=POLL_S,
            round=1,
            generation=1,
            permit=Permit(epoch=1, duration_s=PERMIT_S),
        )
        for action in self.poller.answered(number, answer, now_s):
            match action:
                case TakeList():
                    units = [order(f"http://{name}.example:80/") for name in HOSTS]
                    self.world.give_list(units)
                    for then in self.poller.list_in_force(ListNumber(1, 1), set(), now_s):
                        if isinstance(then, GrantPermit):
                            self.grant(then)
                case GrantPermit():
                    self.grant(action)
                case RevokePermit():
                    self.gate.revoke()

    def grant(self, permit: GrantPermit) -> None:
        self.gate.grant(permit.epoch, permit.duration_s, permit.sent_boottime_s)

    def report(self) -> None:
        """Close the log when it is due."""
        waiting = len(self.world.started) - self.reported
        moment = Moment(
            epoch_ms=self.clock.epoch_ms(),
            now_s=self.clock.monotonic_s(),
            window_open=self.permission.window_open,
            worked_off=False,
            probes_waiting=False,
            log_bytes=waiting * 100,
        )
        reason = self.schedule.log_due(moment)
        if reason:
            self.logs.append((self.now, reason, waiting))
            self.reported = len(self.world.started)
            self.schedule.log_closed(moment)


def berlin(text: str) -> Nights:
    return Nights(ZoneInfo("Europe/Berlin"), datetime.fromisoformat(text).replace(tzinfo=UTC))


# Friday noon to Monday noon, over the night in which Europe's clocks change (or would).
SPRING, AUTUMN = "2026-03-27T12:00", "2026-10-23T12:00"
NIGHTS = [
    pytest.param("Europe/Berlin", SPRING, [20.0, 19.0, 6.0], id="an hour is skipped"),
    pytest.param("Europe/Berlin", AUTUMN, [20.0, 21.0, 6.0], id="an hour comes twice"),
    pytest.param("Asia/Tokyo", SPRING, [20.0, 20.0, 6.0], id="no daylight saving"),
    pytest.param("Asia/Tokyo", AUTUMN, [20.0, 20.0, 6.0], id="no daylight saving, in autumn"),
    # Half an hour, at 02:00 of 5 April 2026, back; and forward on 4 October.
    pytest.param(
        "Australia/Lord_Howe", "2026-04-03T00:00", [20.0, 20.0, 6.0], id="half an hour back"
    ),
    pytest.param(
        "Australia/Lord_Howe", "2026-10-02T00:00", [20.0, 19.5, 6.0], id="half an hour forward"
    ),
]


@pytest.mark.parametrize(("zone", "begin", "hours"), NIGHTS)
def test_nights_over_a_change_of_the_clock(zone: str, begin: str, hours: list[float]) -> None:
    """Three nights from Saturday on: each is used whole, and nobody who looks at the clock on the
    site's wall sees a request outside; what was not done is gone on with, and told."""
    nights = Nights(ZoneInfo(zone), datetime.fromisoformat(begin).replace(tzinfo=UTC))
    nights.run(3.0)
    local = [when.astimezone(nights.zone) for when in nights.requests]

    # Hours, as a person on the spot would judge.
    for when in local:
        last = 22 if when.weekday() >= 5 else 8
        assert 2 <= when.hour < last, f"a request at {when}"
    days = sorted({when.date() for when in local})
    assert [day.weekday() for day in days] == [5, 6, 0]

    # Each night is used from its beginning to its end: one request an interval of each host.
    for day, length in zip(days, hours, strict=True):
        begun = [when for when in nights.requests if when.astimezone(nights.zone).date() == day]
        whole_s = (max(begun) - min(begun)).total_seconds()
        assert whole_s == pytest.approx(length * 3600, abs=2 * INTERVAL_S + STEP_S)
        assert len(begun) == pytest.approx(
            length * 3600 / INTERVAL_S * len(HOSTS), abs=3 * len(HOSTS)
        )

    # Resumed where it was, and nothing twice.
    urls = nights.world.fetched()
    assert len(urls) == len(set(urls))
    assert len(nights.world.fetched(rules=True)) >= len(HOSTS)

    # Reports: one log at the end of the hours of each night, with all of its lines.
    ended = [log for log in nights.logs if log[1] == "the hours of this site have ended"]
    assert [when.astimezone(nights.zone).date() for when, _, _ in ended] == days
    assert sum(lines for _, _, lines in nights.logs) == len(nights.requests)
    for when, _, _ in ended:
        final = max(request for request in nights.requests if request <= when)
        assert when - final <= timedelta(seconds=INTERVAL_S + 2 * STEP_S)

    # Sync: every hour outside, each promise is kept, and it is back before the hours begin.
    for one, following in pairwise(nights.syncs):
        assert following.at - one.at <= timedelta(seconds=3600 + 2 * STEP_S)
        if one.promise is not None:
            assert following.at <= one.promise + timedelta(seconds=2 * STEP_S)
    for day in days:
        first = min(when for when in nights.requests if when.astimezone(nights.zone).date() == day)
        early = [one for one in nights.syncs if first - timedelta(hours=1) < one.at < first]
        assert any(one.state == "asleep" for one in early)


def test_a_window_inside_the_hour_that_comes_twice() -> None:
    """02:15-02:45 of the night in which it is 02:30 twice: half an hour is used each time."""
    nights = berlin(AUTUMN)
    nights = Nights(nights.zone, nights.begin, weekday=(135, 165), weekend=(135, 165))
    nights.run(2.0)
    sunday = [when for when in nights.requests if when.date().day == 25]
    assert {when.astimezone(nights.zone).fold for when in sunday} == {0, 1}
    for when in nights.requests:
        local = when.astimezone(nights.zone)
        assert (2, 15) <= (local.hour, local.minute) < (2, 45)


def test_a_window_inside_the_hour_that_is_skipped() -> None:
    """A night without 02:15 is a night without requests, and the next one is as always."""
    nights = berlin(SPRING)
    nights = Nights(nights.zone, nights.begin, weekday=(135, 165), weekend=(135, 165))
    nights.run(3.0)
    days = {when.astimezone(nights.zone).date().day for when in nights.requests}
    assert days == {28, 30}
    assert all(one.at < two.at for one, two in pairwise(nights.syncs))


def test_a_machine_that_slept_through_the_change() -> None:
    """Put to sleep before the change and woken within the hours after it: the agent first calls
    the manager, and every address rests for an interval, before the first request."""
    nights = berlin("2026-03-28T12:00")
    nights.run(0.25)
    assert nights.requests, "until 22:00"
    before = len(nights.requests)
    nights.run(0.2)
    before = len(nights.requests)
    nights.clock.now_s += 10 * 3600.0
    woken = nights.now
    nights.run(0.1)
    after = nights.requests[before:]
    called = min(one.at for one in nights.syncs if one.at >= woken)
    assert called <= woken + timedelta(seconds=STEP_S)
    assert min(after) >= called + timedelta(seconds=INTERVAL_S)
