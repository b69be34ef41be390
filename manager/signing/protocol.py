"""Protocol of the signer's socket: one line of JSON each way.

    {"roots": [TEXT, ...], "targets": TEXT}  ->  {"snapshot": TEXT, "timestamp": TEXT}
                                             or  {"refused": SENTENCE, "message": MESSAGE}

roots: all roots from the first to the newest; targets: the newest. Texts are signed metadata.
MESSAGE is the code and the parameters of the sentence; a signer of an older version sends none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, Protocol

from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "LINE_LIMIT_BYTES",
    "Signed",
    "Signing",
    "answer_line",
    "question_line",
    "read_answer",
    "read_question",
    "refusal_line",
]

LINE_LIMIT_BYTES: Final = 16_000_000


@frozen
class Signed:
    """Fresh metadata, as bytes to serve."""

    snapshot: bytes
    timestamp: bytes


class Signing(Protocol):
    """Signer of snapshots and timestamps."""

    def sign(self, roots: Sequence[bytes], targets: bytes) -> Signed:
        """Return metadata that covers these targets. Raises BusyError, ForbiddenError."""
        ...


def question_line(roots: Sequence[bytes], targets: bytes) -> bytes:
    """Return the question."""
    return _line({"roots": [root.decode() for root in roots], "targets": targets.decode()})


def answer_line(signed: Signed) -> bytes:
    """Return the answer."""
    return _line({"snapshot": signed.snapshot.decode(), "timestamp": signed.timestamp.decode()})


def refusal_line(reason: Message) -> bytes:
    """Return the answer of a refusal."""
    return _line({"refused": str(reason), "message": reason.as_json()})


def read_question(line: bytes) -> tuple[list[bytes], bytes]:
    """Return roots and targets. Raises FormatError."""
    try:
        said = json.loads(line)
        return [str(root).encode() for root in said["roots"]], str(said["targets"]).encode()
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError("releases.signer_question_malformed", problem=str(error)) from error


def read_answer(line: bytes) -> Signed | Message:
    """Return the signed metadata, or the reason of a refusal. Raises FormatError."""
    try:
        said = json.loads(line)
        if "refused" in said:
            return Message.of_json(said.get("message")) or Message.of_text(str(said["refused"]))
        return Signed(str(said["snapshot"]).encode(), str(said["timestamp"]).encode())
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError("releases.signer_answer_malformed", problem=str(error)) from error


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"
