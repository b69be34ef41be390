"""Licences of everything that an archive holds: wheels and the console's vendored files.

`collect` reads them from the wheels' own metadata and licence files, `write_licences` writes
THIRD-PARTY-LICENSES.txt. A component whose licence is unknown ends the build: it may not be given
away.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Final

from tools.bundle.fetched import sha256_of

__all__ = ["Component", "LicenceError", "collect", "write_licences"]

VENDORED: Final = "manager/console/static/vendor/"
NAMES: Final = ("license", "licence", "copying", "notice", "authors")
"""First letters of the files that hold a licence, in a wheel's metadata."""

EXPRESSIONS: Final = {
    "apache software license": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "bsd license": "BSD-3-Clause",
    "bsd": "BSD-3-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "isc": "ISC",
    "lgpl/mit": "LGPL-2.1-or-later OR MIT",
    "mit license": "MIT",
    "mit": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "mpl-2.0": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "psf-2.0": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
"""SPDX expressions for the licence texts of older wheels."""


UNDECLARED: Final = {"chardetng_py": "MIT"}
"""Licences that only a README and a licence file tell."""


class LicenceError(Exception):
    """A component has no licence that we know; the message names it."""


@dataclass(frozen=True, slots=True)
class Component:
    """One library in an archive. expression: SPDX. texts: (file name, text) of its licences.

    purl: its package URL. files: (name, SHA-256) of its wheels, or of the vendored files.
    """

    name: str
    version: str
    expression: str
    purl: str
    files: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]


def collect(wheels: Path) -> list[Component]:
    """Return what the wheels of a folder hold, one component for all platforms of a library.

    Raises LicenceError.
    """
    found: dict[tuple[str, str], Component] = {}
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as opened:
            component = _of_wheel(wheel, opened)
            vendored = _vendored(opened)
        known = found.get((component.name, component.version))
        if known is not None:
            component = replace(
                known,
                files=known.files + component.files,
                texts=tuple(dict.fromkeys(known.texts + component.texts)),
            )
        found[component.name, component.version] = component
        found.update({(one.name, one.version): one for one in vendored})
    return sorted(found.values(), key=lambda one: (one.name.casefold(), one.version))


def write_licences(components: Iterable[Component], path: Path) -> None:
    """Write the licences of all components but our own into one text file."""
    parts = ["This archive holds the following libraries, each under its own licence.\n"]
    for one in components:
        if one.name == "prsm":
            continue
        parts.append(f"\n{'=' * 80}\n{one.name} {one.version}\nLicence: {one.expression}\n")
        parts += [f"\n--- {name}\n\n{text.rstrip()}\n" for name, text in one.texts]
        if not one.texts:
            parts.append("The package holds no text of it: https://spdx.org/licenses/\n")
    path.write_text("".join(parts), encoding="utf-8")


def _of_wheel(wheel: Path, opened: zipfile.ZipFile) -> Component:
    (described,) = (
        name for name in opened.namelist() if name.count("/") == 1 and name.endswith("/METADATA")
    )
    about = Parser().parsestr(opened.read(described).decode("utf-8", "replace"))
    folder = described.removesuffix("METADATA")
    texts = [
        (name.removeprefix(folder), opened.read(name).decode("utf-8", "replace"))
        for name in sorted(opened.namelist())
        if name.startswith(folder) and Path(name).name.casefold().startswith(NAMES)
    ]
    name, version = str(about["Name"]), str(about["Version"])
    return Component(
        name=name,
        version=version,
        expression=_expression(about),
        purl=f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
        files=((wheel.name, sha256_of(wheel)),),
        texts=tuple(texts),
    )


def _expression(about: Message) -> str:
    if about["License-Expression"]:
        return str(about["License-Expression"])
    if str(about["Name"]) in UNDECLARED:
        return UNDECLARED[str(about["Name"])]
    classified = [
        str(line).rpartition(" :: ")[2]
        for line in about.get_all("Classifier", [])
        if str(line).startswith("License :: ") and not str(line).endswith(":: OSI Approved")
    ]
    for words in [*classified, str(about["License"] or "")]:
        if known := EXPRESSIONS.get(words.strip().casefold()):
            return known
    raise LicenceError(
        f"{about['Name']} {about['Version']}: licence {classified or about['License']!r} is"
        " unknown; read its licence and add it to EXPRESSIONS in tools/bundle/licences.py"
    )


def _vendored(opened: zipfile.ZipFile) -> list[Component]:
    """Return the console's files that npm packages brought; only our own wheel has them."""
    manifest = VENDORED + "MANIFEST.json"
    if manifest not in opened.namelist():
        return []
    found = []
    for package in json.loads(opened.read(manifest)):
        name, version = package["package"], package["version"]
        texts = tuple(
            (file, opened.read(VENDORED + file).decode())
            for file in package["files_sha256"]
            if file.endswith(".LICENSE")
        )
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        files = tuple(package["files_sha256"].items())
        found.append(Component(name, version, package["licence"], purl, files, texts))
    return found
