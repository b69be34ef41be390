"""Operator hints by HTTP status: one clause for each that needs a person."""

from __future__ import annotations

from typing import Final

from agent.link.errors import LinkError, RefusedError
from shared.messages import Message

__all__ = ["remedy", "with_remedy"]

_REMEDIES: Final = frozenset({401, 403, 404, 409, 413, 426})


def remedy(error: LinkError) -> Message | None:
    """Return what a person can do; None where waiting is all."""
    if not isinstance(error, RefusedError) or error.status not in _REMEDIES:
        return None
    return Message(f"agent_errors.remedy_{error.status}")


def with_remedy(error: LinkError) -> Message:
    """Return an error as a message, with what a person can do."""
    hint = remedy(error)
    if hint is None:
        return error.message
    return Message("agent_errors.with_remedy", problem=error.message, remedy=hint)
