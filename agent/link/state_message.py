"""The state of an agent in a sync: the English sentence, and its code and parameters."""

from __future__ import annotations

import json
from typing import Any, Final

from shared.messages import Message
from shared.wire.sync_bounds import SHORT_CHARS

__all__ = ["state_message", "state_text"]

SUBJECT: Final = "agent."
"""Managers accept codes of this subject only."""

MOST_CHARS: Final = 2000
"""Of the JSON; a longer one is left out, and the sentence says it."""


def state_text(reason: Message | None) -> str:
    """Return the sentence; empty: there is no reason."""
    return "" if reason is None else str(reason)[:SHORT_CHARS]


def state_message(reason: Message | None) -> dict[str, Any] | None:
    """Return code and parameters as JSON has them; None where only the sentence is sent."""
    if reason is None or not reason.code.startswith(SUBJECT):
        return None
    said = reason.as_json()
    return said if len(json.dumps(said)) <= MOST_CHARS else None
