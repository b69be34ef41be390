"""Keys as files: PEM (PKCS 8), readable by their owner only; the public half beside it as `.pub`.

A key of people is encrypted by a passphrase; the signer's are not: a process must read them at its
start, and no user but its own may.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.signer import CryptoSigner, Key, SSlibKey

from shared.errors import ConflictError, FormatError, SettingError

__all__ = ["SIGNER_KEYS", "make_keys", "read_key", "read_public", "write_key"]

SIGNER_KEYS: Final = ("snapshot", "timestamp")


def write_key(path: Path, passphrase: str) -> Key:
    """Make an Ed25519 key; write `path` and `path.pub`, return the public half.

    passphrase: empty: not encrypted. Raises ConflictError where there is a file already.
    """
    private = Ed25519PrivateKey.generate()
    how: KeySerializationEncryption = (
        BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    )
    body = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ConflictError("releases.key_exists", path=str(path)) from error
    with os.fdopen(handle, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    public: Key = CryptoSigner(private).public_key
    said = {"keyid": public.keyid, **public.to_dict()}
    path.with_name(path.name + ".pub").write_text(json.dumps(said) + "\n")
    return public


def read_key(path: Path, passphrase: str = "") -> CryptoSigner:
    """Return a key to sign with. Raises SettingError (not there, not private, wrong words)."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise SettingError("releases.key_readable", path=str(path), mode=mode)
        private = load_pem_private_key(path.read_bytes(), passphrase.encode() or None)
    except (OSError, ValueError, TypeError) as error:
        raise SettingError(
            "releases.key_not_readable", path=str(path), problem=str(error)
        ) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise SettingError("releases.key_not_ed25519", path=str(path))
    return CryptoSigner(private)


def read_public(path: Path) -> Key:
    """Return the public half of a key, from its `.pub`. Raises FormatError."""
    try:
        said = json.loads(path.read_bytes())
        return SSlibKey.from_dict(str(said.pop("keyid")), said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(
            "releases.public_key_malformed", path=str(path), problem=str(error)
        ) from error


def make_keys(folder: Path) -> dict[str, Key]:
    """Make the signer's own keys, where there are none; return their public halves by role."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        raise SettingError("releases.key_folder_readable", folder=str(folder), mode=mode)
    found: dict[str, Key] = {}
    for role in SIGNER_KEYS:
        path = folder / f"{role}.pem"
        found[role] = read_key(path).public_key if path.exists() else write_key(path, "")
    return found
