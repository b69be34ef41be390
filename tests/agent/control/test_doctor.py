"""Each judgement says what it saw, and what to do where something is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from agent.control.doctor import check_clock, check_disk, check_files, check_hours
from shared.windows import Windows

GB = 10**9
NOW = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)


def test_disk() -> None:
    """Room for the reserve and a segment is enough; less is said with the setting's name."""
    assert check_disk(10 * GB, 2 * GB, GB).passed
    assert "segment of 1 GB" in str(check_disk(int(2.5 * GB), 2 * GB, GB).remedy)
    assert "disk.reserve_bytes" in str(check_disk(GB, 2 * GB, GB).remedy)


def test_files() -> None:
    """Too few open files are said with both ways out."""
    assert check_files(1024, 664, 200).passed
    bad = check_files(256, 664, 200)
    assert "256 open files allowed" in str(bad.said)
    assert "ulimit -n" in str(bad.remedy)


def test_clock() -> None:
    """A minute is too much; which side is ahead is said; an unknown time is no fault."""
    assert str(check_clock(NOW, NOW + timedelta(seconds=1)).said) == "agrees with the manager's"
    assert check_clock(NOW, NOW - timedelta(seconds=59)).passed
    ahead = check_clock(NOW + timedelta(hours=1), NOW)
    assert (str(ahead.said), ahead.passed) == ("3600 s ahead of the manager", False)
    assert "behind" in str(check_clock(NOW, NOW + timedelta(hours=1)).said)
    assert check_clock(NOW, None).passed


def test_hours() -> None:
    """The zone, its time of day, and what the hours mean now."""
    night = ((120, 480),)
    said = str(check_hours(Windows(ZoneInfo("Asia/Tokyo"), night, night), NOW).said)
    assert said == "Asia/Tokyo, where it is Fri 12:00; closed now, until Sat 02:00"
    assert str(check_hours(Windows(UTC), NOW).said).endswith("open now, always")
