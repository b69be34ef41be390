"""The link's numbers outlive the process."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from agent.errors import HomeError
from agent.link.link_memory import Memory

NOW_MS = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC


def opened(path: Path, epoch_ms: int = NOW_MS) -> Memory:
    return Memory.open(path, epoch_ms=epoch_ms, rng=random.Random(3))


def test_the_sequence_grows_over_restarts(tmp_path: Path) -> None:
    """No number is given twice, whenever the process ends."""
    numbers = [opened(tmp_path / "m").next_sequence() for _ in range(3)]
    memory = opened(tmp_path / "m")
    numbers += [memory.next_sequence(), memory.next_sequence()]
    assert numbers == sorted(set(numbers))


def test_a_lost_memory_goes_on_far_above(tmp_path: Path) -> None:
    """Without its file the sequence begins at the clock, above all that was ever counted."""
    first = opened(tmp_path / "m")
    last = max(first.next_sequence() for _ in range(100))
    (tmp_path / "m").unlink()
    assert opened(tmp_path / "m", NOW_MS + 3_600_000).next_sequence() > last


def test_minute_and_command_are_remembered(tmp_path: Path) -> None:
    """The random minute is drawn once at install; the last command is known to a new process."""
    memory = opened(tmp_path / "m")
    memory.remember_command("c7")
    again = Memory.open(tmp_path / "m", epoch_ms=NOW_MS, rng=random.Random(99))
    assert 0 <= again.kept.spread_minute < 60
    assert (again.kept.spread_minute, again.kept.command_done) == (memory.kept.spread_minute, "c7")


def test_the_place_is_remembered(tmp_path: Path) -> None:
    """And one that was written before places were is none."""
    opened(tmp_path / "m").remember_location("key1 here")
    assert opened(tmp_path / "m").kept.place == "key1 here"
    values = json.loads((tmp_path / "m").read_bytes())
    del values["place"]
    (tmp_path / "m").write_text(json.dumps(values))
    assert opened(tmp_path / "m").kept.place == ""


def test_two_logs_never_share_a_minute(tmp_path: Path) -> None:
    """A log is named by its minute; the second of a minute takes the next, over restarts too."""
    minutes = [opened(tmp_path / "m").log_minute(NOW_MS, f"log-{n}") for n in range(3)]
    assert minutes == ["202311142213", "202311142214", "202311142215"]
    assert opened(tmp_path / "m").log_minute(NOW_MS - 86_400_000, "log-3") == "202311142216"
    assert opened(tmp_path / "m").log_minute(NOW_MS + 3_600_000, "log-4") == "202311142313"


def test_names_of_logs_leave_a_clock_that_was_far_ahead(tmp_path: Path) -> None:
    """A manager refuses names of another century; they begin anew once the clock is right."""
    year_ms = 365 * 86_400_000
    assert opened(tmp_path / "m").log_minute(NOW_MS + 70 * year_ms, "log-1").startswith("209")
    assert opened(tmp_path / "m").log_minute(NOW_MS, "log-2") == "202311142213"


def test_a_log_that_is_made_again_keeps_its_minute(tmp_path: Path) -> None:
    """Also days later: by its name the manager knows it again."""
    minute = opened(tmp_path / "m").log_minute(NOW_MS, "log-1")
    assert opened(tmp_path / "m").log_minute(NOW_MS + 86_400_000, "log-1") == minute
    assert opened(tmp_path / "m").log_minute(NOW_MS, "log-2") != minute


def test_a_broken_memory_is_said(tmp_path: Path) -> None:
    """Bytes that are no memory are refused with the remedy, not guessed at."""
    (tmp_path / "m").write_bytes(b"{")
    with pytest.raises(HomeError, match="remove it"):
        opened(tmp_path / "m")
