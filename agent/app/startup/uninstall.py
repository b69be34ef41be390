"""Uninstallation of an agent: its work ends first, then its start, then its data.

Handing back is what `prs drain` does: the agent that runs does it, or one is started for it,
whatever the hours are, because it fetches nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.app.startup.start_methods import install_start_method
from agent.collection.segment_records import SegmentRecords
from agent.control.drain import change_holds, read_holds
from agent.control.lock import end, holder_of
from agent.errors import HomeError
from agent.link.keys import read_identity
from agent.settings import Home, Settings
from shared.archive.segment import OPEN_SUFFIX

__all__ = ["hand_back_work", "remove_data", "stop_and_unschedule", "unsent_segments"]

PATIENCE_S: Final = 300.0
_PAUSE_S: Final = 0.2


def hand_back_work(settings: Settings, *, patience_s: float = PATIENCE_S) -> str:
    """Give all work back to the manager, and report all; return the result in words.

    Raises HomeError where the manager did not hear of it in time.
    """
    home = Home(settings.home)
    if read_identity(home) is None:
        return "this agent never joined: there is nothing to hand back"
    change_holds(home.hold, lambda holds: holds.drain("site"))
    helper: subprocess.Popen[bytes] | None = None
    if holder_of(home.lock) is None:
        helper = subprocess.Popen(  # noqa: S603  # our own program
            [
                sys.executable,
                "-P",  # whatever folder a person stands in
                "-m",
                "agent.cli",
                "--home",
                str(home.path),
                "run",
                "--once",
                "--quiet",
            ],
            stdin=subprocess.DEVNULL,
        )
    try:
        _wait(lambda: _is_back(home) or _is_over(helper), patience_s)
    finally:
        if helper is not None and not _is_over(helper):
            end(home.lock, by_force=True)
            helper.wait()
    if not _is_back(home):
        raise HomeError("agent_errors.work_not_handed_back")
    return "the work was handed back, and all is reported"


def stop_and_unschedule(settings: Settings) -> list[str]:
    """End what runs and what would start it again; return what to tell. Raises HomeError."""
    said = install_start_method(settings, "none")
    home = Home(settings.home)
    holder = holder_of(home.lock)
    if holder is not None:
        if not end(home.lock, by_force=True):
            raise HomeError("agent_errors.process_not_ended", home=str(home.path), pid=holder.pid)
        said.append(f"process {holder.pid} has stopped")
    return said


def unsent_segments(home: Home) -> list[str]:
    """Return the names of segments that the centre has not judged, the open one too."""
    records = SegmentRecords(home.segments, home.collection)
    still_open = [path.name for path in home.segments.glob(f"*.warc.gz{OPEN_SUFFIX}")]
    return still_open + [name for name in records.names() if not records.read(name).is_settled]


def remove_data(home: Path) -> None:
    """Delete a home with all that is in it. Raises HomeError where it is none, OSError."""
    if not (Home(home).link_state.exists() or Home(home).crawl.exists()):
        raise HomeError("agent_errors.not_a_home", home=str(home))
    shutil.rmtree(home)


def _is_back(home: Home) -> bool:
    return read_holds(home.hold).handed_back


def _is_over(helper: subprocess.Popen[bytes] | None) -> bool:
    return helper is not None and helper.poll() is not None


def _wait(ready: Callable[[], bool], seconds: float) -> None:
    end_s = time.monotonic() + seconds
    while not ready() and time.monotonic() < end_s:
        time.sleep(_PAUSE_S)
