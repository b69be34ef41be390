"""The agents: a separate process, which takes a `Load` as JSON and prints a `Told`.

Sends real sync messages of many agents, each with its own key, over connections that stay open.

Closed: each connection sends the next sync as soon as one is answered, so the rate is the greatest
that the manager reaches. Open: syncs begin at moments that chance fixed beforehand (a Poisson
process), whatever the answers do, and each is timed from its moment on; so a stall counts for all
that came in it.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import subprocess
import sys
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Final

from benchmarks.manager.data import GENERATION, ROUND, Filled, key_of, name_of
from shared.wire.sync import Capacity, Counters, SyncRequest
from shared.wire.sync_json import json_of

__all__ = ["Load", "Messages", "Told", "send"]

MARK: Final = 7_000_000_000_000
"""Stands for numbers in the template; no real one is so large."""

UNIT: Final = f'"kind":"crawl","round":{ROUND},"pages":30,"response_bytes":600000,"reason":""'


@dataclass(frozen=True, slots=True)
class Load:
    """A series of messages to send. rate: syncs a second; 0: as fast as they are answered.

    finishing: one of so many syncs says that a unit is finished; 0: none. first: the turn to begin
    with, as an agent's sequence only grows. turns: the load ends after so many too; 0: by time.
    """

    port: int
    agents: int
    seconds: float
    connections: int
    rate: float = 0.0
    finishing: int = 10
    first: int = 0
    turns: int = 0
    tls: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """Results of a load. wrong: answers that were no permit, by their first characters."""

    answered: int
    seconds: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    cpu_s: float
    wrong: dict[str, int]
    next: int

    @property
    def per_s(self) -> float:
        """Return answers a second."""
        return self.answered / self.seconds


def send(load: Load) -> Told:
    """Run a load in a separate process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.manager.fleet", json.dumps(asdict(load))],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return Told(**json.loads(done.stdout))


class Messages:
    """The requests, from a template: to make each by pydantic costs as much as an answer."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._filled = Filled(load.agents, 0, 0)
        self.turn = load.first
        message = json_of(SyncRequest(
            agent="name", boot_id="bench", sequence=MARK, version="1.0.0", clock_ms=MARK + 1,
            state="working", round_held=ROUND, generation_held=GENERATION,
            counters=Counters(requests=MARK + 2, pages=MARK + 2, response_bytes=MARK + 3,
                              queue=1200, active_hosts=180),
            capacity=Capacity(), refetches=True, disk_free_bytes=10**11, withdrawn_held=0,
        )).decode()  # fmt: skip
        for known, place in (
            ('"name"', '"%(name)s"'),
            ('"finished":[]', '"finished":[%(finished)s]'),
            (str(MARK), "%(sequence)d"),
            (str(MARK + 1), "%(clock)d"),
            (str(MARK + 2), "%(pages)d"),
            (str(MARK + 3), "%(bytes)d"),
        ):
            assert known in message, known
            message = message.replace(known, place)
        self._body = message
        self._head = (
            "POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
            "Content-Type: application/json\r\nAccept: */*\r\nContent-Length: %d\r\n\r\n"
        )

    def next(self) -> bytes:
        """Return the request of the agent whose turn it is."""
        load, turn = self._load, self.turn
        self.turn += 1
        agent, sequence = turn % load.agents + 1, turn // load.agents + 1
        finished = ""
        if load.finishing and turn % load.finishing == 0:
            unit = self._filled.unit_of_fleet(agent, sequence)
            finished = f'{{"unit":"http://h{unit}.bench.example:80/",{UNIT}}}'
        body = self._body % {
            "name": name_of(agent), "finished": finished, "sequence": sequence,
            "clock": time.time_ns() // 1_000_000, "pages": turn, "bytes": turn * 20_000,
        }  # fmt: skip
        return (self._head % (key_of(agent), len(body)) + body).encode()


class _Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, fleet: _Fleet) -> None:
        self._fleet = fleet
        self._got = bytearray()
        self._due = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes, due: float) -> None:
        """Send a request that was due at a moment of the loop's clock."""
        assert self._transport is not None
        self._due = due
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        end = self._got.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._got[:end]).lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at:].split(b"\r\n", 1)[0])
        if len(self._got) < end + 4 + length:
            return
        body = bytes(self._got[end + 4 :])
        self._got.clear()
        good = head.startswith(b"http/1.1 200") and b'"permit":{' in body
        self._fleet.answered(self, self._due, "" if good else f"{head[:12]!r} {body[:120]!r}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._fleet.lost(self)


class _Fleet:
    """All connections, and what they were answered."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._messages = Messages(load)
        self._idle: deque[_Connection] = deque()  # in turns: the manager closes what rests 5 s
        self._waiting: deque[float] = deque()
        self._times: list[float] = []
        self._wrong: Counter[str] = Counter()
        self._under_way = 0
        self._over = False
        self._done = asyncio.Event()

    async def run(self) -> Told:
        """Connect, send, wait for the last answer."""
        load, loop = self._load, asyncio.get_running_loop()
        context = None
        if load.tls:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        for _ in range(load.connections):
            _, connection = await loop.create_connection(
                lambda: _Connection(self), "127.0.0.1", load.port, ssl=context
            )
            self._idle.append(connection)
        cpu_s, begun = time.process_time(), loop.time()
        if load.rate:
            await self._open(begun)
        else:
            loop.call_at(begun + load.seconds, self._end)
            for _ in range(load.connections):
                self._ask(begun)
        await self._done.wait()
        seconds = loop.time() - begun
        times = sorted(self._times)
        return Told(
            len(times),
            seconds,
            times[len(times) // 2] * 1000,
            times[len(times) * 99 // 100] * 1000,
            times[-1] * 1000,
            time.process_time() - cpu_s,
            dict(self._wrong.most_common(5)),
            self._messages.turn,
        )

    async def _open(self, begun: float) -> None:
        chance, loop = random.Random(1), asyncio.get_running_loop()
        due = begun
        while (due := due + chance.expovariate(self._load.rate)) < begun + self._load.seconds:
            if (wait := due - loop.time()) > 0:
                await asyncio.sleep(wait)
            self._ask(due)
        self._end()

    def _end(self) -> None:
        self._over = True
        if not self._under_way:
            self._done.set()

    def _ask(self, due: float) -> None:
        self._under_way += 1
        if self._load.turns and self._messages.turn + 1 >= self._load.first + self._load.turns:
            self._over = True
        if self._idle:
            self._idle.popleft().ask(self._messages.next(), due)
        else:
            self._waiting.append(due)

    def answered(self, connection: _Connection, due: float, wrong: str) -> None:
        """Take an answer, and use its connection for the next message."""
        now = asyncio.get_running_loop().time()
        self._times.append(now - due)
        if wrong:
            self._wrong[wrong] += 1
        self._under_way -= 1
        self._idle.append(connection)
        if self._waiting:
            self._idle.popleft().ask(self._messages.next(), self._waiting.popleft())
        elif not self._over and not self._load.rate:
            self._ask(now)
        elif self._over and not self._under_way:
            self._done.set()

    def lost(self, connection: _Connection) -> None:
        """Use a connection no more; one that was asked something must not be lost."""
        if connection in self._idle:
            self._idle.remove(connection)
        elif not self._done.is_set():
            sys.exit("the manager closed a connection that it was to answer on")


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_Fleet(Load(**json.loads(sys.argv[1]))).run()))))
