"""Beyond 4 GiB: a segment, a zip in a zip; others find no error, memory stays bounded."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from manager.clock import wall_clock_ms
from manager.operations.segments.segment_outcomes import Arrived
from shared.archive.encode import encode_capture, encode_warcinfo
from tests.e2e.manager_process import ManagerProcess, running_manager
from tests.e2e.third_party import new_token
from tests.manager.archived import INFO, collected, hold, page, revisit_of
from tests.manager.running import START_MS, running
from tests.programs import program

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(3600)]

GIB = 2**30
BODY = 60 * 2**20
PAGES = 76  # of BODY: 4.45 GiB
ROOM = 16 * GIB
MEMORY_MB = 600  # some copies of one capture, which has 60 MB; none of what was made before


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with room for what this test writes, which goes with it."""
    if shutil.disk_usage(tmp_path).free < ROOM:
        pytest.skip(f"less than {ROOM // GIB} GiB are free in {tmp_path}")
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def most_mb(manager: ManagerProcess) -> float:
    status = Path(f"/proc/{manager.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+)", status)[0]) / 1000


def take(manager: ManagerProcess, token: str, path: str, target: Path, **asked: str) -> None:
    """Take something into a file."""
    fields = {"Authorization": f"Bearer {token}"}
    with (
        httpx.Client(base_url=manager.url, headers=fields, timeout=600) as client,
        client.stream("GET", path, params=asked) as answer,
        target.open("wb") as file,
    ):
        assert answer.status_code == 200
        for piece in answer.iter_raw():
            file.write(piece)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_a_zip_of_a_host_beyond_4_gib(folder: Path) -> None:
    """76 pages of 60 MB that no one can compress: the zip of the host, and the zip around it."""
    data = folder / "data"
    data.mkdir()
    with running(data) as opened:
        agent = opened.agent()
        hold(opened, agent, "http://www.example.jp:80/")
        body = os.urandom(BODY)
        first = page("http://www.example.jp/0", body, mime="image/png")
        collected(opened, agent, [first], "first.warc.gz")
        opened.clock.advance(3600)
        # One body under many names: what counts is what comes out.
        others = [
            revisit_of(first, START_MS + number, url=f"http://www.example.jp/{number}")
            for number in range(1, PAGES)
        ]
        collected(opened, agent, others, "others.warc.gz")
    target = folder / "pages.zip"
    with running_manager(data) as manager:
        token = new_token(data)
        before = most_mb(manager)
        take(manager, token, "/api/v1/pages.zip", target, host="www.*")
        grown = most_mb(manager) - before
    print(f"pages.zip of {target.stat().st_size / GIB:.2f} GiB: {grown:.0f} MB more memory")
    assert target.stat().st_size > 4 * GIB
    assert grown < MEMORY_MB
    shutil.rmtree(data)
    # Info-ZIP reads and checks every byte of the outer one, Python the inner one's.
    subprocess.run([program("unzip"), "-tqq", target], check=True, capture_output=True)
    with zipfile.ZipFile(target) as outer:
        (name,) = outer.namelist()
        inner = folder / "inner.zip"
        with outer.open(name) as packed, inner.open("wb") as file:
            shutil.copyfileobj(packed, file, 2**20)
    target.unlink()
    subprocess.run([program("unzip"), "-tqq", inner], check=True, capture_output=True)
    with zipfile.ZipFile(inner) as read:
        entries = {each.filename: each for each in read.infolist()}
        assert len(entries) == 2 * PAGES + 3
        last = entries[f"data/{PAGES}"]
        assert last.header_offset > 4 * GIB
        assert read.read(last) == body


def test_a_segment_beyond_4_gib(folder: Path) -> None:
    """It is taken, given away, resumed behind the limit, and its last capture is found."""
    data, name = folder / "data", "large.warc.gz"
    data.mkdir()
    with running(data) as opened:
        agent = opened.agent()
        hold(opened, agent, "http://www.example.jp:80/")
        opened.clock.now_ms = wall_clock_ms()
        source = folder / name
        with source.open("wb") as file:
            file.write(encode_warcinfo(INFO, name, START_MS))
            image = page("http://www.example.jp/0", os.urandom(BODY), mime="image/png")
            one = encode_capture(image).data
            for _ in range(PAGES):
                file.write(one)
            file.write(encode_capture(page("http://www.example.jp/last", b"the last")).data)
        size, digest = source.stat().st_size, _digest(source)
        assert size > 4 * GIB
        came = Arrived(source, name, digest, size)
        done = opened.manager.archive.intake.accept(agent.identity, came)
        assert "77 captures" in str(done.said)
    path = "/api/v1/segments/large-a.example.warc.gz"
    with running_manager(data) as manager:
        token = new_token(data)
        before = most_mb(manager)
        target = folder / "got.warc.gz"
        take(manager, token, path, target)
        assert (target.stat().st_size, _digest(target)) == (size, digest)
        with target.open("rb") as got:
            got.seek(size - 50_000)
            tail = got.read()
        target.unlink()
        fields = {"Authorization": f"Bearer {token}", "Range": f"bytes={size - 50_000}-"}
        with httpx.Client(base_url=manager.url, timeout=600) as client:
            answer = client.get(path, headers=fields)
            assert (answer.status_code, answer.content) == (206, tail)
        take(manager, token, "/api/v1/pages.zip", target, url="http://www.example.jp/last")
        grown = most_mb(manager) - before
    print(f"segment of {size / GIB:.2f} GiB: {grown:.0f} MB more memory")
    assert grown < MEMORY_MB
    with zipfile.ZipFile(target) as outer:
        (inside,) = outer.namelist()
        with outer.open(inside) as host, zipfile.ZipFile(host) as read:
            assert read.read("data/1") == b"the last"
