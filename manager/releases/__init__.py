"""Releases as The Update Framework (TUF) describes them: what is signed by whom, and checked how.

`metadata` reads and judges signed files; `making` makes them where the keys are. No I/O here.
Root and targets are signed by people, on machines that are not this one; snapshot and timestamp by
the signing process (`manager.signing`). See ADR 120.
"""

from manager.releases.metadata import (
    ROLES,
    Release,
    Role,
    check_role,
    expires_ms,
    next_root,
    read,
    releases_of,
)
from manager.releases.signed_metadata import (
    add_signatures,
    first_targets,
    new_root,
    signed_anew,
    with_release,
    without_release,
)

__all__ = [
    "ROLES",
    "Release",
    "Role",
    "add_signatures",
    "check_role",
    "expires_ms",
    "first_targets",
    "new_root",
    "next_root",
    "read",
    "releases_of",
    "signed_anew",
    "with_release",
    "without_release",
]
