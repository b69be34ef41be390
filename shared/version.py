"""Which version of the programs this is; the same stands in `pyproject.toml`, as a test holds.

To ask the installation for it takes the time of a hundred pages.
"""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.1.0"
