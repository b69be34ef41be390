"""Location of a home: machine and path. A copy lies somewhere else.

What is hashed is only compared here, and never leaves the home.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["home_location_of"]


def home_location_of(home: Path, root: Path = Path("/")) -> str:
    """Return what tells this place from others. root: of the machine's files, for tests.

    The machine's id, the addresses of its network cards (machines that were cloned from one image
    share the id), the path and the folder itself (a volume may be mounted under the same path).
    """
    parts = [
        _text(root / "etc" / "machine-id"),
        *sorted(_text(card / "address") for card in _cards(root / "sys" / "class" / "net")),
        str(home.resolve()),
        str(home.stat().st_ino),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _cards(folder: Path) -> list[Path]:
    """Return cards of metal, or of a virtual machine: others get random addresses at each start."""
    try:
        return [card for card in folder.iterdir() if (card / "device").exists()]
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
