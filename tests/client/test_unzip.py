"""A zip of zips becomes the source's layout, and nothing else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.errors import DamagedError
from client.folder import Folder
from client.unzip import unpack

ETL = "html/6700/9e/www.etl.go.jp:80.zip"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """Return a folder to lay out in."""
    with Folder(tmp_path / "taken") as made:
        yield made


def packed(folder: Folder, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    path = folder.parts / "x"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as outer:
        for name, content in members.items():
            outer.writestr(name, content)
    path.write_bytes(made.getvalue())
    return path


def lay_out(folder: Folder, path: Path) -> list[str]:
    return [str(place) for place in unpack(folder, path, lambda: None)]


def files(folder: Folder) -> list[str]:
    return [
        str(place) for top in (".",) for place in folder.files(top) if ".prs-get" not in place.parts
    ]


def test_it_is_laid_out(folder: Folder) -> None:
    """Each host lies where the source's sums say; again it replaces what was there."""
    assert lay_out(folder, packed(folder, {ETL: b"one"})) == [ETL]
    assert lay_out(folder, packed(folder, {ETL: b"two"})) == [ETL]
    assert (folder.path / ETL).read_bytes() == b"two"
    assert files(folder) == [ETL]


@pytest.mark.parametrize(
    "name", ["../x.zip", "/x.zip", "html/6700/9e/../../../../x.zip", "x", "html/0/0/a:80.zip"]
)
def test_one_bad_name_and_nothing_is_written(folder: Folder, name: str) -> None:
    """Not even the good members before it."""
    with pytest.raises(DamagedError, match="nothing of it was written"):
        lay_out(folder, packed(folder, {ETL: b"one", name: b"bad"}))
    assert files(folder) == []


def test_bombs(folder: Folder) -> None:
    """A member that would grow is refused before a byte of it is unpacked."""
    path = packed(folder, {ETL: b"0" * 10_000_000}, zipfile.ZIP_DEFLATED)
    with pytest.raises(DamagedError, match="claims 10000000"):
        lay_out(folder, path)
    assert files(folder) == []


@pytest.mark.parametrize("at", [40, 60, -30, -5])
def test_damage(folder: Folder, at: int) -> None:
    """A changed byte leaves no file under its name."""
    path = packed(folder, {ETL: b"one" * 30})
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)
    try:
        lay_out(folder, path)
    except DamagedError:
        assert files(folder) == []
    else:
        assert (folder.path / ETL).read_bytes() == b"one" * 30


def test_no_zip(folder: Folder) -> None:
    """A page that calls itself zip."""
    path = folder.parts / "x"
    path.write_bytes(b"<html>")
    with pytest.raises(DamagedError, match="cannot be read"):
        lay_out(folder, path)
