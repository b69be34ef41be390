"""The witness between agents and a manager: it counts what was acknowledged, and can be unkind."""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from benchmarks.faults.evidence.observations import Acknowledged
from benchmarks.faults.transit.courier import Courier, Way, courier
from benchmarks.faults.transit.ways import AnswersLost, Shuffled

pytestmark = pytest.mark.e2e

COUNT = 40


@contextmanager
def manager(taken: list[bytes]) -> Iterator[int]:
    """Take whatever is posted; /refuses is a no. Gives the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append(body)
            self.send_response(409 if "refuses" in self.path else 200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"OK")

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send_all(line: Courier, way: Way) -> list[bytes]:
    """Send reports one after the other by a way; return those that were acknowledged."""
    line.way = way
    told = []
    with httpx.Client(base_url=line.url, timeout=60) as client:
        for number in range(COUNT):
            body = f"report {number}".encode()
            try:
                client.post("/servlets/submitlog", content=body)
            except httpx.RemoteProtocolError:
                continue
            told.append(body)
    return told


def names(bodies: list[bytes]) -> list[Acknowledged]:
    return [Acknowledged("a", hashlib.sha256(body).hexdigest()) for body in bodies]


def test_answers_that_are_lost_are_no_acknowledgements() -> None:
    """The manager has taken all; the agent was told of every second one."""
    taken: list[bytes] = []
    with manager(taken) as port, courier(port) as line:
        told = send_all(line, way := AnswersLost())
        assert len(taken) == COUNT
        assert (len(told), way.lost) == (COUNT // 2, COUNT // 2)
        assert line.acknowledged("a") == names(told)


def test_what_is_shuffled_comes_in_the_end() -> None:
    """Some come twice, some behind later ones, old ones again; none is lost for good."""
    taken: list[bytes] = []
    with manager(taken) as port, courier(port) as line:
        told = send_all(line, way := Shuffled(random.Random(3)))
        way.bring_all(line.deliver)
        assert set(told) <= set(taken)
        assert len(set(taken)) == COUNT
        assert len(taken) > COUNT + way.twice
        firsts = list(dict.fromkeys(taken))
        assert firsts != [f"report {number}".encode() for number in range(COUNT)]
        assert min(way.twice, way.late, way.again) > 2
        assert line.acknowledged("a") == names(told)


def test_a_no_is_no_acknowledgement() -> None:
    """What the manager refused is handed on as such."""
    taken: list[bytes] = []
    with manager(taken) as port, courier(port) as line:
        assert httpx.post(f"{line.url}/refuses/submitlog", content=b"x").status_code == 409
        assert line.acknowledged("a") == []
