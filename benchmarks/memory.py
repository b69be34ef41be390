"""Memory that the tables of an object take."""

from __future__ import annotations

import sys
from array import array

import numpy as np

__all__ = ["bytes_of"]

INTEGER_BYTES = sys.getsizeof(1 << 62)


def bytes_of(held: object) -> int:
    """Return the bytes of an object's arrays, and of its sets and mappings of integers."""
    match held:
        case np.ndarray():
            return held.nbytes if held.base is None else 0
        case array():
            return len(held) * held.itemsize
        case set() | dict():
            return sys.getsizeof(held) + INTEGER_BYTES * len(held)
        case list():
            return sum(map(bytes_of, held))
    names = {*getattr(held, "__dict__", ()), *getattr(held, "__slots__", ())}
    return sum(bytes_of(getattr(held, name)) for name in names)
