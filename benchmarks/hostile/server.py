"""All hosts of the benchmark in one process: each has a separate loopback address, one port.

    python -m benchmarks.hostile.server PORT GOOD PAGES LOG [HOSTILE...]

GOOD hosts of PAGES pages each, and the hostile ones whose names hold one of the words HOSTILE (""
is in each name). Each request is a line of LOG: when (monotonic seconds), at which address, for
what. Prints `ready` when it listens.
Only loopback is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from benchmarks.hostile.bodies import body_sites
from benchmarks.hostile.slow import BYTE_S, bytes_at_once, slow_sites
from benchmarks.hostile.traps import Site, page_of, trap_sites

__all__ = ["good_address", "good_paths", "hostile_addresses"]

NO_RULES = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
FILLER = b"<p>" + b"The quick brown fox jumps over the lazy dog. " * 200
ENDLESS_S = 0.2


def good_address(number: int) -> str:
    """Return the address of a good host, from 0."""
    return f"127.30.{number // 250}.{number % 250 + 1}"


def good_paths(pages: int) -> list[str]:
    """Return the paths of a good host's pages."""
    return ["/", *(f"/page{number}.html" for number in range(1, pages))]


def hostile_addresses(words: Iterable[str] = ("",)) -> dict[str, tuple[str, Site]]:
    """Return the name and site of each hostile host whose name holds a word, by address."""
    words = tuple(words)
    return {
        f"127.31.{number // 250}.{number % 250 + 1}": (name, site)
        for number, (name, site) in enumerate((*trap_sites(), *body_sites(), *slow_sites()))
        if any(word in name for word in words)
    }


class _Hosts:
    def __init__(self, good: int, pages: int, hostile: list[str], log: TextIO) -> None:
        self._good = {good_address(number) for number in range(good)}
        self._pages = _good_pages(pages)
        self._hostile = hostile_addresses(hostile)
        self._log = log

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        address = writer.get_extra_info("sockname")[0]
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            while await self._one(address, reader, writer):
                pass
        writer.close()

    async def _one(
        self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        request = await reader.readuntil(b"\r\n\r\n")
        target = request.split(b" ", 2)[1].decode("latin-1")
        self._log.write(f"{time.monotonic():.4f} {address} {target[:200]}\n")
        if address in self._good:
            writer.write(self._pages.get(target, NO_RULES))
            await writer.drain()
            return True
        name, site = self._hostile.get(address, ("", lambda _: NO_RULES))
        answer = site(target)
        if target == "/robots.txt" and "robots.txt" not in name:
            answer = NO_RULES
        at_once = bytes_at_once(name, target, answer)
        writer.write(answer[:at_once])
        await writer.drain()
        for byte in answer[at_once:]:
            await asyncio.sleep(BYTE_S)
            writer.write(bytes([byte]))
            await writer.drain()
        while "endless" in name and target != "/robots.txt":
            writer.write(b"<p>and so on")
            await writer.drain()
            await asyncio.sleep(ENDLESS_S)
        return False


def _good_pages(pages: int) -> dict[str, bytes]:
    paths = good_paths(pages)
    found = {}
    for number, path in enumerate(paths):
        linked = {0, (number + 1) % pages, *range(3 * number + 1, min(3 * number + 4, pages))}
        links = "".join(f'<a href="{paths[one]}">page {one}</a>' for one in sorted(linked))
        found[path] = page_of(f"<title>{number}</title>{links}".encode() + FILLER)
    return found


async def _main(port: int, good: int, pages: int, log: Path, hostile: list[str]) -> None:
    with log.open("w", buffering=1) as lines:
        hosts = _Hosts(good, pages, hostile, lines)
        # All of 127.0.0.0/8 can be bound only so; a client at another address finds no host.
        server = await asyncio.start_server(hosts.serve, "0.0.0.0", port, backlog=1000)
        print("ready", flush=True)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    port, good, pages, log, *hostile = sys.argv[1:]
    asyncio.run(_main(int(port), int(good), int(pages), Path(log), hostile))
