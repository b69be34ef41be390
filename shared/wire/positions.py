"""Positions of agents in degrees, never guessed from an address."""

from __future__ import annotations

import math
from dataclasses import dataclass

from shared.errors import FormatError

__all__ = ["Position", "position_of_text", "read_position"]


@dataclass(frozen=True, slots=True)
class Position:
    """Degrees, north and east positive."""

    latitude: float
    longitude: float


def read_position(latitude: float, longitude: float) -> Position:
    """Return a position to a hundredth of a degree, about a kilometre. Raises FormatError."""
    for name, value, most in (("latitude", latitude, 90), ("longitude", longitude, 180)):
        if not (math.isfinite(value) and -most <= value <= most):
            raise FormatError("lists.position_range", name=name, value=value, most=most).about(name)
    return Position(round(latitude, 2), round(longitude, 2))


def position_of_text(text: str) -> Position | None:
    """Return the position that `35.03 135.78` or `35.03,135.78` means; None of no words.

    Raises FormatError.
    """
    words = text.replace(",", " ").split()
    if not words:
        return None
    try:
        latitude, longitude = map(float, words)
    except ValueError as error:
        raise FormatError("lists.position", text=text[:40]) from error
    return read_position(latitude, longitude)
