"""Releases are looked for in the site's hours, by the clock of the machine."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from agent.control.cron_times import SAMPLES, update_time
from shared.day_hours import day_hours
from shared.windows import ALWAYS, Window, Windows

TOKYO = ZoneInfo("Asia/Tokyo")
NIGHT = (120, 480)
ZONES = ("Asia/Tokyo", "Europe/London", "America/New_York", "UTC")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("weekday", "weekend"),
    [((NIGHT,), ((120, 1320),)), (((1320, 360),), ((1320, 360),)), ((NIGHT,), ())],
)
def test_it_is_within_the_hours_and_an_hour_before_they_end(
    weekday: tuple[Window, ...], weekend: tuple[Window, ...], zone: str
) -> None:
    """At each minute that an installation may have drawn, on each day of its line, in all seasons.

    The source's hours; over midnight; Monday to Friday only.
    """
    windows = Windows(TOKYO, weekday, weekend)
    for spread in range(60):
        when = update_time(windows, spread, ZoneInfo(zone))
        assert len(when.days) == (7 if weekend else 5)
        for monday in SAMPLES:
            for day in when.days:
                wall = monday + timedelta(days=(day - 1) % 7, hours=when.hour, minutes=when.minute)
                start = wall.replace(tzinfo=ZoneInfo(zone))
                assert windows.is_open(start), (spread, when)
                assert windows.is_open(start + timedelta(minutes=59)), (spread, when)


def test_installations_spread_over_the_hours() -> None:
    """Sixty of them; where all hours are open, over all of the day; never with their start."""
    for windows, hours in (
        (Windows(TOKYO), 24),
        (Windows(TOKYO, (NIGHT,), (NIGHT,)), 6),
        (Windows(TOKYO, (), (ALWAYS,)), 24),
        (Windows(TOKYO, (), ()), 24),
    ):
        found = [update_time(windows, spread, TOKYO) for spread in range(60)]
        assert len({one.hour for one in found}) >= hours - 1
        assert len({one.minute for one in found}) == 60
        assert all(one.minute == (spread + 30) % 60 for spread, one in enumerate(found))


def test_hours_that_are_short_have_it_anyway() -> None:
    """Of twenty minutes a day, and of one day of the week; in words of cron and of systemd."""
    short = update_time(Windows(TOKYO, ((130, 150),), ((130, 150),)), 17, TOKYO)
    assert (short.hour, 10 <= short.minute < 30) == (2, True)
    assert short.of_cron == f"{short.minute} 2 * * *"
    days, dates = day_hours(["fri 02:00-03:30", "2026-12-29 always"])
    friday = update_time(Windows(TOKYO, (), (), days, dates), 45, TOKYO)
    assert friday.of_cron == "15 2 * * 5"
    assert friday.of_systemd == "Fri *-*-* 02:15:00"
    several = update_time(Windows(TOKYO, (NIGHT,), ()), 45, TOKYO)
    assert several.of_cron.endswith(" * * 1-5")
    assert several.of_systemd.startswith("Mon,Tue,Wed,Thu,Fri *-*-* 0")
