"""What reads many logs has one turn for everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.errors import BusyError
from manager.operations.logs.log_scratch import Scratch
from tests.manager.running import running


def test_another_export_is_told_to_come_again(tmp_path: Path) -> None:
    """One at a time, whoever asks, so that nobody waits in a thread; a failure ends the turn."""
    with running(tmp_path) as prsm:
        manager = prsm.manager
        scratch = Scratch(manager.layout, manager.spool, 10**8)
        with scratch.turn() as place:
            with pytest.raises(BusyError, match="another export or comparison"), scratch.turn():
                raise AssertionError("two at a time")
            assert place.folder.is_dir()
        with pytest.raises(ZeroDivisionError), scratch.turn() as failed:
            raise ZeroDivisionError
        assert not failed.folder.exists()
        with scratch.turn():
            pass
