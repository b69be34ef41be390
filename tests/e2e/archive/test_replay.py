"""Documentation pages, crawled by `prs run --once` and replayed by pywb: whole and styled.

pywb has an environment of its own, which `make test-packages ARGS=all` makes.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.app.startup.settings_mapping import page_limits
from agent.modules.page.work import work_on
from agent.pipeline.link_kinds import EMBEDDED
from agent.pipeline.messages.pages import Fetched
from agent.settings import Settings
from shared.archive.capture import Capture
from shared.archive.content_coding import decoded_body
from shared.archive.reader import iter_captures
from shared.urls import canonical, host_of
from tests.agent.app.scene import scene
from tests.programs import NOT_INSTALLED

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

PYWB = Path(__file__).parents[3] / "build" / "pywb" / "bin"
GIT = Path("/usr/share/doc/git/html")
REPLAYED = re.compile(r"\d{14}[a-z]{2}_/")
"""Begin of a replayed URL behind the collection's; pywb's own scripts lie elsewhere."""

LIMITS = page_limits(Settings(home=Path()))
SITE = {
    "index.html": '<link rel=stylesheet href="_static/all.css"><img src=_static/logo.svg>'
    '<a href="guide/first.html">next</a><p style="background: url(_static/line.png)">',
    "guide/first.html": '<style>@import "../_static/guide.css";</style>'
    '<img srcset="a.png 1x, b.png 2x">'
    '<a href="../index.html">back</a>',
    "_static/all.css": '@import url("theme.css"); @font-face { src: url(fonts/a.woff2) }',
    "_static/theme.css": "body { background: url('back ground.png') }",
    "_static/guide.css": ".x { background: image-set('c.png' 1x) }",
    "_static/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="dot.png"/></svg>',
}
FILES = (
    *("_static/line.png", "_static/dot.png", "_static/c.png", "_static/back ground.png"),
    *("_static/fonts/a.woff2", "guide/a.png", "guide/b.png"),
)


def pywb(command: str) -> str:
    """Return the path of a command of pywb; skip the calling test without it."""
    if not (PYWB / command).exists():
        pytest.skip(f"{NOT_INSTALLED}pywb; to run this test: make test-packages ARGS=all")
    return str(PYWB / command)


def small_site(folder: Path) -> Path:
    """Write a documentation site with each way in which a style leads on."""
    for name, text in SITE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + name.encode())
    return folder


def git_manual(folder: Path) -> Path:
    """Copy a part of git's manual: pages of asciidoc, whose styles are within them."""
    if not GIT.is_dir():
        pytest.skip(f"{NOT_INSTALLED}{GIT}; to run this test: make test-packages ARGS=all")
    folder.mkdir()
    styles = [path.name for path in GIT.glob("*.css")]
    for name in ("git.html", "git-add.html", "git-commit.html", "user-manual.html", *styles):
        shutil.copy(GIT / name, folder / name)
    shutil.copy(GIT / "git.html", folder / "index.html")
    return folder


class Replay:
    """A pywb that serves segments as the collection `docs`."""

    def __init__(self, start: str) -> None:
        self.start = start

    def get(self, url: str) -> tuple[int, bytes, str]:
        """Return status, body and media type."""
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return answer.status, answer.read(), answer.headers.get_content_type()
        except urllib.error.HTTPError as error:
            return error.code, b"", ""


@contextmanager
def replayed(folder: Path, segments: list[Path]) -> Iterator[Replay]:
    """Serve segments by pywb, from a folder of its own."""
    manager, server = pywb("wb-manager"), pywb("wayback")
    folder.mkdir()
    for words in (["init", "docs"], ["add", "docs", *map(str, segments)]):
        subprocess.run([manager, *words], cwd=folder, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [server, "-b", "127.0.0.1", "-p", str(port)], cwd=folder, stdout=log, stderr=log
    )
    try:
        replay = Replay(f"http://127.0.0.1:{port}/docs/")
        wait_for_port(port, process)
        yield replay
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server takes connections."""
    until = time.monotonic() + 600
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"pywb does not serve: exit {process.poll()}")


def sealed(kept: Path, folder: Path) -> list[Path]:
    """Return an agent's segments under the names of whole ones: the last is still open."""
    found = []
    for path in sorted(kept.glob("*.warc.gz*")):
        if path.name.endswith((".warc.gz", ".warc.gz.open")):
            found.append(folder / path.name.removesuffix(".open"))
            shutil.copy(path, found[-1])
    return found


@pytest.mark.parametrize("make", [small_site, git_manual])
def test_documentation_is_replayed_whole_and_styled(make: Any, tmp_path: Path) -> None:
    """Each page as it came, and all that a browser loads with it, from the archive alone."""
    pywb("wayback")
    site = make(tmp_path / "site")
    options: dict[str, Any] = {
        "hosts": 0,
        "seeds": 0,
        "regions": 1,
        "delay_ms": 0.0,
        "folder": [f"docs={site}"],
    }
    with scene(tmp_path / "agent", **options) as it:
        it.give_all()
        assert it.once(seconds=300.0) == 0, it.said()
        segments = sealed(it.home / "crawl" / "segments", tmp_path)
    captures = {}
    for segment in segments:
        with segment.open("rb") as file:
            for stored in iter_captures(file):
                if stored.capture.status == 200 and "/robots" not in stored.capture.url:
                    captures[stored.capture.url] = stored.capture
    assert len(captures) >= 4
    loaded: set[str] = set()
    with replayed(tmp_path / "pywb", segments) as replay:
        for url, capture in captures.items():
            status, body, _ = replay.get(f"{replay.start}20260101000000id_/{url}")
            assert status == 200, url
            assert body == decoded_body(capture.response_header, capture.body), url
        for url, capture in captures.items():
            if capture.media_type == "text/html":
                shown = f"{replay.start}20260101000000mp_/{url}"
                loaded |= everything_loaded(replay, shown)
    if make is small_site:
        names = {one.rpartition("/")[2] for one in loaded}
        assert {
            "all.css",
            "theme.css",
            "guide.css",
            "logo.svg",
            "a.woff2",
            "back%20ground.png",
        } <= names


def everything_loaded(replay: Replay, page: str) -> set[str]:
    """Fetch a replayed page and what a browser loads with it; all of it must be there."""
    seen: set[str] = set()
    waiting = [page]
    while waiting:
        url = waiting.pop()
        status, body, media_type = replay.get(url)
        assert status == 200, url
        for link in loaded_with(url, body, media_type):
            if REPLAYED.match(link.removeprefix(replay.start)) and link not in seen:
                seen.add(link)
                waiting.append(link)
    return seen


def loaded_with(url: str, body: bytes, media_type: str) -> list[str]:
    """Return what a browser loads with a page or a style sheet, as our own reader finds it."""
    url = canonical(url)
    header = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n".encode()
    capture = Capture(url, 0, b"", header, body)
    links = work_on(Fetched(capture, url, host_of(url), "", 0, 0, 0), LIMITS).links
    return [link for link, kind in zip(links.urls, links.kinds, strict=True) if kind & EMBEDDED]
