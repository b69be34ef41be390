"""Errors of upload requests that are not answered with the new offset.

PrsmError
    ChecksumError   460  bytes are not what they should be
    TakenOverError  423  a newer request writes the upload
    ConflictError
        OffsetError 409  the sender is elsewhere
"""

from __future__ import annotations

from typing import Any

from manager.errors import ConflictError
from shared.errors import PrsmError
from shared.messages import Message

__all__ = ["ChecksumError", "OffsetError", "TakenOverError"]


class ChecksumError(PrsmError):
    """Bytes are not what their checksum says; they were thrown away (460)."""

    def __init__(self, message: str | Message, /, offset: int, **params: Any) -> None:
        super().__init__(message, **params)
        self.offset = offset


class OffsetError(ConflictError):
    """The sender continued at another offset than that of the upload (409)."""

    def __init__(self, message: str | Message, /, offset: int, **params: Any) -> None:
        super().__init__(message, **params)
        self.offset = offset


class TakenOverError(PrsmError):
    """A newer request took the upload over; the bytes received until then are kept (423)."""
