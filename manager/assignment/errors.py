"""Errors of the rules of assignment.

PrsmError
├── ConflictError (shared)
│   └── RightError      a unit's right cannot pass to the requesting agent now
└── RuleError           numbers that no rule can be applied to
"""

from __future__ import annotations

from shared.errors import ConflictError, PrsmError

__all__ = ["RightError", "RuleError"]


class RightError(ConflictError):
    """Another agent may still be fetching the unit."""


class RuleError(PrsmError):
    """Durations, budgets or intervals that contradict each other."""
