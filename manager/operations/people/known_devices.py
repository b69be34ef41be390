"""Devices on which a user has logged in before: they are not slowed down by the guesses of others.

A device keeps a cookie that a good login gave it. It is signed with a key that is made of the
user's password hash: so it belongs to one user, no attacker can make one, nothing has to be kept,
and a new password makes all devices unknown again. It gives no access. Source: OWASP, "Slow Down
Online Guessing Attacks with Device Cookies".
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final

from manager.db.people.users import UserRow

__all__ = ["DEVICE_S", "known_device", "new_device"]

DEVICE_S: Final = 400 * 86_400  # browsers keep no cookie for longer
_SHAPE: Final = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_-]{16,64})\.([0-9a-f]{64})")


def new_device(user_id: int, password_hash: str, now_ms: int) -> str:
    """Return the cookie of a device on which a user has just logged in."""
    made = f"{now_ms // 1000}.{secrets.token_urlsafe(16)}"
    return f"{made}.{_signature(user_id, password_hash, made)}"


def known_device(user: UserRow | None, cookie: str, now_ms: int) -> str:
    """Return the source under which a known device is counted; empty: it is a strange one."""
    match = _SHAPE.fullmatch(cookie)
    if match is None:
        return ""
    made_s, nonce, signature = match.groups()
    # A name that does not exist takes as long.
    user_id, key = (0, "") if user is None else (user.id, user.password_hash)
    is_signed = hmac.compare_digest(_signature(user_id, key, f"{made_s}.{nonce}"), signature)
    is_young = abs(now_ms // 1000 - int(made_s)) < DEVICE_S
    return f"device {nonce}" if user is not None and is_signed and is_young else ""


def _signature(user_id: int, password_hash: str, made: str) -> str:
    key = hashlib.sha256(b"device " + password_hash.encode()).digest()
    return hmac.new(key, f"{user_id}.{made}".encode(), "sha256").hexdigest()
