"""A web without end: every path is a page that leads to two others. Prints its port, and serves."""

from __future__ import annotations

import asyncio

_ROBOTS = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def _page(path: str) -> bytes:
    number = int(path.strip("/") or 0)
    links = "".join(f'<a href="/{one}">{one}</a>' for one in (2 * number + 1, 2 * number + 2))
    body = f"<html><title>{number}</title>{links}</html>".encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            path = head.split(b" ", 2)[1].decode()
            writer.write(_ROBOTS if path == "/robots.txt" else _page(path))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_serve, "0.0.0.0", 0, backlog=4096)  # 127.*
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
