"""Names and keys of agents, as both sides check and hash them.

A name is `[a-z0-9.-]{1,253}`; it is never used as a path. A key is 32 random bytes in URL-safe
base64; the manager stores only its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from shared.errors import FormatError

__all__ = ["check_agent_name", "hash_of_key", "new_key"]

_NAME: Final = re.compile(r"[a-z0-9.-]{1,253}")


def check_agent_name(name: str) -> str:
    """Return the name; raises FormatError where it is none."""
    if not _NAME.fullmatch(name):
        raise FormatError("lists.agent_name", name=name[:80])
    return name


def new_key() -> str:
    """Return a new secret of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_of_key(key: str) -> str:
    """Return what is stored of a secret: its SHA-256 in hexadecimal.

    A slow hash would add nothing: the secret is 256 random bits, not a password.
    """
    return hashlib.sha256(key.encode()).hexdigest()
