"""Why an update did not happen.

LauncherError     a sentence for people; nothing was changed
├── RefusedError  what came is not genuine, too old, or contradicts what was known
└── OfflineError  the manager was not reached; tomorrow is another day
"""

from __future__ import annotations

__all__ = ["LauncherError", "OfflineError", "RefusedError"]


class LauncherError(Exception):
    """An update cannot go on; the release that works still does."""


class RefusedError(LauncherError):
    """What came is not what people signed, or is older than what was here."""


class OfflineError(LauncherError):
    """The manager was not reached, or gave no answer. status: of HTTP, where one came; or 0."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status
