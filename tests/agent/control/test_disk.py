"""The crawl pauses before the disk is full, and goes on by itself."""

from __future__ import annotations

from pathlib import Path

from agent.control.disk import DiskGuard, free_bytes


def test_pause_and_go_on() -> None:
    """Below the reserve it pauses and says so; it goes on a little above it."""
    free = 2000
    guard = DiskGuard(Path("/"), 1000, lambda _: free)
    assert guard.check() is None
    free = 999
    assert "999 bytes are free" in str(guard.check())
    assert "disk.reserve_bytes = 1000" in str(guard.check())
    free = 1049
    assert guard.check() is not None, "not yet: it would stop again at once"
    free = 1050
    assert guard.check() is None
    assert guard.free_bytes == 1050


def test_no_reserve_never_pauses(tmp_path: Path) -> None:
    """A site that reserves nothing is never paused for it."""
    assert DiskGuard(tmp_path, 0, lambda _: 0).check() is None
    assert free_bytes(tmp_path) > 0
