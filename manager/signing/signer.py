"""Sign snapshot and timestamp for targets that people signed, and for nothing else.

Invariants. The root is trusted that was given at the start, and what follows it by enough
signatures; targets never go back and never change under one version; every answer has greater
versions than all before. All of that is on this process's own disk before an answer goes out, so it
also holds against a manager that shows an old state.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, Targets, Timestamp

from manager.errors import ConflictError, ForbiddenError
from manager.releases.metadata import check_role, next_root, read, releases_of
from manager.signing.keys import read_key
from manager.signing.protocol import Signed
from shared.errors import SettingError

__all__ = ["SNAPSHOT_DAYS", "TIMESTAMP_DAYS", "Signer"]

SNAPSHOT_DAYS: Final = 30
TIMESTAMP_DAYS: Final = 7
"""A frozen site finds out within a week; a centre that is down for less stops no update."""


class Signer:
    """The keys of one folder, and the last data signed with them."""

    def __init__(self, folder: Path, now_ms: Callable[[], int]) -> None:
        """Read the keys. Raises SettingError."""
        self._folder = folder
        self._now_ms = now_ms
        self._keys = {role: read_key(folder / f"{role}.pem") for role in ("snapshot", "timestamp")}

    def trust(self, root: bytes) -> None:
        """Take the root that a person gives at the first start; a later call changes nothing.

        Raises FormatError, ForbiddenError, ConflictError (another first root is trusted).
        """
        known = self._kept("first-root")
        if known is not None:
            if known != root:
                raise ConflictError("releases.root_trusted_differs", folder=str(self._folder))
            return
        next_root(None, root, self._now_ms())
        self._keep("root", root)
        self._keep("first-root", root)

    def sign(self, roots: Sequence[bytes], targets: bytes) -> Signed:
        """Return a snapshot and a timestamp that cover these targets.

        roots: all, from the first on. Raises SettingError (no root is trusted yet), FormatError,
        ForbiddenError, ConflictError.
        """
        now_ms = self._now_ms()
        root = self._root(roots, now_ms)
        for role, key in self._keys.items():
            if key.public_key.keyid not in root.signed.roles[role].keyids:
                raise ForbiddenError(
                    "releases.root_names_no_key", number=root.signed.version, role=role
                )
        found = read(Targets, targets)
        check_role("targets", root, found, now_ms)
        releases_of(found.signed)
        self._check_order(found, targets)
        self._keep("targets", targets)
        snapshot = self._snapshot(root, found, targets, now_ms)
        timestamp = self._timestamp(snapshot, now_ms)
        return Signed(snapshot, timestamp)

    def _root(self, roots: Sequence[bytes], now_ms: int) -> Metadata[Root]:
        kept = self._kept("root")
        if kept is None:
            raise SettingError("releases.root_not_trusted")
        root = read(Root, kept)
        for data in roots:
            if read(Root, data).signed.version > root.signed.version:
                # An older root on the way may be over; the newest must not be.
                root = next_root(root, data, 0)
                self._keep("root", data)
        check_role("root", root, root, now_ms)
        return root

    def _check_order(self, found: Metadata[Targets], data: bytes) -> None:
        kept = self._kept("targets")
        if kept is None:
            return
        last = read(Targets, kept)
        if found.signed.version < last.signed.version:
            raise ConflictError(
                "releases.targets_signed_later",
                number=found.signed.version,
                last=last.signed.version,
            )
        if found.signed.version == last.signed.version and (
            found.signed_bytes != last.signed_bytes
        ):
            raise ConflictError("releases.targets_signed_differ", number=found.signed.version)

    def _snapshot(
        self, root: Metadata[Root], found: Metadata[Targets], targets: bytes, now_ms: int
    ) -> bytes:
        kept = self._kept("snapshot")
        version = 1
        covered = MetaFile.from_data(found.signed.version, targets, ["sha256"])
        if kept is not None:
            last = read(Snapshot, kept)
            version = last.signed.version + 1
            half = now_ms + SNAPSHOT_DAYS * 86_400_000 // 2
            named = set(last.signatures) & set(root.signed.roles["snapshot"].keyids)
            if (
                last.signed.meta["targets.json"] == covered
                and named
                and not last.signed.is_expired(_moment(half))
            ):
                return kept
        signed = Snapshot(version=version, meta={"targets.json": covered})
        return self._signed("snapshot", signed, now_ms, SNAPSHOT_DAYS)

    def _timestamp(self, snapshot: bytes, now_ms: int) -> bytes:
        kept = self._kept("timestamp")
        version = 1 if kept is None else read(Timestamp, kept).signed.version + 1
        covered = MetaFile.from_data(read(Snapshot, snapshot).signed.version, snapshot, ["sha256"])
        signed = Timestamp(version=version, snapshot_meta=covered)
        return self._signed("timestamp", signed, now_ms, TIMESTAMP_DAYS)

    def _signed(self, role: str, signed: Snapshot | Timestamp, now_ms: int, days: int) -> bytes:
        signed.expires = _moment(now_ms) + timedelta(days=days)
        found: Metadata[Any] = Metadata(signed)
        key: CryptoSigner = self._keys[role]
        found.sign(key)
        data: bytes = found.to_bytes()
        self._keep(role, data)
        return data

    def _kept(self, name: str) -> bytes | None:
        try:
            return (self._folder / f"{name}.json").read_bytes()
        except FileNotFoundError:
            return None

    def _keep(self, name: str, data: bytes) -> None:
        target = self._folder / f"{name}.json"
        part = self._folder / f"{name}.json.part"
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms // 1000, UTC)
