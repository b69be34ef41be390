"""The longest time for which one message holds the event loop of a manager, by its content.

    python -m benchmarks.senders.messages [--sizes 16000,1000000]

In this process: a manager on SQLite, its application, and worker processes for large messages. A
clock beside the request notes the longest time in which nothing else had a turn, of the processor
and not of the day, so that who else uses it does not count; of five tries the best. The columns:
what a stranger's message costs, and what an administrator's does, who may send a megabyte.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
from starlette.types import ASGIApp

from manager.app.web.web import build_app, wrapped
from manager.intake.workers.body_workers import BodyWorkers, Pool
from tests.manager.running import running

PATH: Final = "/api/v1/hosts/pin-many"
TRIES: Final = 5
JSON: Final = {"content-type": "application/json"}
BEGIN: Final = b'{"agent":"a","units":['


def _filled(each: bytes, begin: bytes = BEGIN, end: bytes = b"]}") -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        count = max(1, (size - len(begin) - len(end)) // (len(each) + 1))
        return begin + b",".join([each] * count) + end

    return made


def _keys(size: int) -> bytes:
    keys = b",".join(b'"k%d":1' % number for number in range(size // 11))
    return b'{"agent":"a",' + keys + b"}"


def _text(each: bytes) -> Callable[[int], bytes]:
    begin, end = b'{"units":["http://a.jp/"],"agent":"', b'"}'
    return lambda size: begin + each * ((size - len(begin) - len(end)) // len(each)) + end


KINDS: Final[dict[str, Callable[[int], bytes]]] = {
    "lists in lists": lambda size: b"[" * (size // 2) + b"]" * (size // 2),
    "objects in objects": lambda size: b'{"a":' * (size // 6) + b"1" + b"}" * (size // 6),
    "one number of all digits": lambda size: b'{"agent":' + b"9" * (size - 10) + b"}",
    "numbers of 4,000 digits": _filled(b"9" * 4000),
    "small numbers": _filled(b"1"),
    "unknown keys": _keys,
    "one key again and again": _filled(b'"agent":1', b"{", b"}"),
    "an unknown key again and again": _filled(b'"k":1', b"{", b"}"),
    "small objects": _filled(b'{"a":[]}'),
    "texts that are no URL": _filled(b'"x"'),
    "half surrogates": _text(b"\\ud800"),
    "pairs of surrogates": _text(b"\\ud83d\\ude00"),
    "backslashes": _text(b"\\\\"),
    "one key as long as the message": lambda size: b'{"' + b"x" * (size - 6) + b'":1}',
    "bytes that are no UTF-8": _text(b"\xff"),
    "right: 10,000 hosts": lambda size: _filled(b'"http://a.jp/"')(min(size, 150_000)),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--sizes", default="16000,1000000", help="of a message, in bytes")
    sizes = [int(one) for one in parser.parse_args().sizes.split(",")]
    workers = BodyWorkers(Pool())
    try:
        with (
            tempfile.TemporaryDirectory(prefix="prsm-messages-") as folder,
            running(Path(folder), read=workers.run) as prsm,
        ):
            app = build_app(prsm.manager)
            entrances = {
                "stranger": wrapped(app, prsm.manager, local=False),
                "administrator": wrapped(app, prsm.manager, local=True),
            }
            columns = [f"{who[:6]} {size:>9,}" for who in entrances for size in sizes]
            print(f"{'ms, and the status':<32}", *columns)
            for kind, make in KINDS.items():
                cells = [
                    "{:12.1f} {}".format(*_held(entrance, make(size)))
                    for entrance in entrances.values()
                    for size in sizes
                ]
                print(f"{kind:<32}", *cells, flush=True)
    finally:
        workers.close()


def _held(app: ASGIApp, body: bytes) -> tuple[float, int]:
    """Return the milliseconds for which a message holds the loop, and its answer's status."""
    return min(asyncio.run(_one(app, body)) for _ in range(TRIES))


async def _one(app: ASGIApp, body: bytes) -> tuple[float, int]:
    longest_s, over = 0.0, False

    async def beat() -> None:
        nonlocal longest_s
        last = time.thread_time()
        while not over:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest_s, last = max(longest_s, now - last), now

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        beating = asyncio.create_task(beat())
        await asyncio.sleep(0)
        answer = await client.post(PATH, content=body, headers=JSON)
        over = True
        await beating
    return longest_s * 1000, answer.status_code


if __name__ == "__main__":
    main()
