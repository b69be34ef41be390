"""The machine's zone is found by name where it has one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo

import pytest

from agent.control.zone import system_zone, zone_named


def test_named(tmp_path: Path) -> None:
    """The settings' name, then TZ, then the machine's, then UTC."""
    assert zone_named("Asia/Tokyo") == ZoneInfo("Asia/Tokyo")
    assert system_zone(tmp_path, "Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert system_zone(tmp_path, ":Asia/Tokyo") == ZoneInfo("Asia/Tokyo")
    assert system_zone(tmp_path, "Nowhere/Land") == UTC
    assert system_zone(tmp_path, "") == UTC


def test_the_file_of_the_machine(tmp_path: Path) -> None:
    """/etc/localtime is a link to a named zone, or a copy of one."""
    files = [Path(folder) / "Asia" / "Tokyo" for folder in TZPATH]
    source = next((path for path in files if path.is_file()), None)
    if source is None:
        pytest.skip("this machine has no zone files")
    (tmp_path / "localtime").symlink_to(source)
    assert system_zone(tmp_path, "") == ZoneInfo("Asia/Tokyo")
    (tmp_path / "localtime").unlink()
    (tmp_path / "localtime").write_bytes(source.read_bytes())
    offset = datetime(2026, 11, 21, tzinfo=system_zone(tmp_path, "")).utcoffset()
    assert offset is not None
    assert offset.total_seconds() == 9 * 3600
