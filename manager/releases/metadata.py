"""Read signed metadata and judge it: form, signatures, order, time.

Invariant: nothing is believed before enough keys that the root names have signed it. Everything
here takes bytes as they came, and its errors say what is wrong with them.
Source: The Update Framework, specification 1.0.34, sections 4 and 5.3.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar

from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root, Snapshot, Targets, Timestamp
from tuf.api.serialization import DeserializationError

from manager.errors import ConflictError, ForbiddenError
from shared.errors import FormatError
from shared.frozen import frozen
from shared.versions import is_version

__all__ = [
    "ROLES",
    "Release",
    "Role",
    "check_role",
    "expires_ms",
    "next_root",
    "read",
    "releases_of",
]

Role = Literal["root", "targets", "snapshot", "timestamp"]
ROLES: Final[tuple[Role, ...]] = ("root", "targets", "snapshot", "timestamp")
MOST_BYTES: Final = 500_000
"""python-tuf's clients take a root of 512,000 bytes; a release is some 300 bytes of targets."""

S = TypeVar("S", Root, Targets, Snapshot, Timestamp)


@frozen
class Release:
    """A release as targets name it. target: the file's name; sha256 in hexadecimal."""

    version: str
    target: str
    sha256: str
    size_bytes: int


def read(kind: type[S], data: bytes) -> Metadata[S]:
    """Return metadata of a kind, its signatures not checked. Raises FormatError."""
    role = kind.type
    if len(data) > MOST_BYTES:
        raise FormatError(
            "releases.metadata_too_large", role=role, size=len(data), limit=MOST_BYTES
        )
    try:
        found: Metadata[Any] = Metadata.from_bytes(data)
    except (DeserializationError, ValueError) as error:
        raise FormatError("releases.metadata_malformed", role=role, problem=str(error)) from error
    if not isinstance(found.signed, kind):
        raise FormatError("releases.metadata_other_role", role=role, found=found.signed.type)
    return found


def next_root(before: Metadata[Root] | None, data: bytes, now_ms: int) -> Metadata[Root]:
    """Return a root that follows the one before, or is the first.

    It must be signed by enough keys of this root and of the previous one. Raises FormatError,
    ConflictError (not the next version), ForbiddenError (signatures, time).
    """
    found = read(Root, data)
    wanted = 1 if before is None else before.signed.version + 1
    if found.signed.version != wanted:
        raise ConflictError("releases.root_not_next", number=found.signed.version, wanted=wanted)
    for by in (found,) if before is None else (before, found):
        _require_signed("root", by, found)
    _require_time("root", found, now_ms)
    if not found.signed.consistent_snapshot:
        raise FormatError("releases.root_not_consistent")
    return found


def check_role(role: Role, root: Metadata[Root], found: Metadata[S], now_ms: int) -> None:
    """Raise ForbiddenError unless the keys of a role signed it and its time is not over."""
    _require_signed(role, root, found)
    _require_time(role, found, now_ms)


def releases_of(targets: Targets) -> dict[str, Release]:
    """Return the releases that targets name, by version. Raises FormatError."""
    if targets.delegations is not None:
        raise FormatError("releases.delegations")
    found: dict[str, Release] = {}
    for path, target in targets.targets.items():
        custom = target.custom if isinstance(target.custom, dict) else {}
        version = custom.get("version")
        sha256 = target.hashes.get("sha256", "")
        if not isinstance(version, str) or not is_version(version) or len(sha256) != 64:
            raise FormatError("releases.target_unsigned", path=path[:80])
        if "/" in path or version in found:
            raise FormatError("releases.target_not_plain", path=path[:80])
        found[version] = Release(version, path, sha256, target.length)
    return found


def expires_ms(found: Metadata[Any]) -> int:
    """Return when metadata is over."""
    return round(float(found.signed.expires.timestamp()) * 1000)


def _require_signed(role: Role, root: Metadata[Root], found: Metadata[Any]) -> None:
    try:
        root.signed.verify_delegate(role, found.signed_bytes, found.signatures)
    except (RepositoryError, ValueError) as error:
        raise ForbiddenError(
            "releases.signatures_missing",
            role=role,
            number=found.signed.version,
            root=root.signed.version,
            problem=str(error),
        ) from error


def _require_time(role: Role, found: Metadata[Any], now_ms: int) -> None:
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    if found.signed.is_expired(now):
        raise ForbiddenError(
            "releases.metadata_expired",
            role=role,
            number=found.signed.version,
            expires_ms=expires_ms(found),
        )
