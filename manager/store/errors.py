"""Errors of the store.

PrsmError
├── BusyError
│   └── StoreFullError  503  the disk's: no room; nothing half done stays
└── StoreError               the administrator's: the data directory cannot be used
"""

from __future__ import annotations

from typing import Any, Final

from manager.errors import BusyError
from shared.errors import PrsmError
from shared.messages import Message

__all__ = ["StoreError", "StoreFullError"]

RETRY_AFTER_S: Final = 600  # a person must make room first; agents keep what they have to send


class StoreFullError(BusyError):
    """There is no room on the disk; nothing was kept, and it may be sent again later."""

    fault = "no_room"

    def __init__(self, message: str | Message, /, **params: Any) -> None:
        super().__init__(message, RETRY_AFTER_S, **params)


class StoreError(PrsmError):
    """The data directory is missing, not ours, or holds what it should not."""
