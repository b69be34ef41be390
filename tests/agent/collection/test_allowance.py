"""How fast, and in which hours, segments may be sent: the site's word and the manager's."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.collection.allowance import Allowance, read_limits, write_limits
from agent.settings import Settings
from shared.wire.sync import SendingLimits

TUESDAY_3_IN_TOKYO = datetime(2026, 11, 23, 18, 0, tzinfo=UTC)
MONDAY_NOON_IN_TOKYO = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)


def site(folder: Path, **collection: Any) -> Settings:
    """Return the settings of a site in Tokyo."""
    settings = Settings(home=folder)
    (folder / "collection").mkdir(exist_ok=True)
    return dataclasses.replace(
        settings,
        collection=dataclasses.replace(settings.collection, **collection),
        windows=dataclasses.replace(settings.windows, zone="Asia/Tokyo"),
    )


def test_hours_are_the_sites(tmp_path: Path) -> None:
    """Of the settings, in the zone of the windows."""
    allowance = Allowance(site(tmp_path, weekday=("02:00-06:00",)))
    assert allowance.is_open(TUESDAY_3_IN_TOKYO)
    assert not allowance.is_open(MONDAY_NOON_IN_TOKYO)


@pytest.mark.parametrize(
    ("ours", "theirs", "together"),
    [(0, None, 0), (0, 500, 500), (300, None, 300), (300, 500, 300), (700, 500, 500)],
)
def test_the_lower_rate_holds(tmp_path: Path, ours: int, theirs: int | None, together: int) -> None:
    """Whoever said it; 0, and nothing said, is no limit."""
    allowance = Allowance(site(tmp_path, bytes_per_s=ours))
    write_limits(tmp_path / "collection", SendingLimits(bytes_per_s=theirs))
    assert allowance.bytes_per_s == together


def test_both_must_allow_an_hour(tmp_path: Path) -> None:
    """The manager's hours are in its zone, or in the site's where it names none."""
    allowance = Allowance(site(tmp_path, weekday=("02:00-06:00",)))
    limits = tmp_path / "collection"
    write_limits(limits, SendingLimits(weekday=((240, 480),)))
    assert not allowance.is_open(TUESDAY_3_IN_TOKYO)
    write_limits(limits, SendingLimits(weekday=((17 * 60, 19 * 60),), zone="UTC"))
    assert allowance.is_open(TUESDAY_3_IN_TOKYO)
    write_limits(limits, SendingLimits(weekday=((0, 1440),), zone="Nowhere/Known"))
    assert allowance.is_open(TUESDAY_3_IN_TOKYO)
    assert not allowance.is_open(MONDAY_NOON_IN_TOKYO), "the site's own hours stay"


def test_a_word_holds_until_it_is_taken_back(tmp_path: Path) -> None:
    """Also for a process that is running, and for the next one; a damaged file says nothing."""
    folder = tmp_path / "collection"
    allowance = Allowance(site(tmp_path))
    write_limits(folder, SendingLimits(bytes_per_s=500))
    assert (allowance.bytes_per_s, Allowance(site(tmp_path)).bytes_per_s) == (500, 500)
    write_limits(folder, None)
    assert (allowance.bytes_per_s, read_limits(folder)) == (0, None)
    (folder / "limits.json").write_text("{")
    assert allowance.bytes_per_s == 0
