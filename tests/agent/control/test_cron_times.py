"""Cron's lines follow from the hours, in the zone of the machine."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from agent.control.cron_times import cron_times
from shared.day_hours import day_hours
from shared.windows import Window, Windows

TOKYO = ZoneInfo("Asia/Tokyo")
SOURCE = Windows(TOKYO, ((120, 480),), ((120, 1320),))


@pytest.mark.parametrize(
    ("weekday", "weekend", "lines"),
    [
        (((120, 480),), ((120, 1320),), ["17 1-21 * * 0,6", "17 1-7 * * 1-5"]),
        (((0, 1440),), (), ["17 23 * * 0", "17 * * * 1-5"]),
        (((1320, 360),), ((1320, 360),), ["17 0-5,21-23 * * *"]),
        ((), (), []),
    ],
)
def test_each_hour_that_is_open_and_the_one_before(
    weekday: tuple[Window, ...], weekend: tuple[Window, ...], lines: list[str]
) -> None:
    """The source's hours; whole days; over midnight; never."""
    found = cron_times(Windows(TOKYO, weekday, weekend), 17, TOKYO)
    assert sorted(found) == sorted(lines)


def test_a_machine_in_another_zone_starts_by_its_own_clock() -> None:
    """02:00 in Tokyo is 17:00 or 18:00 of the day before elsewhere, as summer goes."""
    lines = cron_times(SOURCE, 0, ZoneInfo("Europe/London"))
    assert "0 17-23 * * 1-5" in lines  # 17 to 22 in winter, 18 to 23 in summer
    assert "0 17-22 * * 1-4" in cron_times(SOURCE, 0, ZoneInfo("UTC"))


def test_a_start_late_in_the_hour_counts_the_hour_behind_it() -> None:
    """At minute 59 the start before the window is a minute early, not an hour."""
    assert cron_times(Windows(TOKYO, ((120, 480),), ((120, 480),)), 59, TOKYO) == ["59 1-7 * * *"]


def test_dates_have_lines_where_the_week_has_none() -> None:
    """Holidays at which the machine may work all day; one at which it may not needs no line."""
    days, dates = day_hours(
        ["wed never", "2026-12-29..2027-01-03 always", "2026-12-25 never", "2026-11-25 03:00-04:00"]
    )
    windows = Windows(TOKYO, SOURCE.weekday, SOURCE.weekend, days, dates)
    lines = cron_times(windows, 17, TOKYO)
    week = ["17 1-21 * * 0,6", "17 1-7 * * 1-2,4-5"]
    # The night of 28 December begins at 23:17; at the weekend only what the week leaves out.
    assert lines == [
        *week,
        "17 2-3 25 11 *",
        "17 23 28 12 *",
        "17 0,8-23 29,31 12 *",
        "17 * 30 12 *",
        "17 0,8-23 1 1 *",
        "17 0,22-23 2-3 1 *",
    ]
