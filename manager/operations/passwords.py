"""Passwords: how they are kept and compared, and how those who guess them are slowed down.

They are kept as argon2id. Hashing takes a tenth of a second, so it is done outside transactions,
and what was read before is looked at again after it. A name whose password was wrong is slowed
down, whether it exists or not, and never locked: else anybody could lock an administrator out.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from manager.db import users
from manager.db.engine import Database
from manager.db.users import Failures
from manager.errors import ForbiddenError, SlowDownError, UnknownKeyError
from manager.operations.actor import Actor, note
from shared.errors import FormatError

__all__ = ["count_failure", "hashed", "matches", "renewed", "require_no_pause", "told"]

LEAST: Final = 12  # NIST SP 800-63B: length counts, not kinds of characters
MOST: Final = 1024  # argon2 would hash megabytes for whoever sends them
FREE_TRIES: Final = 5
SLOWEST_S: Final = 300

_log: Final = logging.getLogger(__name__)
_hasher: Final = PasswordHasher()


def hashed(password: str) -> str:
    """Return what is kept of a new password. Raises FormatError for one too short or too long."""
    if not LEAST <= len(password) <= MOST:
        raise FormatError(f"password of {len(password)} characters: must be {LEAST} to {MOST}")
    return _hasher.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Tell whether a password is the one kept. None, of an unknown name, takes the same time."""
    if len(password) > MOST:
        return False
    nobody = _nobody()
    try:
        return _hasher.verify(nobody if password_hash is None else password_hash, password)
    except (VerifyMismatchError, InvalidHashError):
        return False


def renewed(password_hash: str, password: str) -> str | None:
    """Return a new hash of a password that was hashed more weakly than now, else None."""
    return _hasher.hash(password) if _hasher.check_needs_rehash(password_hash) else None


def require_no_pause(failed: Failures | None, now_ms: int) -> None:
    """Raise SlowDownError while a name must wait."""
    if failed is None or failed.failures < FREE_TRIES:
        return
    pause_s = min(SLOWEST_S, 2 ** (failed.failures - FREE_TRIES + 1))
    left_ms = failed.last_ms + pause_s * 1000 - now_ms
    if 0 < left_ms <= SLOWEST_S * 1000:
        wait_s = -(-left_ms // 1000)
        raise SlowDownError(
            f"{failed.failures} wrong passwords in a row: try again in {wait_s} s", wait_s
        )


def count_failure(db: Database, name: str, now_ms: int) -> None:
    """Count a wrong password; the fifth is an alert, however many are looked at side by side.

    Raises SlowDownError, and counts nothing, where others made the name wait meanwhile.
    """
    with db.write() as tx:
        require_no_pause(users.failures(tx, name), now_ms)
        if users.note_failure(tx, name, now_ms) == FREE_TRIES:
            who = Actor("user", name)
            note(tx, now_ms, who, "user.guessed", name, alert=True, failures=FREE_TRIES)


@contextmanager
def told(what: str, name: str, address: str, forwarded_for: str) -> Iterator[None]:
    """Write what is refused in the block into the log, for those who watch it."""
    try:
        yield
    except (UnknownKeyError, ForbiddenError, SlowDownError) as error:
        whom = forwarded_for[:100]
        _log.warning("%s as %a from %s (for %a) refused: %s", what, name, address, whom, error)
        raise


@cache
def _nobody() -> str:
    """Return the hash of a password that nobody has; to make it takes as long as any other."""
    return _hasher.hash(secrets.token_urlsafe(16))
