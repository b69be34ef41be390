"""A thousand third parties at once: served, or told when to come back; memory stays bounded."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections import Counter
from pathlib import Path

import httpx
import pytest

from manager.clock import wall_clock_ms
from tests.e2e.manager_process import ManagerProcess, running_manager
from tests.e2e.third_party import new_token
from tests.manager.archived import arrived, hold, page, segment_bytes
from tests.manager.running import running

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

CLIENTS = 1000
SMALL = "/api/v1/segments/prsm-small-a.example.warc.gz"
LARGE = "/api/v1/segments/prsm-large-a.example.warc.gz"
MANY = ("--requests-per-minute", "1000000")
SETTINGS = (
    "archive.download_idle_s=600",
    "archive.downloads_per_token=5000",
    "limits.connections=5000",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with a segment of 100 KB and one of 64 MB."""
    folder = tmp_path / "data"
    folder.mkdir()
    with running(folder) as opened:
        agent = opened.agent()
        hold(opened, agent, "http://www.example.jp:80/")
        opened.clock.now_ms = wall_clock_ms()
        for name, size, count in (("small", 25_000, 4), ("large", 4_000_000, 16)):
            pages = [
                page(f"http://www.example.jp/{name}/{at}", os.urandom(size), mime="image/png")
                for at in range(count)
            ]
            data = segment_bytes(pages, f"prsm-{name}.warc.gz")
            opened.manager.archive.intake.accept(
                agent.identity, arrived(folder, data, f"prsm-{name}.warc.gz")
            )
    return folder


def memory_mb(manager: ManagerProcess, what: str) -> float:
    """Return VmRSS (now) or VmHWM (the most so far) of the manager."""
    status = Path(f"/proc/{manager.process.pid}/status").read_text()
    return int(re.findall(rf"{what}:\s*(\d+)", status)[0]) / 1000


def digest_of(data: Path, size_least: int) -> str:
    (file,) = [
        path
        for path in (data / "archive" / "segments").rglob("*.warc.gz")
        if (path.stat().st_size > 1_000_000) == (size_least > 1_000_000)
    ]
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_thousand_at_once(data: Path) -> None:
    """Each takes a whole file of its own connection: all get it, with the right bytes."""
    with running_manager(data, *SETTINGS) as manager:
        token = new_token(data, "library", *MANY)
        wanted = digest_of(data, 1)
        before = memory_mb(manager, "VmRSS")
        got = asyncio.run(_all_take(manager.url, token))
        most = memory_mb(manager, "VmHWM")
        print(f"{CLIENTS} clients at once: {before:.0f} MB before, {most:.0f} MB at most")
        assert got == Counter({wanted: CLIENTS})
        assert most - before < 400


async def _all_take(url: str, token: str) -> Counter[str]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=url, headers={"Authorization": f"Bearer {token}"}, limits=limits, timeout=600
    ) as client:

        async def take() -> str:
            answer = await client.get(SMALL)
            if answer.status_code != 200:
                return f"{answer.status_code} {answer.text[:200]}"
            return hashlib.sha256(answer.content).hexdigest()

        return Counter(await asyncio.gather(*(take() for _ in range(CLIENTS))))


def test_a_thousand_who_read_a_byte_a_second(data: Path) -> None:
    """They cost some memory each and no thread; one who reads as usual has the file meanwhile."""
    with running_manager(data, *SETTINGS) as manager:
        token = new_token(data, "library", *MANY)
        before = memory_mb(manager, "VmRSS")
        asyncio.run(_crawl_along(manager, token, digest_of(data, 10**7)))
        most = memory_mb(manager, "VmHWM")
        print(
            f"{CLIENTS} clients of a byte a second: {before:.0f} MB before, {most:.0f} MB at most"
        )
        assert most - before < 600


async def _crawl_along(manager: ManagerProcess, token: str, wanted: str) -> None:
    request = (
        f"GET {LARGE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    lines = []
    for _ in range(CLIENTS):
        reader, writer = await asyncio.open_connection("127.0.0.1", manager.port, limit=1)
        writer.write(request)
        lines.append((reader, writer))
    try:
        for _ in range(8):
            heads = await asyncio.gather(*(reader.read(1) for reader, _ in lines))
            assert all(heads), "nobody was cut off"
            await asyncio.sleep(1)
        fields = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=manager.url, headers=fields, timeout=600) as client:
            whole = await client.get(LARGE)
            assert hashlib.sha256(whole.content).hexdigest() == wanted
            assert (await client.get("/wasapi/v1/webdata")).status_code == 200
    finally:
        for _, writer in lines:
            writer.transport.abort()


def test_selections_have_turns(data: Path) -> None:
    """More selections at once than the centre makes are told so, and when to come back."""
    with running_manager(data, *SETTINGS, "archive.parallel_selections=3") as manager:
        tokens = [new_token(data, name, *MANY) for name in ("library", "museum")]
        slow = []
        with httpx.Client(base_url=manager.url, timeout=600) as client:

            def ask(token: str) -> httpx.Response:
                request = client.build_request(
                    "GET", "/api/v1/pages.zip", params={"host": ".*"},
                    headers={"Authorization": f"Bearer {token}"},
                )  # fmt: skip
                return client.send(request, stream=True)

            for token in (tokens[0], tokens[0], tokens[1]):
                slow.append(ask(token))
                assert slow[-1].status_code == 200
                next(slow[-1].iter_raw(1))
            third = ask(tokens[0])
            third.read()
            refused = (third.status_code, third.json()["code"])
            assert refused == (429, "archive.selections_of_token")
            fourth = ask(tokens[1])
            fourth.read()
            assert (fourth.status_code, "parallel_selections" in fourth.text) == (503, True)
            assert int(fourth.headers["retry-after"]) >= 1
            for each in slow:
                each.close()
            for _ in range(60):
                again = ask(tokens[0])
                done = again.status_code == 200
                again.close()
                if done:
                    break
                asyncio.run(asyncio.sleep(1))
            assert done, "a turn that was given up comes back"
