"""A trouble: a condition that a rule finds and `alerts` reports."""

from __future__ import annotations

from shared.frozen import frozen

__all__ = ["Trouble"]


@frozen
class Trouble:
    """key: `kind:subject`. text: one sentence, which may hold what others chose.

    after_s: for how long it must have been seen before anybody is told.
    """

    key: str
    text: str
    after_s: float = 0.0
