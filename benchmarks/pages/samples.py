"""The pages of the benchmark, as the crawl would have fetched them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from agent.pipeline.messages.pages import Fetched
from benchmarks.crawl.web import DOCUMENTATION, PAGE_BYTES
from shared.archive.capture import Capture
from simweb.sites.builder import build_world
from simweb.sites.options import WorldOptions
from simweb.sites.pages import page_html

__all__ = ["PAGES", "real", "simulated"]

PAGES: Final = 300
_HEADER: Final = (
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 19:00:00 GMT\r\n"
    b"Content-Type: text/html\r\nContent-Length: %d\r\nLast-Modified: Sat, 21 Nov 2026 10:00:00 GMT"
    b'\r\nConnection: keep-alive\r\nETag: "65f0-2b"\r\nAccept-Ranges: bytes\r\n\r\n'
)
_REQUEST: Final = (
    b"GET %b HTTP/1.1\r\nHost: %b\r\nUser-Agent: PRS/0.1.0 (a@example.org)\r\nAccept: */*\r\n"
    b"Accept-Encoding: gzip, deflate\r\nFrom: a@example.org\r\n\r\n"
)


def simulated() -> list[Fetched]:
    """Return pages of the simulated web."""
    options = WorldOptions(
        hosts=30,
        pages_mean=PAGES / 30,
        pages_sigma=0.0,
        page_bytes=PAGE_BYTES,
        bytes_sigma=0.0,
        trouble_scale=0.0,
    )
    world = build_world(options)
    return [
        _fetched(host.name, world.site(host).path_of(page), page_html(world, host, page, 0, 80))
        for host in world.hosts
        for page in range(host.pages)
    ]


def real() -> list[Fetched]:
    """Return pages of documentation, drawn from all that is installed; none: it is not."""
    folders = [Path("/usr/share/doc") / place for place in DOCUMENTATION.values()]
    found = [
        (folder, path)
        for folder in folders
        for path in sorted(folder.resolve().rglob("*.htm*"))
        if path.is_file()
    ]
    chosen = random.Random(1).sample(found, min(PAGES, len(found)))
    return [
        _fetched(
            f"doc{folders.index(folder)}.example",
            f"/{path.relative_to(folder.resolve())}".replace(" ", "%20"),
            path.read_bytes(),
        )
        for folder, path in chosen
    ]


def _fetched(name: str, path: str, body: bytes) -> Fetched:
    url = f"http://{name}{path}"
    request = _REQUEST % (path.encode(), name.encode())
    capture = Capture(url, 1_700_000_000_000, request, _HEADER % len(body), body, "127.0.0.7")
    return Fetched(capture, url, f"http://{name}:80/", "127.0.0.7", 3, 2, 0)
