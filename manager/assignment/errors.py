"""Errors of the rules of assignment."""

from __future__ import annotations

from shared.errors import PrsmError

__all__ = ["RuleError"]


class RuleError(PrsmError):
    """Durations, budgets or intervals that contradict each other."""
