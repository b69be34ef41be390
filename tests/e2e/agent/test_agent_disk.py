"""An agent whose disk is full stands still, says so, and goes on by itself when there is room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.agent.app.scene import scene
from tests.e2e.mounts import small_file_system

pytestmark = pytest.mark.e2e


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    with small_file_system(tmp_path / "disk", "size=8m") as folder:
        yield folder


def fill(folder: Path, left_bytes: int) -> Path:
    """Use the room up but for some bytes; who else writes here meanwhile may take some of it."""
    ballast = folder / "ballast"
    state = os.statvfs(folder)
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        file.write(bytes(max(0, state.f_bavail * state.f_frsize - left_bytes)))
    return ballast


@pytest.mark.parametrize(
    ("reserve_bytes", "left_bytes", "said"),
    [
        (1_000_000, 500_000, "disk.reserve_bytes = 1000000"),
        pytest.param(0, 0, "no room", marks=pytest.mark.slow),
    ],
)
def test_it_waits_for_room(
    tmp_path: Path, small_disk: Path, reserve_bytes: int, left_bytes: int, said: str
) -> None:
    """Below the reserve, or with no byte left: nothing is lost, and nothing is done twice."""
    with scene(tmp_path, hosts=3, home=small_disk / "prs", pages_mean=30) as it:
        it.give_all()
        sets = (
            "--set",
            f"disk.reserve_bytes={reserve_bytes}",
            "--set",
            "disk.segment_bytes=1000000",
        )
        it.agent.program.log = tmp_path / "run.log"
        it.agent.program.words = ["prs", "run", *sets]
        it.agent.start()
        it.until("requests", lambda: len(it.web.requests()) > 8)
        it.until("word of it", lambda: " fetching\n" in it.said())
        ballast = fill(small_disk, left_bytes)
        it.until("the pause", lambda: "not fetching: " in it.said().rpartition("fetching\n")[2])
        assert it.quiet_for(1.5)
        assert said in it.said()
        assert it.agent.program.running
        it.until("a sync about it", lambda: it.manager.syncs[-1].state == "paused")
        ballast.unlink()
        it.until("the end", lambda: len(it.manager.finished) == 3, seconds=60)
        it.agent.stop()
        assert set(it.captures()) >= it.web.expected().captures
        assert set(it.captures().values()) == {1}
        assert set(it.times_requested().values()) == {1}
