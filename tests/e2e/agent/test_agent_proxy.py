"""The manager is called through the site's proxy, as other programs do; never on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent.errors import LinkError
from agent.link.client import ManagerClient, ManagerRoute

pytestmark = pytest.mark.e2e


async def listen(asked: list[str], answer: bytes) -> tuple[asyncio.Server, str]:
    """Start a server on loopback that notes the first line of each request."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b"\r\n")[0].decode())
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


REFUSES = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
CONTINUES = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nCONTINUE\n"


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), 20)

    asyncio.run(bounded())


@pytest.mark.parametrize("by_setting", [True, False])
def test_a_manager_elsewhere_is_called_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch, by_setting: bool
) -> None:
    """By manager.proxy, or where it is empty by HTTPS_PROXY; TLS goes through in a tunnel."""

    async def work() -> None:
        asked: list[str] = []
        server, proxy = await listen(asked, REFUSES)
        if not by_setting:
            monkeypatch.setenv("HTTPS_PROXY", proxy)
        async with (
            server,
            ManagerClient(
                "https://prsm.example.jp",
                name="prs1",
                key="k",
                route=ManagerRoute(proxy=proxy if by_setting else ""),
            ) as client,
        ):
            with pytest.raises(LinkError, match="the proxy does not lead to"):
                await client.is_restart()
        assert asked == ["CONNECT prsm.example.jp:443 HTTP/1.1"]

    run(work)


def test_a_manager_on_this_machine_is_called_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy knows nothing of 127.0.0.1, and the key must not pass by it."""

    async def work() -> None:
        at_proxy: list[str] = []
        at_manager: list[str] = []
        proxy_server, proxy = await listen(at_proxy, REFUSES)
        server, manager = await listen(at_manager, CONTINUES)
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("ALL_PROXY", proxy)
        async with (
            proxy_server,
            server,
            ManagerClient(manager, name="prs1", key="k", route=ManagerRoute(proxy=proxy)) as client,
        ):
            assert (await client.is_restart())[0] == "CONTINUE"
        assert at_proxy == []
        assert at_manager == ["GET /servlets/isrestart?host=prs1 HTTP/1.1"]

    run(work)
