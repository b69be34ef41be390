"""The line between an agent and a manager in this process, and what a bad one does to requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx
from starlette.types import ASGIApp

__all__ = ["BadLine", "Fault"]

Fault = Callable[[httpx.Request, int], "str | None"]
"""Names what happens to a request, by its number from 1; None: it goes through."""


class BadLine(httpx.AsyncBaseTransport):
    """Carries requests to an application, as faults let it.

    cut N       the body ends after N bytes, and nobody hears an answer
    deaf        the request goes through, and its answer is lost
    flip N      one bit of byte N of the body is another
    html N      a proxy answers N with a page of its own, and nothing goes through
    twice       the request is carried twice; the second answer counts
    late        nobody hears an answer, and the request arrives behind the next one
    """

    def __init__(self, app: ASGIApp, fault: Fault = lambda request, number: None) -> None:
        self._inner = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._fault = fault
        self._late: list[tuple[httpx.Request, bytes]] = []
        self.requests: list[str] = []
        self.body_bytes = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry one request."""
        self.requests.append(f"{request.method} {request.url.path}")
        word, _, value = (self._fault(request, len(self.requests)) or "").partition(" ")
        if word == "html":
            return httpx.Response(
                int(value),
                headers={"Content-Type": "text/html"},
                stream=_Bytes(b"<html><body>502 Bad Gateway, your proxy</body></html>"),
                request=request,
            )
        assert isinstance(request.stream, httpx.AsyncByteStream)
        body = b"".join([piece async for piece in request.stream])
        self.body_bytes += len(body)
        if word == "flip" and body:
            place = int(value) % max(1, len(body))
            body = body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
        if word == "twice":
            await self._carry(request, _whole(body))
        if word == "late":
            self._late.append((request, body))
            raise httpx.ReadError("the line broke", request=request)
        answer = await self._carry(
            request, _cut(body, int(value)) if word == "cut" else _whole(body)
        )
        while self._late:
            older, data = self._late.pop()
            await self._carry(older, _whole(data))
        if word in {"cut", "deaf"}:
            raise httpx.ReadError("the line broke", request=request)
        return answer

    async def _carry(self, request: httpx.Request, pieces: AsyncIterator[bytes]) -> httpx.Response:
        sent = httpx.Request(request.method, request.url, headers=request.headers, content=pieces)
        answer = await self._inner.handle_async_request(sent)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        content = b"".join([piece async for piece in answer.stream])
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=_Bytes(content), request=request
        )


class _Bytes(httpx.AsyncByteStream):
    """The body of an answer, to be streamed."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


async def _whole(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 100_000):
        yield body[start : start + 100_000]


async def _cut(body: bytes, after: int) -> AsyncIterator[bytes]:
    yield body[:after]
    raise ConnectionError("the line broke")
