"""Errors of archives, by blame.

PrsmError
├── FormatError
│   └── DamageError          the file's: its bytes differ from the written ones
├── DiskFullError            the operator's: no room; the last append was undone
└── ConflictError
    └── SegmentBrokenError   the disk's: a write may be lost; only recovery can tell
"""

from __future__ import annotations

from typing import Any

from shared.errors import ConflictError, FormatError, PrsmError
from shared.messages import Message

__all__ = ["DamageError", "DiskFullError", "SegmentBrokenError"]


class DamageError(FormatError):
    """A segment breaks the format; `offset` is the byte where the broken record begins."""

    def __init__(self, offset: int, problem: str | Message, /, **params: Any) -> None:
        problem = Message.of(problem, params)
        super().__init__(Message("archive_files.damage", offset=offset, problem=problem))
        self.offset = offset
        self.problem = problem

    def __reduce__(self) -> tuple[type[DamageError], tuple[int, Message]]:
        return type(self), (self.offset, self.problem)


class DiskFullError(PrsmError):
    """The disk has no room; nothing was half written, and the same call may be tried again."""


class SegmentBrokenError(ConflictError):
    """A segment can no longer be written, because it is unknown what of it reached the disk."""
