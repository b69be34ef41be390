"""Webs whose answers, and the page workers' results, are made before the crawl begins.

A prepared web is a dictionary of types that `marshal` can write: so that reading it costs little.
"""

from __future__ import annotations

import marshal
from pathlib import Path
from typing import Any, Final

from agent.adapters.pages.wire import result_of
from agent.modules.limits import PageLimits
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched
from benchmarks.crawl.web import DOCUMENTATION, PAGE_BYTES
from shared.archive.capture import Capture
from shared.urls import host_of
from simweb.sites.builder import build_world
from simweb.sites.options import WorldOptions
from simweb.sites.pages import leaf_html, page_html
from simweb.sites.robots import ROBOTS_KINDS, robots_text

__all__ = ["Answer", "documentation", "prepare", "simulated"]

HOSTS: Final = 300
_HEADER: Final = (
    b"HTTP/1.1 %b\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 19:00:00 GMT\r\n"
    b"Content-Type: %b\r\nContent-Length: %d\r\nLast-Modified: Sat, 21 Nov 2026 10:00:00 GMT"
    b'\r\nConnection: keep-alive\r\nETag: "65f0-2b"\r\nAccept-Ranges: bytes\r\n\r\n'
)
_MISSING: Final = (
    b"<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found"
    b"</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
)
_TYPES: Final = {
    ".css": b"text/css",
    ".png": b"image/png",
    ".gif": b"image/gif",
    ".js": b"application/javascript",
    ".txt": b"text/plain",
}

Files = dict[str, bytes]
"""Bodies by canonical URL."""

Answer = tuple[bytes, bytes, bytes]
"""Header, body, and what a page worker writes about them."""


def simulated(pages: int) -> Files:
    """Return the simulated web of the whole crawl's benchmark, so many pages of it."""
    options = WorldOptions(
        hosts=HOSTS,
        pages_mean=pages / HOSTS,
        pages_sigma=0.0,
        page_bytes=PAGE_BYTES,
        bytes_sigma=0.0,
        names_per_address=1,
        trouble_scale=0.0,
        robots=tuple(f"{kind}={int(kind == 'disallow')}" for kind in ROBOTS_KINDS),
    )
    world = build_world(options)
    files: Files = {}
    for host in world.hosts:
        site, top = world.site(host), f"http://{host.name}"
        files[f"{top}/robots.txt"] = robots_text(host.robots, 0.0, "").encode()
        for page in range(site.pages):
            files[top + site.path_of(page)] = page_html(world, host, page, 0, 80)
        for leaf in site.leaves():
            files[top + leaf.path] = leaf_html(host, leaf)
    return files


def documentation() -> Files:
    """Return the documentation that is installed; empty: there is none."""
    files: Files = {}
    for number, place in enumerate(DOCUMENTATION.values()):
        folder = (Path("/usr/share/doc") / place).resolve()
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix not in (".pdf", ".gz"):
                below = str(path.relative_to(folder)).replace(" ", "%20")
                body = path.read_bytes()
                files[f"http://doc{number}.example/{below}"] = body
                if path.name == "index.html":
                    files[f"http://doc{number}.example/{below.removesuffix('index.html')}"] = body
    return files


def prepare(files: Files, path: Path) -> None:
    """Write a web of such files: what is asked for, and what becomes of it."""
    answers: dict[str, Answer] = {}
    hosts = {host_of(url) for url in files}
    missing: set[str] = set()
    for url, body in files.items():
        answers[url], links = _answer(url, b"200 OK", body)
        missing.update(link for link in links if link not in files and host_of(link) in hosts)
    for host in hosts:
        missing.add(host.replace(":80/", "/robots.txt"))
    for url in missing - files.keys():
        answers[url], _ = _answer(url, b"404 Not Found", _MISSING)
    with path.open("wb") as file:
        marshal.dump({"hosts": sorted(hosts), "answers": answers}, file)


def _answer(url: str, status: bytes, body: bytes) -> tuple[Answer, tuple[str, ...]]:
    dot = url[url.rfind("/") :].rfind(".")
    ending = "" if dot < 0 else url[url.rfind("/") :][dot:]
    kind = _TYPES.get(ending, b"text/html") if body is not _MISSING else b"text/html"
    header = _HEADER % (status, kind, len(body))
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    capture = Capture(url, 1_700_000_000_000, request, header, body, "127.0.0.7")
    rules = url.endswith("/robots.txt")
    page = Fetched(capture, url, host_of(url), "127.0.0.7", 3, 2, 0, is_rules=rules)
    work: Any = work_on(page, PageLimits("PRS"))
    return (header, body, b"".join(result_of(work))), work.links.urls
