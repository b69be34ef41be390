"""Bodies of hostile and of honest agents."""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from typing import Final

from shared.wire.crawl_log import LogLine, encode

__all__ = [
    "bomb_of_comments",
    "bomb_of_log",
    "false_message",
    "false_sync",
    "found_hosts",
    "large_log",
    "name_line",
    "small_log",
]

MB: Final = 1000**2
MEMBER_BYTES: Final = MB


def name_line(agent: str, number: int) -> bytes:
    """Return the first line of M3; number: another one makes another report."""
    return f"{agent}.2026{1 + number // 28 % 12:02d}{1 + number % 28:02d}0800\n".encode()


@cache
def bomb_of_comments(decoded_bytes: int, line: bytes = b"#\n") -> bytes:
    """Return gzip of equal lines, a thousandth as long as what it decodes to.

    It is made of members, which together are one body (RFC 1952, 2.2).
    """
    member = gzip.compress(line * (MEMBER_BYTES // len(line)), 9)
    return member * -(-decoded_bytes // MEMBER_BYTES)


def bomb_of_log(agent: str, number: int, decoded_bytes: int) -> bytes:
    """Return M3 of equal comment lines."""
    return name_line(agent, number) + bomb_of_comments(decoded_bytes)


@cache
def _slow_lines(lines: int) -> bytes:
    """Return gzip of lines that differ and are read one by one: each has an escape of a byte."""
    chance = random.Random(lines)
    return gzip.compress(
        b"".join(
            b'"http://h%d.example/p%d?\\x41",1,2,3,"HTTP/1.1 200 OK\\r\\nX: \\x80%d\\r\\n"\n'
            % (chance.randrange(1000), number, chance.getrandbits(40))
            for number in range(lines)
        ),
        6,
    )


def large_log(agent: str, number: int, lines: int) -> bytes:
    """Return M3 that is within every limit and takes long to read."""
    return name_line(agent, number) + _slow_lines(lines)


def small_log(agent: str, number: int) -> bytes:
    """Return M3 of an honest agent: a hundred pages."""
    lines = [
        LogLine(f"http://www.site.example/page-{page}.html", 300, 5000 + page, 20,
                b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\n\r\n")
        for page in range(number, number + 100)
    ]  # fmt: skip
    return name_line(agent, number) + b"".join(encode(lines))


def found_hosts(number: int) -> bytes:
    """Return M2 of an honest agent: ten hosts."""
    return gzip.compress(
        b"".join(b"http://www.found-%d-%d.example/\n" % (number, each) for each in range(10))
    )


@cache
def false_message(size: int) -> bytes:
    """Return JSON of about a size that has a mistake in each nine bytes."""
    return b'{"agent":"a","units":[' + b'{"a":[]},' * (size // 9) + b'{"a":[]}]}'


@cache
def false_sync(agent: str) -> bytes:
    """Return a sync of 5 MB that has a mistake in each of 80,000 places."""
    mistaken = [{"host": 1, "addresses": ["x" * 60] * 60}] * 1300
    said = {"agent": agent, "boot_id": "b", "sequence": 1, "version": "1", "clock_ms": 5,
            "state": "starting", "addresses": mistaken}  # fmt: skip
    return json.dumps(said).encode()
