"""The cap of a month: kept over restarts, begun anew with each month of the site's clock."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.control.month import MonthlyBytes

TOKYO = ZoneInfo("Asia/Tokyo")


def ms(day: int, hour: int, month: int = 11) -> int:
    return round(datetime(2026, month, day, hour, tzinfo=UTC).timestamp() * 1000)


def test_the_cap_holds_over_a_restart_and_ends_with_the_month(tmp_path: Path) -> None:
    """30 November 15:00 UTC is December in Tokyo."""
    month = MonthlyBytes(tmp_path / "month.json", 1000, TOKYO)
    assert month.check(ms(10, 0), 400) is None
    assert month.check(ms(10, 1), 900, last=True) is None
    again = MonthlyBytes(tmp_path / "month.json", 1000, TOKYO)
    assert again.check(ms(11, 0), 0) is None
    assert "1000 bytes were fetched in 2026-11" in str(again.check(ms(11, 0), 100))
    assert "network.month_bytes = 1000" in str(again.check(ms(30, 14), 100))
    assert again.check(ms(30, 15), 150) is None
    assert again.bytes == 50
    again.retune(10, TOKYO)
    assert "2026-12" in str(again.check(ms(1, 0, month=12), 150))
    again.retune(0, TOKYO)
    assert again.check(ms(1, 0, month=12), 10**12) is None


def test_what_cannot_be_read_or_written_stops_nothing(tmp_path: Path) -> None:
    """A broken file counts as nothing."""
    path = tmp_path / "month.json"
    path.write_text("[")
    assert MonthlyBytes(path, 100, TOKYO).check(ms(1, 0), 99, last=True) is None
    assert MonthlyBytes(path, 100, TOKYO).bytes == 99


def test_a_clock_that_was_wrong_gives_no_second_cap(tmp_path: Path) -> None:
    """A month ahead and back again: what came before still counts, over a restart too."""
    path = tmp_path / "month.json"
    month = MonthlyBytes(path, 1000, TOKYO)
    month.check(ms(10, 0), 900)
    month.check(ms(10, 0, month=12), 950)
    assert month.bytes == 50
    assert "1000 bytes were fetched in 2026-11" in str(month.check(ms(10, 1), 1050, last=True))
    assert "2026-11" in str(MonthlyBytes(path, 1000, TOKYO).check(ms(11, 0), 0))


def test_a_release_that_went_back_knows_the_month(tmp_path: Path) -> None:
    """It reads one month and its bytes: a trial of the next release must not begin a new cap."""
    path = tmp_path / "month.json"
    month = MonthlyBytes(path, 1000, TOKYO)
    month.check(ms(10, 0, month=12), 50)
    month.check(ms(10, 0), 950, last=True)
    said = json.loads(path.read_bytes())
    assert (said["month"], said["bytes"]) == ("2026-11", 900)


def test_what_the_version_before_wrote_counts(tmp_path: Path) -> None:
    """One month, by name."""
    (tmp_path / "month.json").write_text('{"month": "2026-11", "bytes": 999}')
    month = MonthlyBytes(tmp_path / "month.json", 1000, TOKYO)
    assert month.check(ms(11, 0), 0) is None
    assert "1000 bytes" in str(month.check(ms(11, 0), 1))
