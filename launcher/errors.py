"""Errors of an update.

LauncherError     a sentence for people; nothing was changed
├── RefusedError  the data are not genuine, too old, or contradict known data
├── BrokenError   the release is genuine, and does not work on this machine
└── OfflineError  the manager was not reached; tomorrow is another day
"""

from __future__ import annotations

__all__ = ["BrokenError", "LauncherError", "OfflineError", "RefusedError"]


class LauncherError(Exception):
    """An update cannot continue; the working release still runs."""


class RefusedError(LauncherError):
    """The received files are not what people signed, or are older than those here."""


class BrokenError(LauncherError):
    """A program of the release failed while it was installed or tried."""


class OfflineError(LauncherError):
    """The manager was not reached, or gave no answer.

    is_no: it did, and its answer will never be another.
    """

    def __init__(self, text: str, *, is_no: bool = False) -> None:
        super().__init__(text)
        self.is_no = is_no
