"""`prsm export`: all files or none, and never over somebody else's."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from manager.cli import main
from manager.cli.options import Target
from tests.manager.api.measured import A, B, crawled
from tests.manager.api.test_exports import GOLDEN
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running


def contents(folder: Path) -> dict[str, str]:
    """Return all files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("kind", GOLDEN)
def test_the_folder_is_that_of_the_source(
    prsm: Prsm, manager: Running, tmp_path: Path, kind: str
) -> None:
    """The files and nothing else; `agent:cost:units` is printed, as distribution.pl does."""
    crawled(manager)
    folder = tmp_path / "out" / "deep"
    result = prsm("export", kind, str(folder))
    wanted = dict(GOLDEN[kind])
    assert result.stdout == wanted.pop("agents.txt", "")
    assert contents(folder) == wanted


def test_what_is_there_is_not_written_over(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Unless it is asked for; files of nobody here stay, and are named."""
    crawled(manager)
    foreign = tmp_path / "distance" / A
    foreign.parent.mkdir()
    foreign.write_text("mine\n")
    (tmp_path / "distance" / "prs.old.example").write_text("old\n")
    before = contents(tmp_path / "distance")
    refused = prsm("export", "distances", str(tmp_path), code=1)
    assert "--replace" in refused.stderr
    assert contents(tmp_path / "distance") == before
    result = prsm("export", "distances", str(tmp_path), "--replace")
    assert "prs.old.example" in result.stderr
    assert contents(tmp_path / "distance") == {
        A: GOLDEN["distances"][f"distance/{A}"],
        B: GOLDEN["distances"][f"distance/{B}"],
        "prs.old.example": "old\n",
    }
    assert not list(tmp_path.glob(".prsm-export*"))


def test_the_answer_as_json(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """For programs: what was written, and the lines of the agents."""
    crawled(manager)
    said = json.loads(prsm("export", "lists", str(tmp_path / "out"), "--json").stdout)
    assert said == {
        "written": [f"random/{A}", f"random/{B}"],
        "agents": [f"{A}:110.000:2", f"{B}:220.000:2"],
        "others": [],
    }


def test_a_folder_that_cannot_be_written_is_said(prsm: Prsm, tmp_path: Path) -> None:
    """A file where the folder of the source should be."""
    (tmp_path / "document.txt").mkdir()
    assert "document.txt" in prsm("export", "volumes", str(tmp_path), "--replace", code=1).stderr


def archive(*names: str, cut: int = 0) -> bytes:
    """Return a tar archive of small files, without its last bytes."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 5
            tar.addfile(info, io.BytesIO(b"12345"))
    return made.getvalue()[: -cut or None]


@pytest.mark.parametrize(
    "body",
    [
        archive("../evil"),
        archive("random/../../evil"),
        archive("/tmp/evil"),
        archive("random/a", "random/.."),
        archive("random/a", "random/b", cut=10_240 - 1_539),
        b"no archive at all",
    ],
)
def test_a_bad_archive_leaves_nothing(tmp_path: Path, body: bytes) -> None:
    """Names that lead elsewhere, or an end that is missing: refused as a whole."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    place = Target(tmp_path / "data", None, transport)
    folder = tmp_path / "out"
    result = CliRunner().invoke(main, ["export", "lists", str(folder)], obj=place)
    assert result.exit_code == 1, result.output
    assert contents(tmp_path) == {}
