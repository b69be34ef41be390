"""Brings the wheels of the lock for each platform; pip compares each with its hash.

pip asks markers of the Python that it runs on, whatever platform it fetches for: so it is given
only the entries that fit, without their markers.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tools.bundle.chosen import Locked, Platform

__all__ = ["fetch", "platform_words", "sha256_of"]

_NEWEST_GLIBC = 28  # that wheels may ask for: Debian 10, RHEL 8
_OLDEST_GLIBC = 5
_LEGACY = ("manylinux2014", "manylinux2010", "manylinux1")


def fetch(entries: Iterable[Locked], platforms: Iterable[Platform], folder: Path) -> None:
    """Put the wheels of all entries into a folder. Raises CalledProcessError."""
    entries = list(entries)
    for platform in platforms:
        lines = [
            f"{one.name}=={one.version} "
            + " ".join(f"--hash=sha256:{digest}" for digest in sorted(one.hashes))
            for one in entries
            if one.fits(platform)
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(lines))
            file.flush()
            words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
            words += ["--quiet", "download", "--require-hashes", "--no-deps"]
            words += [*platform_words(platform), "-d", str(folder), "-r", file.name]
            subprocess.run(words, check=True)


def platform_words(platform: Platform) -> list[str]:
    """Return the words by which pip takes wheels for a platform, whatever this machine is."""
    words = ["--only-binary", ":all:"]
    words += ["--python-version", f"{platform.python[0]}.{platform.python[1]}"]
    words += ["--implementation", "cp", "--abi", platform.abi, "--abi", "abi3", "--abi", "none"]
    for glibc in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1):
        words += ["--platform", f"manylinux_2_{glibc}_{platform.machine}"]
    for name in _LEGACY:
        words += ["--platform", f"{name}_{platform.machine}"]
    return [*words, "--platform", f"linux_{platform.machine}"]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
