"""Reasons that agents give for their states in syncs.

Invariant: what is stored is small, and each code in it is one of the catalogues; what an agent says
beside that, or by a code that this version does not know, is stored as the sentence that it sent.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from shared.messages import Message, codes
from shared.wire.sync import SyncRequest

__all__ = ["reason_of"]

LONGEST: Final = 2000
"""Characters of a message as JSON."""
OWN: Final = "agent."
"""Prefix of the codes of states that agents report of themselves."""


def reason_of(request: SyncRequest) -> Message | None:
    """Return the reason of the state that an agent reports; None: it gives none."""
    message = Message.of_json(request.state_message)
    if message is not None and _is_acceptable(message):
        return message
    return Message.of_text(request.state_reason) if request.state_reason else None


def _is_acceptable(message: Message) -> bool:
    return message.code.startswith(OWN) and _is_known(message) and _is_small(message)


def _is_small(message: Message) -> bool:
    try:
        return len(json.dumps(message.as_json(), allow_nan=False)) <= LONGEST
    except ValueError:  # a number that JSON cannot say
        return False


def _is_known(value: object) -> bool:
    """Return whether all codes of a message, and of those within it, are in the catalogues."""
    if isinstance(value, list):
        return all(map(_is_known, value))
    if not isinstance(value, Message):
        return True
    return value.code in _known() and all(map(_is_known, value.params.values()))


@cache
def _known() -> frozenset[str]:
    return frozenset(codes())
