"""Reports as agents send them: crawl logs with whole header blocks, and lists of found hosts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from benchmarks.manager.data import ROUND
from shared.wire.crawl_log import LogName, encode_name, request_line
from shared.wire.gzip_stream import compress

__all__ = ["found_hosts", "log_body", "renamed"]

HEADERS: Final = (
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 22 Nov 2026 08:%02d:%02d GMT\r\n"
    "Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"
    "Last-Modified: Tue, %02d Oct 2026 11:%02d:%02d GMT\r\nConnection: keep-alive\r\n"
    'Vary: Accept-Encoding\r\nETag: "%08x-%x"\r\nContent-Encoding: gzip\r\n'
    "Accept-Ranges: bytes\r\n\r\n"
)
MISSING: Final = (
    "HTTP/1.1 404 Not Found\r\nServer: Apache/2.4.62 (Debian)\r\n"
    "Date: Sun, 22 Nov 2026 08:%02d:%02d GMT\r\nContent-Length: 274\r\n"
    "Content-Type: text/html; charset=iso-8859-1\r\n\r\n"
)


def log_body(agent: str, minute: str, units: range, lines: int, now_ms: int, seed: int) -> bytes:
    """Return M3: lines of pages of an agent's units, in turns as a crawl has them.

    One of twenty is 404, one of a hundred has no answer, one of ten has a query.
    """
    gzip = b"".join(compress(_lines(units, lines, now_ms, random.Random(seed))))
    return encode_name(LogName(agent, minute)) + gzip


def renamed(body: bytes, agent: str, minute: str) -> bytes:
    """Return the same M3 under another name: to the manager another report."""
    return encode_name(LogName(agent, minute)) + body[body.index(b"\n") + 1 :]


def _lines(units: range, lines: int, now_ms: int, chance: random.Random) -> Iterator[bytes]:
    yield f"#Round={ROUND}\n#MaxTransfer=0\n#Since={now_ms - 3_600_000}\n#Until={now_ms}\n".encode()
    for number in range(lines):
        host = f"http://h{units[number % len(units)]}.bench.example"
        page = number // len(units)
        what = chance.random()
        size, ms = chance.randint(300, 60_000), chance.randint(8, 900)
        if not page:
            url = f"{host}/robots.txt"
        elif what < 0.1:
            url = f"{host}/list.cgi?page={page}&sort=date"
        else:
            url = f"{host}/department{page % 7}/people/page-{page:06d}.html"
        minute, second = chance.randrange(60), chance.randrange(60)
        if what > 0.99:
            head, size = "", 0
        elif what > 0.94:
            head = MISSING % (minute, second)
        else:
            day, tag = chance.randint(1, 31), chance.getrandbits(32)
            head = HEADERS % (minute, second, size, day, second, minute, tag, size)
        yield request_line(url, 210 + len(url), size, ms, head.encode())


def found_hosts(first: int, hosts: int) -> bytes:
    """Return M2: hosts that are not known yet, each with the page that links to it."""
    return b"".join(
        compress(
            f"http://www.found{number}.example/\thttp://h1.bench.example/links-{number}.html\n".encode()
            for number in range(first, first + hosts)
        )
    )
