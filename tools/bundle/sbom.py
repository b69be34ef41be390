"""The SBOM of an archive: what it holds, from where, under which licences, as CycloneDX 1.6.

The same archive has the same SBOM: its moment is that of the commit, its number is derived from
the components.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Entry
from cyclonedx.model.component import ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from tools.bundle.licences import Component

__all__ = ["write_sbom"]


def write_sbom(components: Iterable[Component], path: Path, when_s: int) -> None:
    """Write the SBOM of components, of which the one named prsm is the archive's own.

    when_s: seconds since 1970, as the archive's time.
    """
    bom = Bom()
    bom.metadata.timestamp = datetime.fromtimestamp(when_s, UTC)
    entries = {}
    for one in components:
        entry = _entry(one)
        entries[one.name] = entry
        if one.name == "prsm":
            bom.metadata.component = entry
        else:
            bom.components.add(entry)
    own = bom.metadata.component
    if own is None:
        raise ValueError(f"{path}: no component is named prsm")
    bom.register_dependency(own, [entry for entry in entries.values() if entry is not own])
    bom.serial_number = uuid5(
        NAMESPACE_URL, "\n".join(sorted(_identity(e) for e in entries.values()))
    )
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n", encoding="utf-8")


def _entry(one: Component) -> Entry:
    return Entry(
        type=ComponentType.APPLICATION if one.name == "prsm" else ComponentType.LIBRARY,
        name=one.name,
        version=one.version,
        bom_ref=one.purl,
        purl=PackageURL.from_string(one.purl),
        licenses=[LicenseFactory().make_from_string(one.expression)],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one.files[0][1])]
        if len(one.files) == 1
        else [],
        properties=[
            Property(name=f"prsm:sha256:{name}", value=digest) for name, digest in one.files
        ],
    )


def _identity(entry: Entry) -> str:
    return f"{entry.bom_ref} " + " ".join(sorted(one.value or "" for one in entry.properties))
