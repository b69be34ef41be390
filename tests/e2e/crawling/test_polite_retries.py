"""What is asked again of a server that refuses is asked by the crawl's own clock."""

from __future__ import annotations

import asyncio
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from tests.agent.app.fake_manager import FakeManager
from tests.agent.app.scene import SETTINGS
from tests.e2e.crawling.test_fetch_tls import made_identity
from tests.e2e.http2_server import Http2Server, Stream
from tools.demo.system import Agent

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

INTERVAL_S = 0.4


class Served:
    """A server on a loop in a thread of its own."""

    def __init__(self, server: Http2Server) -> None:
        self._server = server
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _serve(self) -> None:
        async with self._server:
            self._ready.set()
            await asyncio.to_thread(self._over.wait)

    def end(self) -> None:
        self._over.set()
        self._thread.join()


@pytest.mark.parametrize("what", [Stream.REFUSED, Stream.GOAWAY])
def test_a_server_that_refuses_streams_has_its_interval(tmp_path: Path, what: Stream) -> None:
    """Each request is counted, logged and apart from the one before, robots.txt included."""
    identity = made_identity(tmp_path, "IP:127.0.0.1")
    server = Http2Server(identity.context(), b"User-agent: nobody\nDisallow: /\n", streams=[what])
    served = Served(server)
    with FakeManager() as manager:
        text = SETTINGS.format(interval_s=INTERVAL_S, dns_port=9)
        agent = Agent(tmp_path / "agent", manager.name, text)
        agent.program.environment["SSL_CERT_FILE"] = str(identity.certificate)
        agent.enrol(manager.url, manager.token)
        manager.give(f"https://127.0.0.1:{server.port}/")
        agent.program.words = ["prs", "run", "--once"]
        agent.program.start()
        assert agent.program.process is not None
        assert agent.program.process.wait(60) == 0, agent.program.log.read_text()
        status = agent.prs("status")
    served.end()
    assert (server.streams, len(server.old_requests)) == (1, 2)  # robots.txt twice, and the page
    assert all(later - one >= INTERVAL_S for one, later in pairwise(server.asked_s))
    assert "1 of 1 unit finished" in status
