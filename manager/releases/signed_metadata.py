"""Make metadata and sign it, on a machine that has the keys. The server never needs this.

What is made is complete but for signatures; each signer adds one. A release is taken out by
new targets without it, which is how it is revoked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from securesystemslib.signer import CryptoSigner, Key
from tuf.api.metadata import Metadata, Root, TargetFile, Targets

from manager.errors import ConflictError, NotFoundError
from manager.releases.metadata import ROLES, Release, Role, releases_of
from shared.errors import FormatError
from shared.versions import version_key

__all__ = [
    "add_signatures",
    "first_targets",
    "new_root",
    "signed_anew",
    "with_release",
    "without_release",
]


def new_root(
    before: Root | None,
    keys: Mapping[Role, Sequence[Key]],
    thresholds: Mapping[Role, int],
    now_ms: int,
    days: int,
) -> Metadata[Root]:
    """Return a root, not signed yet, that names the keys of each role.

    before: the root that it follows; a role without keys here keeps its own. Raises FormatError.
    """
    root = Root(consistent_snapshot=True) if before is None else before
    root.version = 1 if before is None else before.version + 1
    root.expires = _after(now_ms, days)
    for role, given in keys.items():
        if not given:
            continue
        for old in list(root.roles[role].keyids):
            root.revoke_key(old, role)
        for key in given:
            root.add_key(key, role)
    for role in ROLES:
        found = root.roles[role]
        found.threshold = thresholds.get(role, found.threshold)
        if not 1 <= found.threshold <= len(found.keyids):
            raise FormatError(
                "releases.signature_keys",
                role=role,
                threshold=found.threshold,
                keys=len(found.keyids),
            )
    return Metadata(root)


def first_targets(now_ms: int, days: int) -> Metadata[Targets]:
    """Return targets without a release, not signed yet."""
    return Metadata(Targets(expires=_after(now_ms, days)))


def with_release(
    before: Metadata[Targets], release: Release, now_ms: int, days: int
) -> Metadata[Targets]:
    """Return the next targets, not signed yet, with one release more.

    Raises FormatError, ConflictError (there is one of this version or name).
    """
    version_key(release.version)
    known = releases_of(before.signed)
    if release.version in known or release.target in before.signed.targets:
        raise ConflictError(
            "releases.targets_have_release",
            version=release.version,
            number=before.signed.version,
        )
    found = _next(before, now_ms, days)
    found.signed.targets[release.target] = TargetFile(
        release.size_bytes,
        {"sha256": release.sha256},
        release.target,
        {"custom": {"version": release.version}},
    )
    return found


def without_release(
    before: Metadata[Targets], version: str, now_ms: int, days: int
) -> Metadata[Targets]:
    """Return the next targets, not signed yet, without a release. Raises NotFoundError."""
    known = releases_of(before.signed)
    if version not in known:
        raise NotFoundError(
            "releases.targets_lack_release", version=version[:40], number=before.signed.version
        )
    found = _next(before, now_ms, days)
    del found.signed.targets[known[version].target]
    return found


def signed_anew(before: Metadata[Targets], now_ms: int, days: int) -> Metadata[Targets]:
    """Return the next targets, not signed yet, with the same releases for another while."""
    return _next(before, now_ms, days)


def add_signatures(found: Metadata[Any], signers: Iterable[CryptoSigner]) -> None:
    """Sign metadata, beside those who signed it already."""
    for signer in signers:
        found.sign(signer, append=True)


def _next(before: Metadata[Targets], now_ms: int, days: int) -> Metadata[Targets]:
    copied = Targets.from_dict(before.signed.to_dict())
    copied.version += 1
    copied.expires = _after(now_ms, days)
    return Metadata(copied)


def _after(now_ms: int, days: int) -> datetime:
    now = datetime.fromtimestamp(now_ms // 1000, UTC)
    return now + timedelta(days=days)
