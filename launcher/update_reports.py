"""Update reports for the manager: kept until delivered, over kill -9, and bounded.

Invariant: an outcome is on the disk before it is reported, and leaves it when the manager took it.
So a report that is repeated after a crash has the same words and the same moment, and counts once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from launcher.errors import LauncherError, OfflineError
from launcher.installation import write_whole
from launcher.manager import Manager
from launcher.switch import Outcome

__all__ = ["PENDING_FILE", "UpdateReports"]

PENDING_FILE: Final = "untold.json"  # the agent starts the launcher where it is there
MOST: Final = 20
TEXT: Final = 900


@dataclass(frozen=True)
class _PendingReport:
    """An outcome, when it was first so (epoch milliseconds of this site), and how often."""

    at_ms: int
    times: int
    version: str
    outcome: str
    step: str
    detail: str


class UpdateReports:
    """The outcomes that wait."""

    def __init__(self, own: Path, manager: Manager, log_line: Callable[[str], None]) -> None:
        """own: the launcher's folder."""
        self._path = own / PENDING_FILE
        self._manager = manager
        self._log_line = log_line
        self._waiting = self._read()

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome; the same as the last one is counted there."""
        now_ms = time.time_ns() // 1_000_000
        detail = outcome.detail[:TEXT]
        new = _PendingReport(now_ms, 1, outcome.version, outcome.outcome, outcome.step, detail)
        last = self._waiting[-1] if self._waiting else None
        if last is not None and _kind(last) == _kind(new):
            self._waiting[-1] = replace(last, times=last.times + 1, detail=detail)
        else:
            self._waiting = [*self._waiting, new][-MOST:]
        self._keep()

    def deliver(self) -> None:
        """Deliver waiting reports, oldest first, as far as the manager accepts them."""
        while self._waiting:
            try:
                self._manager.report(asdict(self._waiting[0]))
            except OfflineError as error:
                self._log_line(f"report: {error}")
                if not error.is_no:
                    return
            except LauncherError as error:
                self._log_line(f"report: {error}")
                return
            del self._waiting[0]
            self._keep()

    def _read(self) -> list[_PendingReport]:
        try:
            return [_PendingReport(**one) for one in json.loads(self._path.read_bytes())]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            self._log_line(
                f"report: {self._path} cannot be read ({error}); what it held is not told"
            )
            return []

    def _keep(self) -> None:
        try:
            if self._waiting:
                write_whole(self._path, json.dumps([asdict(one) for one in self._waiting]))
            else:
                self._path.unlink(missing_ok=True)
        except (LauncherError, OSError) as error:
            self._log_line(f"report: {error}")  # it is reported now, or not at all


def _kind(one: _PendingReport) -> tuple[str, str, str]:
    return (one.version, one.outcome, one.step)
