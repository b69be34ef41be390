"""Keys and signed metadata as a ceremony leaves them, made in a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, Root, Targets

from manager.releases.metadata import Release
from manager.releases.signed_metadata import (
    add_signatures,
    first_targets,
    new_root,
    with_release,
    without_release,
)
from manager.signing.keys import make_keys
from manager.signing.signer import Signer

__all__ = ["Ceremony", "version_of"]


@dataclass
class Ceremony:
    """Two of three root keys and one targets key sign; the signer's keys are in a folder."""

    folder: Path
    now_ms: Callable[[], int]
    root_keys: list[CryptoSigner] = field(
        default_factory=lambda: [CryptoSigner.generate_ed25519() for _ in range(3)]
    )
    targets_key: CryptoSigner = field(default_factory=CryptoSigner.generate_ed25519)

    def __post_init__(self) -> None:
        online = make_keys(self.folder / "signer")
        self.root = new_root(
            None,
            {
                "root": [key.public_key for key in self.root_keys],
                "targets": [self.targets_key.public_key],
                "snapshot": [online["snapshot"]],
                "timestamp": [online["timestamp"]],
            },
            {"root": 2},
            self.now_ms(),
            365,
        )
        self.sign_root(self.root)
        self.targets = first_targets(self.now_ms(), 365)
        add_signatures(self.targets, [self.targets_key])

    def sign_root(self, root: Metadata[Root], keys: Sequence[CryptoSigner] = ()) -> bytes:
        """Sign a root by two of the three keys, or by others."""
        add_signatures(root, keys or self.root_keys[:2])
        return root.to_bytes()

    def signer(self) -> Signer:
        """Return the signer, which trusts the first root."""
        signer = Signer(self.folder / "signer", self.now_ms)
        signer.trust(self.root.to_bytes())
        return signer

    def with_release(self, version: str, body: bytes, name: str = "") -> bytes:
        """Sign the next targets, with a release more."""
        release = Release(
            version, name or f"prs-{version}.zip", hashlib.sha256(body).hexdigest(), len(body)
        )
        return self.next_targets(with_release(self.targets, release, self.now_ms(), 365))

    def without_release(self, version: str) -> bytes:
        """Sign the next targets, without a release."""
        return self.next_targets(without_release(self.targets, version, self.now_ms(), 365))

    def next_targets(self, made: Metadata[Targets], key: CryptoSigner | None = None) -> bytes:
        """Sign targets; by the right key they are the newest from now on."""
        add_signatures(made, [key or self.targets_key])
        if key is None:
            self.targets = made
        return made.to_bytes()


def version_of(data: bytes) -> int:
    """Return the version of signed metadata of any role."""
    return int(json.loads(data)["signed"]["version"])
