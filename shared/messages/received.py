"""Messages that agents send: as JSON on the wire, and which of them a manager accepts.

Invariants: what is accepted is small as JSON, each code in it is one of the catalogues, and its own
code is of a subject of agents. The sentence goes beside it, for programs that know no codes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from shared.messages.catalogue import codes
from shared.messages.message import Message

__all__ = ["MOST_CHARS", "received_message", "sent_message"]

MOST_CHARS: Final = 2000
"""Characters of a message as JSON; a longer one is left out, and the sentence says it."""
SUBJECTS: Final = ("agent.", "agent_errors.")
"""Prefixes of the codes that an agent may send; messages within may have any."""


def sent_message(message: Message | None) -> dict[str, Any] | None:
    """Return code and parameters as JSON has them; None where only the sentence is sent."""
    if message is None or not _is_agents(message) or not _is_small(message):
        return None
    return message.as_json()


def received_message(value: Any, sentence: str | None) -> Message | None:
    """Return the message that an agent sent as JSON, or else its sentence; None for neither."""
    message = Message.of_json(value)
    if message is not None and _is_agents(message) and _is_known(message) and _is_small(message):
        return message
    return Message.of_text(sentence) if sentence else None


def _is_agents(message: Message) -> bool:
    return message.code.startswith(SUBJECTS)


def _is_small(message: Message) -> bool:
    try:
        return len(json.dumps(message.as_json(), allow_nan=False)) <= MOST_CHARS
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
