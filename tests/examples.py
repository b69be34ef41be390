"""How many examples a long test tries: a third in the default suite, all in `make test-all`.

The default suite tries the same ones each time (tests/conftest.py), so that more of them find
nothing new there after the first run; `make test-all` tries others each time.
"""

from __future__ import annotations

import os

__all__ = ["examples"]


def examples(count: int) -> int:
    """Return how many examples to try of so many."""
    return count if os.environ.get("PRSM_TESTS") == "all" else max(1, count // 3)
