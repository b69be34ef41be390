"""Lines of lists that were refused, one by one: where, why by code and in words, and the text.

It imports no database: processes that read bodies use it, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from manager.message_fields import message_fields
from shared.errors import Fault, FormatError, LineError, PrsmError
from shared.frozen import frozen
from shared.messages import Message, render, spoken_language

__all__ = ["REFUSALS_KEPT", "LinesRefusedError", "RefusedLine", "refused_line"]

REFUSALS_KEPT: Final = 1_000
"""Refused lines of one body that are named; the others are counted."""

TEXT_MOST: Final = 200
_UNSENDABLE: Final = re.compile("[\ud800-\udfff\0]")


@message_fields
@frozen
class RefusedLine:
    """A line that cannot be used. line: its number, from 1. code: of the fault, for programs.

    text: its beginning. owner: of several lists in one body, the agent whose it is.
    """

    line: int
    code: str
    reason: Message
    text: str
    owner: str = ""


def refused_line(line: int, error: PrsmError, text: str | bytes) -> RefusedLine:
    """Return the refusal of a line by an error."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    # What a body holds may be any bytes, and this goes into answers.
    shown = _UNSENDABLE.sub("\ufffd", text[:TEXT_MOST])
    reason = error.problem if isinstance(error, LineError) else error.message
    return RefusedLine(line, str(error.code), reason, shown)


class LinesRefusedError(FormatError):
    """Some lines cannot be taken, so nothing was changed."""

    def __init__(self, message: Message, refused: Sequence[RefusedLine], count: int) -> None:
        super().__init__(message, Fault.REFUSED_LINES)
        self.refused = tuple(refused)
        self.count = count

    @property
    def facts(self) -> dict[str, object]:
        """Return the first refused lines, and how many there are."""
        return {"refused": [_answer(one) for one in self.refused], "refused_count": self.count}


def _answer(line: RefusedLine) -> dict[str, Any]:
    return {
        **asdict(line),
        "reason": render(line.reason, spoken_language()),
        "reason_message": line.reason.as_json(),
    }
