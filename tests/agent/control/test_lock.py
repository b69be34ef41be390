"""One process a home; a crash leaves no lock; nobody else is killed."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from unittest.mock import ANY

import pytest

from agent.control.lock import HUNG_S, Holder, HomeLock, end, holder_of, hung_process
from agent.errors import HomeError
from shared.archive.errors import DiskFullError


def test_the_second_is_told_who_works_here(tmp_path: Path) -> None:
    """The message names the process and what can be done."""
    lock = HomeLock.take(tmp_path / "lock")
    with pytest.raises(HomeError, match=f"process {os.getpid()} works here") as refusal:
        HomeLock.take(tmp_path / "lock")
    assert "--replace" in str(refusal.value)
    lock.release()
    HomeLock.take(tmp_path / "lock").release()


def test_what_a_dead_process_left_is_no_lock(tmp_path: Path) -> None:
    """The file of a crash names somebody, and holds nobody up."""
    path = tmp_path / "lock"
    path.write_text('{"pid": 1, "started": 1}')
    assert holder_of(path) is None
    lock = HomeLock.take(path)
    holder = holder_of(path)
    assert holder is not None
    assert holder.pid == os.getpid()
    lock.release()
    assert holder_of(path) is None
    assert holder_of(tmp_path / "none") is None


def test_a_lock_that_was_held_once_needs_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written in place; a first one that finds no room says so, and is not held."""
    old, new = tmp_path / "old", tmp_path / "new"
    HomeLock.take(old, signs=True).release()
    size, write = old.stat().st_size, os.pwrite

    def full(handle: int, data: bytes, at: int) -> int:
        if os.fstat(handle).st_size < at + len(data):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data, at)

    monkeypatch.setattr(os, "pwrite", full)
    lock = HomeLock.take(old, signs=True)
    assert holder_of(old) == Holder(os.getpid(), ANY, ANY, ANY)
    lock.release()
    assert (holder_of(old), old.stat().st_size) == (None, size)
    with pytest.raises(DiskFullError, match=f"{new}: no room on the disk .*; make room"):
        HomeLock.take(new)
    monkeypatch.undo()
    HomeLock.take(new).release()


class Process:
    """A process that works in a home, and ends at some signal, or never."""

    def __init__(self, path: Path, ends_at: int) -> None:
        self.lock: HomeLock | None = HomeLock.take(path)
        self.ends_at = ends_at
        self.signals: list[int] = []

    def kill(self, pid: int, number: int) -> None:
        assert abs(pid) == os.getpid()
        self.signals.append(number)
        if number == self.ends_at and self.lock is not None:
            self.lock.release()
            self.lock = None


def test_a_process_that_stops_is_not_killed(tmp_path: Path) -> None:
    """SIGTERM is enough for one that listens."""
    process = Process(tmp_path / "lock", signal.SIGTERM)
    assert end(tmp_path / "lock", kill=process.kill, sleep=lambda _: None)
    assert process.signals == [signal.SIGTERM]


def test_one_that_hanging_is_killed_where_that_is_asked(tmp_path: Path) -> None:
    """As the source does at midnight: first politely, then by force."""
    process = Process(tmp_path / "lock", signal.SIGKILL)
    assert not end(tmp_path / "lock", kill=process.kill, sleep=lambda _: None)
    assert end(tmp_path / "lock", kill=process.kill, sleep=lambda _: None, by_force=True)
    assert process.signals == [signal.SIGTERM, signal.SIGTERM, signal.SIGKILL]


def test_nobody_who_took_over_the_number_is_killed(tmp_path: Path) -> None:
    """Where the process of that id is another one than the one that took the lock, it lives."""
    process = Process(tmp_path / "lock", signal.SIGTERM)
    gone = end(
        tmp_path / "lock",
        kill=process.kill,
        sleep=lambda _: None,
        started=lambda _: 1,
        by_force=True,
    )
    assert not gone
    assert process.signals == []


def test_a_holder_that_did_not_say_who_it_is(tmp_path: Path) -> None:
    """Between taking the lock and writing its name a process is unknown, and is not killed."""
    lock = HomeLock.take(tmp_path / "lock")
    (tmp_path / "lock").write_text("")
    assert holder_of(tmp_path / "lock") == Holder(0, 0)
    assert not end(tmp_path / "lock", kill=os.kill, sleep=lambda _: None)
    with pytest.raises(HomeError, match="another process works here"):
        HomeLock.take(tmp_path / "lock")
    lock.release()


def test_only_who_promised_signs_of_life_can_hang(tmp_path: Path) -> None:
    """A short task that holds the lock promises none, however long it takes."""
    path = tmp_path / "lock"
    later = time.monotonic() + 10 * HUNG_S
    lock = HomeLock.take(path)
    assert not hung_process(path, sleep=lambda _: None, now_s=lambda: later)
    lock.release()
    assert not hung_process(path, sleep=lambda _: None, now_s=lambda: later)
    lock = HomeLock.take(path, signs=True)
    assert not hung_process(path, sleep=lambda _: None)
    assert hung_process(path, sleep=lambda _: None, now_s=lambda: later)
    size = path.stat().st_size
    lock.alive()
    assert path.stat().st_size == size, "a full disk must not keep it from living"
    lock.release()


def test_only_the_one_that_hung_is_ended(tmp_path: Path) -> None:
    """Two starts at a time see it hang: the slower one leaves the faster one's agent alone."""
    path = tmp_path / "lock"
    lock = HomeLock.take(path, signs=True)
    hung = hung_process(path, sleep=lambda _: None, now_s=lambda: time.monotonic() + 10 * HUNG_S)
    assert hung is not None
    signals: list[int] = []
    gone = end(
        path,
        only=Holder(hung.pid, hung.started - 1),
        kill=lambda _, number: signals.append(number),
        sleep=lambda _: None,
        by_force=True,
    )
    assert gone
    assert signals == []
    lock.release()


def test_one_that_wakes_up_does_not_hang(tmp_path: Path) -> None:
    """After the machine slept the process gets a moment to say that it lives."""
    path = tmp_path / "lock"
    lock = HomeLock.take(path, signs=True)
    later = time.monotonic() + 10 * HUNG_S
    assert not hung_process(path, sleep=lambda _: lock.alive(), now_s=lambda: later)
    lock.release()
