"""A second round of a site that has hardly changed: little is sent, little is stored."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from shared.archive.capture import IDENTICAL_PAYLOAD, NOT_MODIFIED
from shared.archive.reader import iter_captures
from tests.agent.app.scene import Scene, scene
from tools.demo.system import BIN

pytestmark = pytest.mark.e2e


def site(folder: Path) -> Path:
    """Make a site: two pages, of which one leads to a third, and pictures."""
    folder.mkdir()
    (folder / "index.html").write_text('<a href="same.html">s</a><a href="other.html">o</a>')
    (folder / "same.html").write_text('<img src="a.png"><img src="b.png"><a href="deep.html">d</a>')
    (folder / "other.html").write_text("before")
    (folder / "deep.html").write_text("deep")
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(random.Random(name).randbytes(20_000))
    return folder


def kinds(it: Scene) -> dict[str, list[str]]:
    """Return for each path how each of its captures was stored, in order."""
    found: dict[str, list[str]] = {}
    for path in sorted((it.home / "crawl" / "segments").glob("*.warc.gz*")):
        with path.open("rb") as file:
            for stored in iter_captures(file):
                capture = stored.capture
                if "/robots" not in capture.url:
                    kind = capture.revisit.profile if capture.revisit else "whole"
                    found.setdefault(capture.url.rpartition("/")[2], []).append(kind)
    return found


def crawl(it: Scene, round_number: int) -> None:
    it.manager.round = round_number
    it.give_all()
    assert it.once() == 0, it.said()


def test_what_did_not_change_is_not_stored_again(tmp_path: Path) -> None:
    """Pictures are not even sent; pages are, for their links, and those that are the same are
    stored as such; what has changed is stored whole. All of it is valid WARC."""
    folder = site(tmp_path / "site")
    with scene(tmp_path, hosts=0, folder=[f"docs={folder}"], delay_ms=0.0) as it:
        crawl(it, 1)
        assert set(map(tuple, kinds(it).values())) == {("whole",)}
        (folder / "other.html").write_text("after")
        (folder / "b.png").write_bytes(random.Random("another").randbytes(20_001))
        crawl(it, 2)
        assert kinds(it) == {
            "": ["whole", IDENTICAL_PAYLOAD],
            "same.html": ["whole", IDENTICAL_PAYLOAD],
            "other.html": ["whole", "whole"],
            "deep.html": ["whole", IDENTICAL_PAYLOAD],
            "a.png": ["whole", NOT_MODIFIED],
            "b.png": ["whole", "whole"],
        }
        statuses = Counter((one["path"], one["status"]) for one in it.requests())
        assert statuses["/a.png", 304] == statuses["/b.png", 200] - 1 == 1
        crawl(it, 3)
        assert kinds(it)["b.png"] == ["whole", "whole", NOT_MODIFIED]
        for segment in (it.home / "crawl" / "segments").glob("*.warc.gz"):
            for tool in ("warcio", "fastwarc"):
                words = [str(BIN / tool), "check", str(segment)]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{tool}: {done.stdout}{done.stderr}"


@pytest.mark.slow
def test_all_may_be_stored_whole(tmp_path: Path) -> None:
    """`disk.full_capture_days = 0`: every capture has its body."""
    folder = site(tmp_path / "site")
    with scene(tmp_path, hosts=0, folder=[f"docs={folder}"], delay_ms=0.0) as it:
        for round_number in (1, 2):
            it.manager.round = round_number
            it.give_all()
            assert it.once("--set", "disk.full_capture_days=0") == 0, it.said()
        assert set(map(tuple, kinds(it).values())) == {("whole", "whole")}
