"""Database errors as errors of the manager, by blame: sender, environment, or a defect."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from manager.db.connections import CONNECTION_S, CONNECTIONS, WAIT_S
from manager.db.damage import is_damage
from manager.errors import BusyError, PrsmError
from shared.errors import FormatError
from shared.messages import Message

__all__ = ["may_be_kept", "translated_errors"]

_NO_LOCK: Final = "55P03"  # PostgreSQL's lock_not_available
_OUT_OF_RANGE: Final = "22003"  # its numeric_value_out_of_range
_NO_ROOM: Final = "53100"  # its disk_full
_LARGEST: Final = 2**63 - 1


@contextmanager
def translated_errors(
    damaged: Callable[[BaseException], PrsmError], full: Callable[[str], PrsmError]
) -> Iterator[None]:
    """Translate errors of the driver into ours; any other error is a defect, and stays unchanged.

    BusyError: the database does not answer. FormatError: a sent value cannot be stored or
    searched for. damaged: returns the error to raise if the driver reports a damaged database.
    full: the same if the database has no room; it receives the driver's text.
    """
    try:
        yield
    except OverflowError as error:
        if "SQLite INTEGER" not in str(error):
            raise
        raise _too_large() from error
    except sa.exc.TimeoutError as error:
        raise BusyError(
            "database.no_connection", connections=CONNECTIONS, waited_s=CONNECTION_S
        ) from error
    except sqlite3.Error as error:  # of a connection that is used without SQLAlchemy
        if is_damage(error):
            raise damaged(error) from error
        if _has_no_room(error):
            raise full(str(error)) from error
        raise BusyError("database.no_answer", problem=_problem(str(error))) from error
    except DBAPIError as error:
        if error.orig is not None and is_damage(error.orig):
            raise damaged(error.orig) from error
        if error.orig is not None and _has_no_room(error.orig):
            raise full(" ".join(str(error.orig).split())) from error
        gone = error.connection_invalidated or isinstance(
            error, sa.exc.OperationalError | sa.exc.InterfaceError
        )
        if not gone and "NUL (0x00)" in str(error.orig):  # only PostgreSQL refuses it
            raise FormatError("database.nul") from error
        code = getattr(error.orig, "sqlstate", None)
        if not gone and code == _OUT_OF_RANGE:
            raise _too_large() from error
        if not gone:
            raise
        if code == _NO_LOCK:
            raise BusyError("database.no_turn", waited_s=WAIT_S) from None
        why = " ".join(str(error.orig).split())  # some drivers say it in several lines
        raise BusyError("database.no_answer", problem=_problem(why)) from error


def _has_no_room(error: BaseException) -> bool:
    """Return whether a driver says that nothing more fits on the disk."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return getattr(error, "sqlstate", None) == _NO_ROOM


def _problem(why: str) -> str | Message:
    """Return the driver's message; for a locked SQLite file, with the holder and the remedy."""
    if "database is locked" not in why:
        return why
    return Message("database.locked", problem=why, waited_s=WAIT_S)


def may_be_kept(number: int) -> None:
    """Raise FormatError, as the databases would, for a number that they are not given to look for
    and that is too large for them."""
    if number > _LARGEST:
        raise _too_large()


def _too_large() -> FormatError:
    return FormatError("database.large_number", largest=_LARGEST)
