"""The installation id on the wire: the header by which agents and managers know each other.

A manager says its database's id in each answer; an agent shows the one that it learned. A manager
whose database has another id answers 503 with the code `foreign_installation`, so that agents of
the right one wait for it and keep what they have.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["FOREIGN", "HEADER", "HOUR_S", "read_installation"]

HEADER: Final = "X-Installation-Id"
FOREIGN: Final = "foreign_installation"
HOUR_S: Final = 3600
"""After which an agent asks again that was answered by another installation."""

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read_installation(text: str) -> str:
    """Return an installation id as stored, or an empty text for anything else."""
    shown = text.strip().lower()
    return shown if _ID.fullmatch(shown) else ""
