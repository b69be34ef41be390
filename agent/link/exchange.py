"""One HTTP exchange: what each status code means, and bodies that are never read without a limit.

Invariant: inside `async with exchange(...)` stands a 2xx answer; all else is an error of
`agent.errors` that says the place and the manager's reason, on one line and without control
characters. No redirect is followed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

import httpx

from agent.errors import FaultError, LinkError, RefusedError, WaitError
from agent.link.connections import Connections, certificate_error
from shared.retry_after import date_s, retry_after_s
from shared.wire.installation import HEADER, read_installation

__all__ = [
    "CHUNK_BYTES",
    "REASON_LIMIT_BYTES",
    "exchange",
    "guarded",
    "http_date",
    "json_object",
    "read_body",
]

CHUNK_BYTES: Final = 64 * 1024
REASON_LIMIT_BYTES: Final = 4096
REASON_LIMIT_CHARS: Final = 500
_REQUEST_ID: Final = re.compile("[0-9a-f]{16}")


@asynccontextmanager
async def exchange(
    connections: Connections, method: str, url: str, how: Mapping[str, Any]
) -> AsyncIterator[httpx.Response]:
    """Send one request; give its 2xx answer, whose body is not read yet. Raises LinkError.

    how: the rest of the request, as httpx has it.
    """
    async with connections.opened() as http:
        request = http.build_request(method, url, **how)
        try:
            answer = await http.send(request, stream=True)
        except httpx.HTTPError as error:
            if certificate_error(error):
                connections.renew()
            raise _network_error(request, error) from error
        try:
            await _check(answer)
            yield answer
        finally:
            await answer.aclose()


async def _check(answer: httpx.Response) -> None:
    """Raise what a status code means; return for 2xx."""
    status = answer.status_code
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise LinkError(
            "agent_errors.redirected",
            status=status,
            target=_line(answer.headers.get("Location", "?")),
        )
    reason, code = await _reason(answer)
    if status in {429, 503}:
        raise WaitError(status, reason, _asked_s(answer), code)
    if status == 408 or status >= 500:
        raise FaultError(status, reason, request_id=_request_id(answer, reason))
    marked = _REQUEST_ID.fullmatch(answer.headers.get("X-Request-Id", "")) is not None
    raise RefusedError(
        status,
        reason,
        by_manager=marked,
        installation=read_installation(answer.headers.get(HEADER, "")),
        request_id=_request_id(answer, reason),
    )


async def _reason(answer: httpx.Response) -> tuple[str, str]:
    """Return what the manager says about its no, and its code, where it has one.

    It is `detail` of JSON, or the first line of text.
    """
    code = ""
    body = await read_body(answer, REASON_LIMIT_BYTES, cut=True)
    said: object = body.decode("utf-8", "replace")
    if answer.headers.get("Content-Type", "").startswith("application/"):
        values = json_object(body)
        said = values.get("detail") or values.get("reason") or values.get("title") or said
        code = str(values.get("code") or "")
    if isinstance(said, str) and said.lstrip().startswith("<"):
        said = ""  # a proxy's page: nothing in it is meant for us
    return _line(str(said)) or answer.reason_phrase or "no reason given", code


def _request_id(answer: httpx.Response, reason: str) -> str:
    """Return by which name the manager's log has this request, unless the reason says it."""
    given = str(answer.headers.get("X-Request-Id", ""))
    if not _REQUEST_ID.fullmatch(given) or given in reason:
        return ""
    return given


def _line(text: str) -> str:
    lines = text.strip().splitlines()
    printable = (
        "".join(character if character.isprintable() else " " for character in lines[0])
        if lines
        else ""
    )
    return printable[:REASON_LIMIT_CHARS]


def json_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object; anything else is an empty one."""
    try:
        values = json.loads(body)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


async def read_body(answer: httpx.Response, limit_bytes: int, *, cut: bool = False) -> bytes:
    """Return a body of at most so many bytes; cut: leave out the rest instead of LinkError."""
    body = bytearray()
    async for chunk in guarded(answer.aiter_raw(CHUNK_BYTES)):
        body += chunk
        if len(body) > limit_bytes:
            if cut:
                return bytes(body[:limit_bytes])
            raise LinkError("agent_errors.answer_too_large", limit_bytes=limit_bytes)
    return bytes(body)


async def guarded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces of a body; raises LinkError where it breaks off."""
    try:
        async for chunk in chunks:
            yield chunk
    except httpx.HTTPError as error:
        raise LinkError("agent_errors.answer_broke_off", why=_words(error)) from error


def _network_error(request: httpx.Request, error: httpx.HTTPError) -> LinkError:
    place = f"{request.url.scheme}://{request.url.netloc.decode('ascii', 'replace')}"
    if isinstance(error, httpx.ProxyError):
        return LinkError("agent_errors.proxy_failed", place=place, why=_words(error))
    if isinstance(error, httpx.TimeoutException):
        return LinkError("agent_errors.no_answer_in_time", place=place, why=type(error).__name__)
    return LinkError("agent_errors.not_reached", place=place, why=_words(error))


def _words(error: Exception) -> str:
    return _line(str(error)) or type(error).__name__


def _asked_s(answer: httpx.Response) -> float | None:
    fields = answer.headers
    return retry_after_s(fields.get_list("Retry-After"), fields.get("Date"), time.time())


def http_date(text: str) -> datetime | None:
    """Return the moment that a header names; None: it names none."""
    moment_s = date_s(text)
    return None if moment_s is None else datetime.fromtimestamp(moment_s, UTC)
