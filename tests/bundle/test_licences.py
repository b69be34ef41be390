"""Licences and the SBOM of an archive."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from tools.bundle.licences import LicenceError, collect
from tools.bundle.sbom import write_sbom


def test_an_archive_names_the_licence_of_everything_in_it(unpacked: Path) -> None:
    """Ours at its head; those of libraries and of the console's vendored files in one file."""
    assert "Apache License" in (unpacked / "LICENSE").read_text()
    text = (unpacked / "THIRD-PARTY-LICENSES.txt").read_text()
    for wheel in (unpacked / "wheels").glob("*.whl"):
        name = wheel.name.split("-")[0]
        if name != "prsm":
            assert f"\n{name} ".casefold() in text.replace("-", "_").replace(".", "_").casefold()
    assert "htmx.org" in text
    assert "Permission is hereby granted" in text


def test_the_sbom_is_valid_and_names_each_wheel(unpacked: Path) -> None:
    """By the schema of CycloneDX 1.6; each wheel with its digest, prsm as what it describes."""
    # Half a second, which each worker of the suite would take to collect this module.
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    sbom = (unpacked / "sbom.cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(sbom) is None
    found = json.loads(sbom)
    assert found["metadata"]["component"]["name"] == "prsm"
    assert found["metadata"]["component"]["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    named = {
        entry["name"].removeprefix("prsm:sha256:")
        for one in [*found["components"], found["metadata"]["component"]]
        for entry in one["properties"]
    }
    assert named >= {wheel.name for wheel in (unpacked / "wheels").glob("*.whl")}


def test_the_same_archive_has_the_same_sbom(unpacked: Path, tmp_path: Path) -> None:
    """Byte for byte: an archive can be built again and compared."""
    components = collect(unpacked / "wheels")
    for name in ("a", "b"):
        write_sbom(components, tmp_path / name, 1_700_000_000)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("metadata", "expression"),
    [
        ("License-Expression: MIT OR Apache-2.0\n", "MIT OR Apache-2.0"),
        ("License: BSD\n", "BSD-3-Clause"),
        ("Classifier: License :: OSI Approved :: MIT License\nLicense: see it\n", "MIT"),
        ("Classifier: License :: OSI Approved\nLicense: MPL-2.0\n", "MPL-2.0"),
    ],
)
def test_older_wheels_say_it_in_other_words(tmp_path: Path, metadata: str, expression: str) -> None:
    """As a classifier or as a free text; the SBOM has an SPDX expression."""
    (tmp_path / "x-1-py3-none-any.whl").write_bytes(wheel(metadata))
    (component,) = collect(tmp_path)
    assert component.expression == expression
    assert component.texts == (("LICENSE", "text"),)


def test_a_library_without_a_known_licence_is_refused_by_name(tmp_path: Path) -> None:
    """It may not be given away: the build ends and says where to enter it."""
    (tmp_path / "x-1-py3-none-any.whl").write_bytes(wheel("License: All rights reserved\n"))
    with pytest.raises(LicenceError, match=r"x 1: licence 'All rights reserved' is unknown"):
        collect(tmp_path)


def wheel(metadata: str) -> bytes:
    """Return a wheel named x with these lines of metadata."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(
            "x-1.dist-info/METADATA", f"Metadata-Version: 2.4\nName: x\nVersion: 1\n{metadata}\n"
        )
        made.writestr("x-1.dist-info/LICENSE", "text")
    return out.getvalue()
