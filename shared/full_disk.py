"""Errors of the system that mean "no room": the disk, a quota, or the largest file is reached."""

from __future__ import annotations

import errno
from typing import Final

__all__ = ["NO_ROOM"]

NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of an `OSError`."""
