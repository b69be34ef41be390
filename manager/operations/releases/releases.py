"""Publish and revoke releases: take what people signed, have the rest signed, keep all of it.

Invariant: nothing is kept that does not verify from the first root on, and targets that are served
are covered by a snapshot and a timestamp from the same transaction. `publish` only adds releases,
`revoke` only takes one away; each needs targets that were signed elsewhere.
The signer is asked between two transactions; what it signed for a state that is over is thrown
away, which costs only version numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tuf.api.metadata import Metadata, Root, Snapshot, Targets, Timestamp

from manager.db.engine import Database, Transaction
from manager.db.releases import releases
from manager.db.releases.releases import MetadataRow
from manager.db.segments.named_files import FileState, states_of_bundles
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import CLOCK, Actor, note
from manager.releases.metadata import Release, check_role, expires_ms, next_root, read, releases_of
from manager.signing.protocol import Signed, Signing
from manager.store import Bundles
from shared.errors import FormatError, about_field

__all__ = ["begin_releases", "prune_bundles", "publish", "renew_timestamp", "revoke", "take_next"]

DAY_MS: Final = 24 * 3_600_000
RENEW_MS: Final = DAY_MS
"""A timestamp holds for a week and is renewed each day: six failures in a row change nothing."""

HasFile = Callable[[Release], bool]


def begin_releases(
    db: Database, signing: Signing, root: bytes, targets: bytes, actor: Actor, now_ms: int
) -> None:
    """Begin to serve releases with the first root and targets that name none.

    Raises ConflictError (begun already), FormatError, ForbiddenError, BusyError (no signer).
    """
    with db.read() as tx:
        _require_none(tx)
    with about_field("root"):
        first = next_root(None, root, now_ms)
    with about_field("targets"):
        found = _checked_targets(first, targets, 1, now_ms)
        if releases_of(found.signed):
            raise FormatError("releases.first_targets_not_empty")
    signed = signing.sign([root], targets)
    with db.write() as tx:
        _require_none(tx)
        releases.add_metadata(tx, "root", 1, root, expires_ms(first), now_ms)
        _keep(tx, found, targets, signed, now_ms)
        note(tx, now_ms, actor, "release.init", "releases", keys=len(first.signed.keys))


def take_next(
    db: Database,
    signing: Signing,
    root: bytes | None,
    targets: bytes | None,
    actor: Actor,
    now_ms: int,
) -> None:
    """Take the next root, which may name other keys, or targets with the same releases, or both.

    The targets that are served then must be signed by keys that the root names: after a new targets
    key both come together. Raises as `begin_releases`.
    """
    with db.read() as tx:
        roots, current, before = _present_release(tx)
    with about_field("root"):
        newest = current if root is None else next_root(current, root, now_ms)
    last = read(Targets, before.body.encode())
    if targets is None:
        targets, found = before.body.encode(), last
        check_role("targets", newest, found, now_ms)
    else:
        with about_field("targets"):
            found = _checked_targets(newest, targets, before.version + 1, now_ms)
            if releases_of(found.signed) != releases_of(last.signed):
                raise FormatError(
                    "releases.releases_differ", number=found.signed.version, before=before.version
                )
    signed = signing.sign([*roots, root] if root is not None else roots, targets)
    with db.write() as tx:
        _require_same(tx, before, len(roots))
        if root is not None:
            number = newest.signed.version
            releases.add_metadata(tx, "root", number, root, expires_ms(newest), now_ms)
            for role in ("snapshot", "timestamp"):
                if newest.signed.roles[role].keyids != current.signed.roles[role].keyids:
                    # A signer that lost its disk counts from one; sites forget the old ones too.
                    releases.forget_metadata(tx, role)
        _keep(tx, found, targets, signed, now_ms)
        subject = f"root {newest.signed.version}, targets {found.signed.version}"
        note(tx, now_ms, actor, "release.rotate", subject)


def publish(
    db: Database, signing: Signing, targets: bytes, has_file: HasFile, actor: Actor, now_ms: int
) -> list[str]:
    """Serve new targets with more releases, not offered yet; return the new versions.

    has_file: tells whether a release's file has come, with these bytes. Raises FormatError (a
    release is missing or changed; none is new), ConflictError, NotFoundError (no file),
    ForbiddenError (signatures), BusyError (no signer).
    """
    with db.read() as tx:
        roots, root, before = _present_release(tx)
    known = releases_of(read(Targets, before.body.encode()).signed)
    found = _checked_targets(root, targets, before.version + 1, now_ms)
    named = releases_of(found.signed)
    changed = [version for version, one in known.items() if named.get(version) != one]
    if changed:
        raise FormatError(
            "releases.release_changed", number=found.signed.version, version=changed[0]
        )
    new = [one for version, one in named.items() if version not in known]
    if not new:
        raise FormatError("releases.no_new_release", number=found.signed.version)
    for one in new:
        if not has_file(one):
            raise NotFoundError(
                "releases.bundle_missing",
                version=one.version,
                target=one.target,
                size=one.size_bytes,
                sha256=one.sha256,
            )
    signed = signing.sign(roots, targets)
    with db.write() as tx:
        _require_same(tx, before, len(roots))
        for one in new:
            if releases.by_version(tx, one.version) is not None:
                raise ConflictError("releases.version_reused", version=one.version)
            row = {
                "version": one.version,
                "target": one.target,
                "sha256": one.sha256,
                "size_bytes": one.size_bytes,
                "published_by": actor.name,
                "published_ms": now_ms,
            }
            releases.add(tx, row)
            note(tx, now_ms, actor, "release.publish", one.version, sha256=one.sha256)
        _keep(tx, found, targets, signed, now_ms)
    return [one.version for one in new]


def revoke(
    db: Database, signing: Signing, version: str, targets: bytes, actor: Actor, now_ms: int
) -> None:
    """Serve new targets without a release: no site installs it from now on.

    Raises NotFoundError, FormatError (something else changed too), ConflictError, ForbiddenError,
    BusyError.
    """
    with db.read() as tx:
        roots, root, before = _present_release(tx)
        row = releases.by_version(tx, version)
    if row is None or row.revoked_ms is not None:
        raise NotFoundError("releases.not_published", version=version[:40], see="release")
    known = releases_of(read(Targets, before.body.encode()).signed)
    known.pop(version, None)
    with about_field("targets"):
        found = _checked_targets(root, targets, before.version + 1, now_ms)
        if releases_of(found.signed) != known:
            raise FormatError(
                "releases.revoke_differs",
                number=found.signed.version,
                before=before.version,
                version=version,
            )
    signed = signing.sign(roots, targets)
    with db.write() as tx:
        _require_same(tx, before, len(roots))
        releases.change(tx, version, revoked_ms=now_ms)
        _keep(tx, found, targets, signed, now_ms)
        note(tx, now_ms, actor, "release.revoke", version)


def renew_timestamp(db: Database, signing: Signing, now_ms: int) -> bool:
    """Re-sign snapshot and timestamp once a day; return whether they were.

    Each manager tries it: where several reach the signer, the first that writes has done it.

    Raises BusyError (no signer), ForbiddenError (it refuses): the clock tries again, and notices
    tell when the end is near.
    """
    with db.read() as tx:
        last = releases.newest(tx, "timestamp")
        if last is None or 0 <= now_ms - last.added_ms < RENEW_MS:
            return False
        roots, _, targets = _present_release(tx)
    data = targets.body.encode()
    signed = signing.sign(roots, data)
    with db.write() as tx:
        if releases.newest(tx, "timestamp") != last:
            return False
        _require_same(tx, targets, len(roots))
        _keep(tx, read(Targets, data), data, signed, now_ms)
        note(tx, now_ms, CLOCK, "release.renew", "timestamp")
    return True


def prune_bundles(db: Database, bundles: Bundles) -> None:
    """Remove files of releases that were revoked; those that no release names are left alone."""
    there = bundles.listed()
    with db.read() as tx:
        states = states_of_bundles(tx, there)
    for sha256, state in states.items():
        if state is FileState.ENDED:
            bundles.remove(sha256)


def _checked_targets(
    root: Metadata[Root], data: bytes, least: int, now_ms: int
) -> Metadata[Targets]:
    found = read(Targets, data)
    # A gap is fine: the signer may have seen targets that never came to be served.
    if found.signed.version < least:
        raise ConflictError("releases.targets_not_next", number=found.signed.version, least=least)
    check_role("targets", root, found, now_ms)
    return found


def _present_release(tx: Transaction) -> tuple[Sequence[bytes], Metadata[Root], MetadataRow]:
    roots = releases.bodies(tx, "root")
    targets = releases.newest(tx, "targets")
    if not roots or targets is None:
        raise ConflictError("releases.not_initialized")
    return roots, read(Root, roots[-1]), targets


def _require_none(tx: Transaction) -> None:
    if releases.newest(tx, "root") is not None:
        raise ConflictError("releases.already_initialized")


def _require_same(tx: Transaction, targets: MetadataRow, roots: int) -> None:
    if releases.newest(tx, "targets") != targets or len(releases.bodies(tx, "root")) != roots:
        raise ConflictError("releases.changed_meanwhile")


def _keep(
    tx: Transaction, found: Metadata[Targets], targets: bytes, signed: Signed, now_ms: int
) -> None:
    releases.add_metadata(tx, "targets", found.signed.version, targets, expires_ms(found), now_ms)
    snapshot, timestamp = read(Snapshot, signed.snapshot), read(Timestamp, signed.timestamp)
    for role, one, body in (
        ("snapshot", snapshot, signed.snapshot),
        ("timestamp", timestamp, signed.timestamp),
    ):
        releases.add_metadata(tx, role, one.signed.version, body, expires_ms(one), now_ms)
