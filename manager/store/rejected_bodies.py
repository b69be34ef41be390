"""Refused bodies, kept for the administrator: the bytes, their sender, and the reason.

Invariant: never more than the settings allow, in age and in bytes together; oldest go first. A
refused body is evidence, not data: a full disk drops it silently.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Final

from manager.store.durable_files import move
from manager.store.spool import BODY, Spooled
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Rejected"]

REASON: Final = ".txt"


@frozen
class Rejected:
    """The folder of refused bodies."""

    folder: Path
    keep_s: float
    keep_bytes: int

    def keep(
        self,
        spooled: Spooled,
        agent_id: int,
        what: Message,
        reason: Message,
        now_ms: int,
        *,
        error: PrsmError | None = None,
    ) -> None:
        """Write down why a body was refused, and move it here unless it is larger than all may be.

        The newest always stays. With an error, the last line of the note is for programs: JSON with
        the code of the fault and its parameters, as the number of a line.
        """
        stem = f"{now_ms}-{int(agent_id)}-{spooled.sha256[:16]}"
        with contextlib.suppress(OSError):
            told = Message(
                "uploads.rejected_body",
                what=what,
                agent_id=agent_id,
                size=spooled.size_bytes,
                reason=reason,
            )
            note = f"{told}\n"
            if error is not None:
                note += json.dumps({"code": str(error.code), **error.facts}) + "\n"
            (self.folder / (stem + REASON)).write_text(note, "utf-8", "backslashreplace")
            if spooled.size_bytes <= self.keep_bytes:
                move(spooled.path, self.folder / (stem + BODY))
        spooled.discard()
        self.prune(now_ms)

    def prune(self, now_ms: int) -> None:
        """Remove what is too old, then the oldest until the rest fits."""
        kept = sorted(
            (path for path in self.folder.iterdir() if path.suffix == REASON),
            key=lambda path: int(path.stem.split("-")[0]),
        )
        total_bytes = sum(map(_size_bytes, kept))
        for note in kept[:-1]:
            age_s = (now_ms - int(note.stem.split("-")[0])) / 1000
            if age_s <= self.keep_s and total_bytes <= self.keep_bytes:
                break
            total_bytes -= _size_bytes(note)
            note.with_suffix(BODY).unlink(missing_ok=True)
            note.unlink(missing_ok=True)


def _size_bytes(note: Path) -> int:
    """Return the size of the body that a note is about; 0 where it was not kept."""
    try:
        return note.with_suffix(BODY).stat().st_size
    except FileNotFoundError:
        return 0
