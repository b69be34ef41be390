"""Read signed metadata and judge it: form, signatures, order, time.

Invariant: nothing is believed before enough keys that the root names have signed it. Everything
here takes bytes as they came and says in a sentence what is wrong with them.
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
    "version_of",
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
        raise FormatError(f"{role}: {len(data)} bytes; at most {MOST_BYTES} are taken")
    try:
        found: Metadata[Any] = Metadata.from_bytes(data)
    except (DeserializationError, ValueError) as error:
        raise FormatError(f"{role}: no TUF metadata ({error}); `prsm release` makes it") from error
    if not isinstance(found.signed, kind):
        raise FormatError(f"{role}: this is {found.signed.type} metadata; name the other file")
    return found


def next_root(before: Metadata[Root] | None, data: bytes, now_ms: int) -> Metadata[Root]:
    """Return a root that follows the one before, or is the first.

    It must be signed by enough keys of its own and of the root before. Raises FormatError,
    ConflictError (not the next version), ForbiddenError (signatures, time).
    """
    found = read(Root, data)
    wanted = 1 if before is None else before.signed.version + 1
    if found.signed.version != wanted:
        raise ConflictError(f"root {found.signed.version}: the next one must be {wanted}")
    for by in (found,) if before is None else (before, found):
        _require_signed("root", by, found)
    _require_time("root", found, now_ms)
    if not found.signed.consistent_snapshot:
        raise FormatError("root: consistent_snapshot must be true; make it by `prsm release root`")
    return found


def check_role(role: Role, root: Metadata[Root], found: Metadata[S], now_ms: int) -> None:
    """Raise ForbiddenError unless the keys of a role signed it and its time is not over."""
    _require_signed(role, root, found)
    _require_time(role, found, now_ms)


def releases_of(targets: Targets) -> dict[str, Release]:
    """Return the releases that targets name, by version. Raises FormatError."""
    if targets.delegations is not None:
        raise FormatError("targets: delegations are not taken; sign with the keys of the root")
    found: dict[str, Release] = {}
    for path, target in targets.targets.items():
        custom = target.custom if isinstance(target.custom, dict) else {}
        version = custom.get("version")
        sha256 = target.hashes.get("sha256", "")
        if not isinstance(version, str) or not is_version(version) or len(sha256) != 64:
            raise FormatError(
                f"targets: {path[:80]!r} has no version or no sha256; sign it by "
                "`prsm release sign`"
            )
        if "/" in path or version in found:
            raise FormatError(f"targets: {path[:80]!r}: one plain file for each version")
        found[version] = Release(version, path, sha256, target.length)
    return found


def version_of(data: bytes) -> int:
    """Return the version of metadata of any role. Raises FormatError."""
    try:
        found: Metadata[Any] = Metadata.from_bytes(data)
    except (DeserializationError, ValueError) as error:
        raise FormatError(f"no TUF metadata ({error})") from error
    return int(found.signed.version)


def expires_ms(found: Metadata[Any]) -> int:
    """Return when metadata is over."""
    return round(float(found.signed.expires.timestamp()) * 1000)


def _require_signed(role: Role, root: Metadata[Root], found: Metadata[Any]) -> None:
    try:
        root.signed.verify_delegate(role, found.signed_bytes, found.signatures)
    except (RepositoryError, ValueError) as error:
        raise ForbiddenError(
            f"{role} {found.signed.version}: not signed by enough keys that root "
            f"{root.signed.version} names ({error}); sign it by `prsm release cosign`"
        ) from error


def _require_time(role: Role, found: Metadata[Any], now_ms: int) -> None:
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    if found.signed.is_expired(now):
        raise ForbiddenError(
            f"{role} {found.signed.version}: was good until {found.signed.expires:%Y-%m-%d %H:%M} "
            "UTC; sign a new one"
        )
