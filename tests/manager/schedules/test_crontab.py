"""Crontab lines mean what crontab(5) says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.schedules import Crontab, ScheduleError

SATURDAY = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)


def runs(text: str, count: int = 3, zone: str = "UTC", after: datetime = SATURDAY) -> list[str]:
    """Return the next runs as text in the zone."""
    return [f"{run:%a %Y-%m-%d %H:%M}" for run in Crontab(text, zone).next_runs(after, count)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 2 * * *", ["Sun 2026-11-22 02:00", "Mon 2026-11-23 02:00", "Tue 2026-11-24 02:00"]),
        ("*/20 23 * * *", ["Sat 2026-11-21 23:00", "Sat 2026-11-21 23:20", "Sat 2026-11-21 23:40"]),
        ("0 0 * * 0", ["Sun 2026-11-22 00:00", "Sun 2026-11-29 00:00", "Sun 2026-12-06 00:00"]),
        ("0 0 * * 7", ["Sun 2026-11-22 00:00", "Sun 2026-11-29 00:00", "Sun 2026-12-06 00:00"]),
        ("0 0 * * 1-5", ["Mon 2026-11-23 00:00", "Tue 2026-11-24 00:00", "Wed 2026-11-25 00:00"]),
        ("0 0 * * Sat,mon", ["Mon 2026-11-23 00:00", "Sat 2026-11-28 00:00", "Mon 2026-11-30 00:00"]),  # noqa: E501
        ("0 0 24 * 5", ["Tue 2026-11-24 00:00", "Fri 2026-11-27 00:00", "Fri 2026-12-04 00:00"]),
        ("0 0 31 * *", ["Thu 2026-12-31 00:00", "Sun 2027-01-31 00:00", "Wed 2027-03-31 00:00"]),
        ("5 4 29 feb *", ["Tue 2028-02-29 04:05", "Sun 2032-02-29 04:05", "Fri 2036-02-29 04:05"]),
        ("0 0 31 2 1", ["Mon 2027-02-01 00:00", "Mon 2027-02-08 00:00", "Mon 2027-02-15 00:00"]),
        ("@daily", ["Sun 2026-11-22 00:00", "Mon 2026-11-23 00:00", "Tue 2026-11-24 00:00"]),
        ("@Monthly", ["Tue 2026-12-01 00:00", "Fri 2027-01-01 00:00", "Mon 2027-02-01 00:00"]),
        ("10/25 1 * * *", ["Sun 2026-11-22 01:10", "Sun 2026-11-22 01:35", "Mon 2026-11-23 01:10"]),
    ],
)  # fmt: skip
def test_lines_as_cron_reads_them(text: str, expected: list[str]) -> None:
    """Sunday is 0 and 7; where both days are restricted, either suffices."""
    assert runs(text) == expected


def test_times_are_those_of_the_zone() -> None:
    """Two o'clock in Tokyo is 17:00 UTC of the day before."""
    assert runs("0 2 * * *", 1, "Asia/Tokyo") == ["Mon 2026-11-23 02:00"]
    assert Crontab("0 2 * * *", "Asia/Tokyo").next_after(SATURDAY) == datetime(
        2026, 11, 22, 17, tzinfo=UTC
    )


def test_changes_of_the_clock() -> None:
    """A skipped hour comes when it was skipped; one that comes twice counts once, if named."""
    spring = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert Crontab("30 2 * * *", "Europe/Berlin").next_after(spring) == datetime(
        2026, 3, 29, 1, 30, tzinfo=UTC
    )
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    line = Crontab("30 2 * * *", "Europe/Berlin")
    first = line.next_after(autumn)
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert line.next_after(first) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    hourly = Crontab("30 * * * *", "Europe/Berlin")
    assert hourly.next_after(first) == first + timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have five fields"),
        ("0 2 * *", "must have five fields"),
        ("0 2 * * * *", "must have five fields"),
        ("@fortnightly", "must have five fields"),
        ("60 2 * * *", "minute = '60': must be 0 to 59"),
        ("0 24 * * *", "hour = '24': must be 0 to 23"),
        ("0 2 0 * *", "day of month = '0': must be 1 to 31"),
        ("0 2 * 13 *", "month = '13': must be 1 to 12 or jan to dec"),
        ("0 2 * * 8", "day of week = '8': must be 0 to 7 or sun to sat"),
        ("0 2 * * fri-mon", "must begin before it ends"),
        ("*/0 2 * * *", "a step must be 1 to 99"),
        ("*/x 2 * * *", "a step must be 1 to 99"),
        ("1,,2 2 * * *", "minute = '': must be 0 to 59"),
        ("0 2 31 2,4,6 *", "none of its months has such a day"),
        ("\u0661 2 * * *", "must be 0 to 59"),
        ("0 2 " + "*" * 300, "at most 200"),
    ],
)
def test_what_no_cron_would_run_is_refused(text: str, words: str) -> None:
    """With the field, the value and what would be right."""
    with pytest.raises(ScheduleError) as refused:
        Crontab(text)
    assert words in str(refused.value)


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../../etc/passwd", "/etc/localtime"])
def test_zones_that_are_none_are_refused(zone: str) -> None:
    """A zone is named as the system has it."""
    with pytest.raises(ScheduleError, match="not known"):
        Crontab("@daily", zone)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 59),
    st.integers(0, 23),
    st.sets(st.integers(0, 6), min_size=1),
    st.sampled_from(["UTC", "Asia/Tokyo", "Europe/Berlin", "America/St_Johns"]),
    st.integers(0, 2 * 365 * 24 * 60),
)
def test_runs_are_ordered_and_on_their_days(
    minute: int, hour: int, days: set[int], zone: str, minutes: int
) -> None:
    """Each run is later than the one before, on a named day, and shows its minute."""
    line = Crontab(f"{minute} {hour} * * {','.join(map(str, days))}", zone)
    after = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    found = line.next_runs(after, 4)
    assert [run > before for before, run in zip([after, *found], found, strict=False)] == [True] * 4
    for run in found:
        shown = run.astimezone(line.zone)
        assert shown.minute == minute or shown.utcoffset() != (run - timedelta(days=1)).utcoffset()
        assert shown.isoweekday() % 7 in days
