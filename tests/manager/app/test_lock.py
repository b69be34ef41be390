"""One server process for a data directory."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from manager.app.locks import is_locked_by_us
from manager.store import StoreError


def test_a_second_one_hears_who_is_first(tmp_path: Path) -> None:
    """While one holds the lock another is refused, with the first one's process and a remedy."""
    with (
        is_locked_by_us(tmp_path / "prsm.lock"),
        pytest.raises(StoreError, match=rf"process {os.getpid()} since 2.*--data"),
        is_locked_by_us(tmp_path / "prsm.lock"),
    ):
        pass


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    """After the end, also by an error, the next one gets it."""
    with pytest.raises(RuntimeError), is_locked_by_us(tmp_path / "prsm.lock"):
        raise RuntimeError
    with is_locked_by_us(tmp_path / "prsm.lock"):
        assert (tmp_path / "prsm.lock").stat().st_mode & 0o777 == 0o600


def test_the_next_one_knows_who_is_dead(tmp_path: Path) -> None:
    """Who holds the lock now knows that who held it before does not live any more."""
    lock = tmp_path / "prsm.lock"
    with is_locked_by_us(lock, "machine-1-aa") as dead:
        assert dead == ""
    with is_locked_by_us(lock, "machine-2-bb") as dead:
        assert dead == "machine-1-aa"
    with is_locked_by_us(lock) as dead:  # no manager: a command that wants nobody beside it
        assert dead == "machine-2-bb"
    with is_locked_by_us(lock, "machine-3-cc") as dead:
        assert dead == ""


def test_of_a_copy_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manager of the directory that was copied may live; so may one of another machine."""
    with is_locked_by_us(tmp_path / "prsm.lock", "machine-1-aa"):
        shutil.copy2(tmp_path / "prsm.lock", tmp_path / "copied.lock")
    with is_locked_by_us(tmp_path / "copied.lock", "machine-2-bb") as dead:
        assert dead == ""
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    with is_locked_by_us(tmp_path / "prsm.lock", "another-3-cc") as dead:
        assert dead == ""


def test_a_lock_that_says_anything_is_a_lock(tmp_path: Path) -> None:
    """What stands in the file is hearsay: rubbish names nobody."""
    for text in (b"", b"\xff\xfe\n", b"manager  on x, file 1\n", b"process 1 since 2026\n"):
        (tmp_path / "prsm.lock").write_bytes(text)
        with is_locked_by_us(tmp_path / "prsm.lock", "machine-1-aa") as dead:
            assert dead == ""
