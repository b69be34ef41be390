"""One server process for a data directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manager.app.lock import held_by_us
from manager.store import StoreError


def test_a_second_one_hears_who_is_first(tmp_path: Path) -> None:
    """While one holds the lock another is refused, with the first one's process and a remedy."""
    with (
        held_by_us(tmp_path / "prsm.lock"),
        pytest.raises(StoreError, match=rf"process {os.getpid()} since 2.*--data"),
        held_by_us(tmp_path / "prsm.lock"),
    ):
        pass


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    """After the end, also by an error, the next one gets it."""
    with pytest.raises(RuntimeError), held_by_us(tmp_path / "prsm.lock"):
        raise RuntimeError
    with held_by_us(tmp_path / "prsm.lock"):
        assert (tmp_path / "prsm.lock").stat().st_mode & 0o777 == 0o600
