"""Keys and metadata of releases as files, for commands that need no manager."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tuf.api.metadata import Metadata, Root, Targets

from manager.clock import wall_clock_ms
from manager.releases.metadata import Release, Role, read
from manager.releases.signed_metadata import (
    add_signatures,
    first_targets,
    new_root,
    signed_anew,
    with_release,
    without_release,
)
from manager.signing.keys import make_keys, read_key, read_public, write_key
from manager.signing.server import serve_signer
from manager.signing.signer import Signer
from shared.errors import FormatError

__all__ = [
    "make_key",
    "make_root",
    "make_signer_keys",
    "make_targets",
    "read_either",
    "run_signer",
    "sign",
]


def make_key(path: Path, words: str) -> str:
    """Make a key of a person; return a line about it."""
    return f"{path}.pub: key {write_key(path, words).keyid[:12]}"


def make_signer_keys(folder: Path) -> Iterator[str]:
    """Make the signer's keys, where there are none; yield a line about each."""
    for role, public in make_keys(folder).items():
        yield f"{folder / role}.pem.pub: key {public.keyid[:12]}"


def make_root(
    previous: Path | None,
    given: Mapping[Role, Sequence[Path]],
    thresholds: Mapping[Role, int],
    days: int,
    output: Path,
) -> str:
    """Write a root that names these public keys; return a line about it."""
    before = read(Root, previous.read_bytes()).signed if previous else None
    keys = {role: [read_public(path) for path in paths] for role, paths in given.items()}
    return _write(new_root(before, keys, thresholds, wall_clock_ms(), days), output)


def make_targets(
    before: Path | None, bundle: Path | None, version: str | None, revoked: str | None, days: int
) -> Metadata[Targets]:
    """Return the next targets: the first, with a bundle, without a version, or unchanged."""
    now_ms = wall_clock_ms()
    if before is None:
        return first_targets(now_ms, days)
    last = read(Targets, before.read_bytes())
    if bundle is not None and version is not None:
        return with_release(last, _release(bundle, version), now_ms, days)
    if revoked is not None:
        return without_release(last, revoked, now_ms, days)
    return signed_anew(last, now_ms, days)


def read_either(path: Path) -> Metadata[Any]:
    """Return the root or the targets in a file. Raises FormatError."""
    data = path.read_bytes()
    try:
        return read(Root, data)
    except FormatError:
        return read(Targets, data)


def sign(made: Metadata[Any], keys: Sequence[tuple[Path, str]], output: Path) -> str:
    """Sign with keys and their passphrases, and write; return a line about it."""
    add_signatures(made, [read_key(path, words) for path, words in keys])
    return _write(made, output)


def run_signer(keys: Path, socket: Path, first: Path | None) -> None:
    """Sign for managers until SIGTERM. first: the root to trust, at the first start."""
    made = Signer(keys, wall_clock_ms)
    if first is not None:
        made.trust(first.read_bytes())
    serve_signer(made, socket)


def _release(bundle: Path, version: str) -> Release:
    with bundle.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Release(version, bundle.name, sha256, bundle.stat().st_size)


def _write(made: Metadata[Any], path: Path) -> str:
    part = path.with_name(path.name + ".part")
    part.write_bytes(made.to_bytes())
    part.replace(path)
    return f"{path}: {made.signed.type} {made.signed.version}, {len(made.signatures)} signatures"
