"""Errors of distance.

PrsmError
└── DistanceError     measurements that cannot be: negative, or of shapes that do not fit
"""

from __future__ import annotations

from shared.errors import PrsmError

__all__ = ["DistanceError"]


class DistanceError(PrsmError):
    """Numbers that no probe can have measured."""
