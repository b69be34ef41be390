"""Passwords: how they are kept and compared.

They are kept as argon2id. Hashing takes a tenth of a second, so it is done outside transactions,
and rows read before are checked again after it. At most `AT_ONCE` are hashed at a time, by threads
that yield to all others, so that pages stay fast; `operations.people.login_throttle` slows down
those who guess.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from manager.errors import ForbiddenError, SlowDownError, UnknownKeyError
from shared.errors import FormatError

__all__ = ["AT_ONCE", "hashed", "matches", "renewed", "told"]

LEAST: Final = 12  # NIST SP 800-63B: length counts, not kinds of characters
MOST: Final = 1024  # argon2 would hash megabytes for whoever sends them
AT_ONCE: Final = max(1, min(4, (os.cpu_count() or 1) // 2))
"""Passwords that are hashed at a time; each takes 64 MB, and argon2 uses four threads for it."""

NICE: Final = 10

_log: Final = logging.getLogger(__name__)
_hasher: Final = PasswordHasher()
_Result = TypeVar("_Result")


def _yield_to_others() -> None:
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


_workers: Final = ThreadPoolExecutor(AT_ONCE, "password", initializer=_yield_to_others)


def _hashing(work: Callable[[], _Result]) -> _Result:
    """Do a piece of hashing when its turn has come."""
    return _workers.submit(work).result()


def hashed(password: str) -> str:
    """Return what is kept of a new password. Raises FormatError for one too short or too long."""
    if not LEAST <= len(password) <= MOST:
        raise FormatError(
            "people.password_length", length=len(password), least=LEAST, most=MOST
        ).about("password")
    return _hashing(lambda: _hasher.hash(password))


def matches(password_hash: str | None, password: str) -> bool:
    """Return whether a password is the one kept. None, of an unknown name, takes the same time."""
    if len(password) > MOST:
        return False
    nobody = _nobody()
    kept = nobody if password_hash is None else password_hash
    try:
        return _hashing(lambda: _hasher.verify(kept, password))
    except (VerifyMismatchError, InvalidHashError):
        return False


def renewed(password_hash: str, password: str) -> str | None:
    """Return a new hash of a password that was hashed more weakly than now, else None."""
    if not _hasher.check_needs_rehash(password_hash):
        return None
    return _hashing(lambda: _hasher.hash(password))


@contextmanager
def told(what: str, name: str, address: str) -> Iterator[None]:
    """Write what is refused in the block into the log, for those who watch it."""
    try:
        yield
    except (UnknownKeyError, ForbiddenError, SlowDownError) as error:
        _log.warning("%s as %a from %s refused: %s", what, name, address or "-", error)
        raise


@cache
def _nobody() -> str:
    """Return the hash of a password that no user has; to make it takes as long as any other."""
    return _hasher.hash(secrets.token_urlsafe(16))
