"""One agent's connections with parts of segments leave places to others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from tests.manager.agent_api.test_tus import TUS, begin, metadata
from tests.manager.running import Agent, running


async def _patch(
    client: httpx.AsyncClient, agent: Agent, where: str, body: AsyncIterator[bytes] | bytes
) -> httpx.Response:
    headers = {
        **agent.call.headers,
        **TUS,
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
    }
    return await client.patch(where, content=body, headers=headers)


def test_an_agent_has_so_many_parts_under_way(tmp_path: Path) -> None:
    """The next one is answered 429 with the limit and its setting; another agent's is taken."""
    settings = ("collection.chunks_per_agent=2", "collection.parallel_chunks=3")
    with running(tmp_path, *settings) as prsm:
        greedy, other, third = prsm.agent(), prsm.agent("b.example"), prsm.agent("c.example")
        data = [os.urandom(2_000_000) for _ in range(5)]
        names = [f"PRS-2026112110000{number}-00000-x.warc.gz" for number in range(5)]
        owners = [greedy, greedy, greedy, other, third]
        places = []
        for agent, part, name in zip(owners, data, names, strict=True):
            places.append(begin(agent, part, metadata(part, name)).headers["location"])

        async def story() -> None:
            go_on = asyncio.Event()
            begun = [asyncio.Event() for _ in range(3)]

            async def held(number: int, part: bytes) -> AsyncIterator[bytes]:
                yield part[:1000]
                begun[number].set()
                await go_on.wait()
                yield part[1000:]

            transport = httpx.ASGITransport(prsm.public)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                sending = []
                for number, at in enumerate((0, 1, 3)):
                    body = held(number, data[at])
                    sending.append(
                        asyncio.create_task(_patch(client, owners[at], places[at], body))
                    )
                    await begun[number].wait()
                    if number == 1:
                        refused = await _patch(client, greedy, places[2], data[2])
                        assert refused.status_code == 429
                        told = refused.json()
                        assert told["code"] == "sender_uploads"
                        assert (told["value"], told["limit"]) == (2, 2)
                        assert told["setting"] == "collection.chunks_per_agent"
                busy = await _patch(client, third, places[4], data[4])
                assert busy.status_code == 503
                assert "collection.parallel_chunks" in busy.text
                go_on.set()
                answers = await asyncio.gather(*sending)
                # What they sent is no segment, and is told so by who reads it.
                assert {one.status_code for one in answers} <= {204, 460}
                again = await _patch(client, third, places[4], data[4])
                assert again.status_code == 204, "the places are free again"

        asyncio.run(story())
