"""The window is what the site's clock shows, through both changes of daylight saving."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.day_hours import day_hours
from shared.errors import FormatError
from shared.windows import ALWAYS, Window, Windows

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
NIGHT: Window = (2 * 60, 8 * 60)
SOURCE = ((NIGHT,), ((2 * 60, 22 * 60),))


def at(text: str) -> datetime:
    """Return an instant from UTC text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_hours_of_the_source() -> None:
    """Weekdays 02:00-08:00, weekends 02:00-22:00, by the clock in Tokyo."""
    windows = Windows(TOKYO, *SOURCE)
    friday = datetime(2026, 11, 20, tzinfo=TOKYO)
    for hours, expected in [(1.99, False), (2, True), (7.99, True), (8, False), (23, False)]:
        assert windows.is_open(friday + timedelta(hours=hours)) is expected
    saturday = friday + timedelta(days=1)
    for hours, expected in [(1.99, False), (2, True), (21.99, True), (22, False)]:
        assert windows.is_open(saturday + timedelta(hours=hours)) is expected
    assert windows.next_change(friday) == friday + timedelta(hours=2)
    assert windows.next_change(friday + timedelta(hours=9)) == saturday + timedelta(hours=2)


def test_always_never_changes() -> None:
    """Without hours there is no next change, also over a change of the clock."""
    assert Windows(BERLIN).next_change(at("2026-03-28 12:00")) is None
    assert Windows(BERLIN).is_open(at("2026-03-29 01:30"))


def test_spring_the_hour_that_is_skipped() -> None:
    """Berlin, 29 March 2026: 02:00 becomes 03:00. A window from 02:00 opens at the jump."""
    windows = Windows(BERLIN, weekday=(NIGHT,), weekend=(NIGHT,))
    jump = at("2026-03-29 01:00")
    assert not windows.is_open(jump - timedelta(seconds=1))
    assert windows.is_open(jump)
    assert windows.next_change(at("2026-03-28 12:00")) == jump
    assert windows.next_change(jump) == at("2026-03-29 06:00"), "08:00 summer time"


def test_spring_a_window_that_begins_in_the_skipped_hour() -> None:
    """02:30 does not exist that night: the window opens when the clock passes it."""
    windows = Windows(BERLIN, weekend=((150, 480),), weekday=())
    assert windows.next_change(at("2026-03-29 00:00")) == at("2026-03-29 01:00")


def test_spring_a_window_that_is_skipped_whole() -> None:
    """A window within the skipped hour does not open that night, and nobody waits for it."""
    windows = Windows(BERLIN, weekday=((130, 170),), weekend=((130, 170),))
    assert windows.next_change(at("2026-03-29 00:30")) == at("2026-03-30 00:10")


def test_autumn_the_hour_that_comes_twice() -> None:
    """Berlin, 25 October 2026: 03:00 becomes 02:00. 02:30 is inside both times."""
    windows = Windows(BERLIN, weekday=(NIGHT,), weekend=(NIGHT,))
    assert windows.next_change(at("2026-10-24 12:00")) == at("2026-10-25 00:00")
    assert windows.is_open(at("2026-10-25 00:30"))
    assert windows.is_open(at("2026-10-25 01:30"))
    assert windows.next_change(at("2026-10-25 00:00")) == at("2026-10-25 07:00"), "08:00 winter"


def test_autumn_a_window_that_begins_in_the_hour_that_comes_twice() -> None:
    """A clock that shows 02:10 again is outside again: nobody sees a request then."""
    windows = Windows(BERLIN, weekday=((150, 480),), weekend=((150, 480),))
    changes = [at("2026-10-24 22:00")]
    for _ in range(4):
        change = windows.next_change(changes[-1])
        assert change is not None
        changes.append(change)
    assert changes[1:] == [
        at("2026-10-25 00:30"),
        at("2026-10-25 01:00"),
        at("2026-10-25 01:30"),
        at("2026-10-25 07:00"),
    ]


def test_over_midnight() -> None:
    """22:00-06:00 belongs to the evening's day: Friday night goes into Saturday."""
    windows = Windows(TOKYO, weekday=((22 * 60, 6 * 60),), weekend=())
    friday = datetime(2026, 11, 20, tzinfo=TOKYO)
    assert windows.is_open(friday + timedelta(hours=29))
    assert not windows.is_open(friday + timedelta(hours=30))
    assert not windows.is_open(friday + timedelta(days=1, hours=23))
    assert not windows.is_open(friday + timedelta(days=3, hours=1)), "Sunday's night is not open"
    assert windows.next_change(friday + timedelta(hours=30)) == friday + timedelta(days=3, hours=22)


windows_of_a_day = st.lists(
    st.tuples(st.integers(0, 1439), st.integers(1, 1440)).filter(lambda w: w[0] != w[1]),
    max_size=2,
).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    weekday=windows_of_a_day,
    weekend=windows_of_a_day,
    zone=st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "Asia/Kathmandu"]
    ),
    start=st.sampled_from(
        ["2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-04-04", "2026-10-03"]
    ),
    minute=st.integers(0, 1439),
)
def test_next_change_is_the_next_change(
    weekday: tuple[Window, ...],
    weekend: tuple[Window, ...],
    zone: str,
    start: str,
    minute: int,
) -> None:
    """Between now and the next change nothing changes, minute by minute; there it does."""
    windows = Windows(ZoneInfo(zone), weekday, weekend)
    now = at(start) + timedelta(minutes=minute)
    state = windows.is_open(now)
    change = windows.next_change(now)
    until = change or now + timedelta(days=3)
    step = now
    while step < min(until, now + timedelta(days=3)):
        assert windows.is_open(step) is state
        step += timedelta(minutes=1)
    if change is not None:
        assert windows.is_open(change) is not state
        assert windows.is_open(change - timedelta(seconds=1)) is state


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Tokyo"])
def test_all_day_has_no_seam_at_midnight(zone: str) -> None:
    """Two windows that touch are one."""
    windows = Windows(ZoneInfo(zone), weekday=((0, 720), (720, 1440)), weekend=(ALWAYS,))
    assert windows.next_change(at("2026-11-20 03:00")) is None


def test_the_open_part_of_a_week() -> None:
    """Six hours a night are a quarter; overlaps count once; over midnight counts whole."""
    night: Window = (2 * 60, 8 * 60)
    assert Windows(UTC).open_share() == 1
    assert Windows(UTC, (night,), (night,)).open_share() == 0.25
    assert Windows(UTC, (night, (3 * 60, 4 * 60)), (night,)).open_share() == 0.25
    assert Windows(UTC, ((22 * 60, 4 * 60),), ((22 * 60, 4 * 60),)).open_share() == 0.25
    assert Windows(UTC, (), ()).open_share() == 0
    assert Windows(TOKYO, *SOURCE).open_share() == pytest.approx((5 * 6 + 2 * 20) / 168)


def test_work_goes_on_in_the_hours_only() -> None:
    """Ten hours from noon, six a night: the second night at 06:00; none where it is never open."""
    night: Window = (2 * 60, 8 * 60)
    windows = Windows(TOKYO, (night,), (night,))
    noon = datetime(2026, 11, 16, 12, tzinfo=TOKYO)
    end = windows.worked_off(noon, timedelta(hours=10))
    assert end == datetime(2026, 11, 18, 6, tzinfo=TOKYO)
    assert windows.worked_off(noon, timedelta(0)) == datetime(2026, 11, 17, 2, tzinfo=TOKYO)
    assert Windows(TOKYO).worked_off(noon, timedelta(hours=10)) == noon + timedelta(hours=10)
    assert Windows(TOKYO, (), ()).worked_off(noon, timedelta(hours=1)) is None
    years = windows.worked_off(noon, timedelta(days=1000))
    assert years is not None
    assert (years - noon) / timedelta(days=4000) == pytest.approx(1, rel=0.01)


def test_a_date_goes_before_a_day_and_a_day_before_its_week() -> None:
    """Fridays are shorter; over the new year the house is empty, and the machine may work."""
    days, dates = day_hours(
        ["fri 02:00-06:00", "2026-12-29..2027-01-03 always", "2026-12-25 never"]
    )
    windows = Windows(TOKYO, *SOURCE, days=days, dates=dates)
    friday = datetime(2026, 11, 20, tzinfo=TOKYO)
    assert windows.next_change(friday) == friday + timedelta(hours=2)
    assert windows.next_change(friday + timedelta(hours=3)) == friday + timedelta(hours=6)
    christmas = datetime(2026, 12, 25, tzinfo=TOKYO)
    assert not any(windows.is_open(christmas + timedelta(hours=hour)) for hour in range(24))
    assert windows.next_change(christmas) == christmas + timedelta(hours=26)
    began = datetime(2026, 12, 29, tzinfo=TOKYO)
    assert windows.next_change(began - timedelta(minutes=1)) == began
    assert windows.next_change(began) == datetime(2027, 1, 4, tzinfo=TOKYO)
    assert windows.open_share() == pytest.approx((4 * 6 + 4 + 2 * 20) / (7 * 24)), "no dates"


def test_a_window_over_midnight_belongs_to_the_date_it_begins_on() -> None:
    """A holiday has no evening; the evening before ends on it."""
    night: Window = (22 * 60, 6 * 60)
    _, dates = day_hours(["2026-11-23 never"])
    windows = Windows(TOKYO, (night,), (night,), dates=dates)
    holiday = datetime(2026, 11, 23, tzinfo=TOKYO)
    assert windows.is_open(holiday + timedelta(hours=5))
    assert not windows.is_open(holiday + timedelta(hours=23))
    assert not windows.is_open(holiday + timedelta(hours=26))
    assert windows.next_change(holiday + timedelta(hours=6)) == holiday + timedelta(hours=46)


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-03-29", 23), ("2026-10-25", 25), ("2026-03-30", 24)],
    ids=["spring", "autumn", "another day"],
)
def test_a_date_with_a_change_of_the_clock_is_as_long_as_it_is(day: str, hours: int) -> None:
    """Always on such a date is 23 or 25 hours, and the clock on the wall says when it ends."""
    _, dates = day_hours([f"{day} always"])
    windows = Windows(BERLIN, (), (), dates=dates)
    opens = windows.next_change(at("2026-01-01 00:00"))
    assert opens is not None
    assert opens.astimezone(BERLIN).isoformat()[:16] == f"{day}T00:00"
    closes = windows.next_change(opens)
    assert closes is not None
    assert closes - opens == timedelta(hours=hours)
    assert windows.next_change(closes) is None


def test_holidays_of_weeks_end() -> None:
    """A summer without hours: the agent knows when it begins again, and plans wait for it."""
    _, dates = day_hours(["2026-07-01..2026-08-31 never"])
    windows = Windows(BERLIN, *SOURCE, dates=dates)
    summer = at("2026-07-01 12:00")
    assert windows.next_change(summer) == datetime(2026, 9, 1, 2, tzinfo=BERLIN)
    done = windows.worked_off(summer, timedelta(hours=3))
    assert done == datetime(2026, 9, 1, 5, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("sat", "must be days and hours"),
        ("sat 02:00-08:00 always", "must be days and hours"),
        ("caturday always", '"caturday": not a day'),
        ("2026-02-30 always", "not a day"),
        ("2026-01-02..2026-01-01 always", "must end 0 to 399 days after it begins"),
        ("2026-01-01..2027-12-31 always", "must end 0 to 399 days"),
        ("sat 08:00", "must be HH:MM-HH:MM"),
        ("sat,fri-sun never", "sat has hours twice"),
    ],
)
def test_a_line_that_is_no_day_is_refused_with_its_form(line: str, why: str) -> None:
    """What, and how it is written."""
    with pytest.raises(FormatError, match=why):
        day_hours([line])


def test_days_are_written_as_people_do() -> None:
    """Names with commas and dashes, also over the end of the week; several windows."""
    days, dates = day_hours(["Mon-Wed,fri 02:00-06:00,22:00-24:00", "sat-sun never"])
    assert days == {**dict.fromkeys((0, 1, 2, 4), ((120, 360), (1320, 1440))), 5: (), 6: ()}
    assert dates == {}
    assert day_hours(["fri-mon always"])[0] == dict.fromkeys((4, 5, 6, 0), (ALWAYS,))


SPAN = st.tuples(st.integers(0, 1439), st.integers(0, 1440))


@settings(max_examples=30, deadline=None)
@given(
    weekday=st.lists(SPAN, max_size=3),
    weekend=st.lists(SPAN, max_size=3),
    days=st.dictionaries(st.integers(0, 6), st.lists(SPAN, max_size=3), max_size=7),
)
def test_the_open_share_is_what_a_count_of_minutes_finds(
    weekday: list[Window], weekend: list[Window], days: dict[int, list[Window]]
) -> None:
    """Hours may overlap, and the last ones of Sunday end on Monday."""
    hours = Windows(UTC, weekday, weekend, days)
    monday = datetime(2026, 11, 23, tzinfo=UTC)
    minutes = 7 * 1440
    opened = sum(hours.is_open(monday + timedelta(minutes=minute)) for minute in range(minutes))
    assert hours.open_share() == opened / minutes
