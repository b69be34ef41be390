"""Names for the arrays that balancing passes around. Agents are rows, units or atoms columns."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["NO_OWNER", "BoolArray", "FloatArray", "IntArray", "Matrix"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
"""(agents, units) or (agents, atoms); float64, or float32 where 200 x 500,000 must fit."""

NO_OWNER: Final = -1
"""The owner of a unit that no agent holds yet."""
