"""Fetch the console's web assets from npm and check them against their digests.

The files are kept in the repository, so nothing is downloaded to run or test PRSM; this script is
how they came there and how a reader can repeat it: `python3 -m tools.vendor_assets`. It uses
the `npm` client by package name, compares the archive's SHA-512 with the one below (the registry's
`dist.integrity`), and takes only the files named. To take a newer version, change its line.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.world_outline import outline

TARGET = Path(__file__).resolve().parent.parent / "manager" / "console" / "static" / "vendor"


@dataclass(frozen=True)
class Package:
    """An npm package, its digest, and which of its files to keep under which names."""

    name: str
    version: str
    sha512: str  # base64, as `npm view NAME dist.integrity` prints it
    licence: str
    files: dict[str, str]


ICONS = (
    "affiliate",
    "alert-triangle",
    "apps",
    "arrow-back-up",
    "bell",
    "chart-line",
    "circle-check",
    "clock",
    "download",
    "file-search",
    "file-text",
    "grid-dots",
    "history",
    "key",
    "keyboard",
    "language",
    "layout-sidebar",
    "logout",
    "menu-2",
    "moon",
    "package-export",
    "package-import",
    "player-pause",
    "player-play",
    "player-stop",
    "plus",
    "printer",
    "refresh",
    "rocket",
    "route",
    "scale",
    "server",
    "server-2",
    "settings",
    "sun",
    "upload",
    "user",
    "world",
    "world-search",
    "x",
)

PACKAGES = (
    Package(
        "@tabler/core",
        "1.6.1",
        "lgmR9gcxRp5JlLxcmRi9Rz85JrEvH6Bz71KnlcPVSa97wtwQNjgSs3g3fxwbAlulHyRMghhIV04QUuW3pqDsIg==",
        "MIT",
        {"dist/css/tabler.min.css": "tabler.min.css"},
    ),
    Package(
        "@tabler/icons",
        "3.36.0",
        "z9OfTEG6QbaQWM9KBOxxUdpgvMUn0atageXyiaSc2gmYm51ORO8Ua7eUcjlks+Dc0YMK4rrodAFdK9SfjJ4ZcA==",
        "MIT",
        {f"icons/outline/{icon}.svg": f"icons/{icon}.svg" for icon in ICONS},
    ),
    Package(
        "htmx.org",
        "2.0.11",
        "Thx/WtpeOQqSrqBCw/A1cwGJGg4UrVa3+sW0GmrM3p4gJgO89ecH4qtbnyzDDWFvBTqjnIMCgELTNt636dtamA==",
        "0BSD",
        {"dist/htmx.min.js": "htmx.min.js"},
    ),
    Package(
        "world-atlas",  # Natural Earth, which is in the public domain
        "2.0.2",
        "IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==",
        "ISC",
        {"land-110m.json": "world.svg"},
    ),
)


def main() -> None:
    """Write the files and MANIFEST.json; exit with a sentence where a digest differs."""
    manifest: list[dict[str, object]] = []
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as scratch:
            archive = fetch(package, Path(scratch))
            manifest.append(extract(package, archive))
    (TARGET / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n")


def fetch(package: Package, folder: Path) -> Path:
    """Download a package's archive into folder and check its digest."""
    spec = f"{package.name}@{package.version}"
    subprocess.run(
        ["npm", "pack", "--silent", spec], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    (archive,) = folder.glob("*.tgz")
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        sys.exit(f"{spec}: SHA-512 is {digest}, must be {package.sha512}; nothing was written")
    return archive


def extract(package: Package, archive: Path) -> dict[str, object]:
    """Copy the wanted files and the licence out of an archive; return the manifest's entry."""
    wanted = dict(package.files)
    entry: dict[str, object] = {
        "package": package.name,
        "version": package.version,
        "licence": package.licence,
        "archive_sha512": package.sha512,
    }
    digests: dict[str, str] = {}
    with tarfile.open(archive) as packed:
        names = {name.removeprefix("package/") for name in packed.getnames()}
        licence = next((n for n in ("LICENSE", "LICENSE.txt", "LICENSE.md") if n in names), None)
        if licence is not None:
            wanted[licence] = f"{package.name.replace('/', '-').lstrip('@')}.LICENSE"
        for source, name in sorted(wanted.items()):
            member = packed.extractfile(f"package/{source}")
            if member is None:
                sys.exit(f"{package.name}: no file {source}")
            data = member.read()
            if name.endswith(".css"):
                # The map is not kept; a browser's tools would ask for it in vain.
                data = b"\n".join(
                    line for line in data.splitlines() if b"sourceMappingURL" not in line
                )
            if source.endswith(".json"):
                data = outline(data)
            path = TARGET / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            digests[name] = hashlib.sha256(data).hexdigest()
    entry["files_sha256"] = digests
    return entry


if __name__ == "__main__":
    main()
