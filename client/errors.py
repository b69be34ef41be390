"""What can end a command, by exit code.

GetError
├── RefusedError      1  the centre says no, and why
├── UnreachableError  3  the centre or the network; the same command goes on later
└── DamagedError      4  what came is not what was announced; it was removed
"""

from __future__ import annotations

import click

__all__ = ["DamagedError", "GetError", "RefusedError", "UnreachableError"]


class GetError(click.ClickException):
    """Anything that `prs-get` ends with in words."""


class RefusedError(GetError):
    """The centre refused; asking again changes nothing."""

    exit_code = 1

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(GetError):
    """The centre does not answer, or the line broke too often."""

    exit_code = 3


class DamagedError(GetError):
    """Bytes are not those that were announced."""

    exit_code = 4
