"""Errors of balancing: the caller's numbers describe no problem that can be solved.

PrsmError
└── BalancingError     shapes, signs, indices or options that contradict each other
"""

from __future__ import annotations

from shared.errors import PrsmError

__all__ = ["BalancingError"]


class BalancingError(PrsmError):
    """Costs, owners, groups, pins or options that no plan can be made from."""
