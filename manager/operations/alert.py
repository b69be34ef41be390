"""An alert: a condition that a rule finds and `alerts` reports."""

from __future__ import annotations

from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Alert"]


@frozen
class Alert:
    """key: `kind:subject`. message: its parameters may hold what others chose.

    after_s: for how long it must have been seen before recipients are notified.
    """

    key: str
    message: Message
    after_s: float = 0.0
