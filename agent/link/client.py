"""The only way to the manager: HTTP out, answers or errors in words back.

The key goes out as a bearer token, to the manager's URL only: redirects are not followed. Bodies
are streamed both ways; answers are capped. Retrying, order and time are others' business.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Self
from urllib.parse import urlsplit

import httpx

from agent.errors import HomeError, LinkError, RefusedError
from agent.link.connections import Connections
from agent.link.exchange import (
    CHUNK_BYTES,
    REASON_LIMIT_BYTES,
    exchange,
    guarded,
    http_date,
    json_object,
    read_body,
)
from agent.link.keys import Identity, KnownInstallation
from agent.link.outbox import Report
from agent.settings import Home, Settings
from agent.settings.home import full_disk_said
from agent.settings.texts import is_loopback
from agent.settings.user_agent import user_agent
from shared.errors import FormatError
from shared.frozen import frozen
from shared.wire.installation import HEADER
from shared.wire.names import hash_of_key
from shared.wire.positions import Position
from shared.wire.sync import SyncAnswer, SyncRequest, said
from shared.wire.sync_reading import read_answer

__all__ = ["ManagerClient", "ManagerRoute", "client_of", "tls_context"]

ANSWER_LIMIT_BYTES: Final = 16 * 1024 * 1024  # 10,000 block patterns of 1,000 characters
CONNECT_S: Final = 20.0
UNKNOWN_KEY: Final = 401


def tls_context(ca_file: Path | None, *, encrypted: bool = True) -> ssl.SSLContext:
    """Return how the manager's certificate is judged: by the system's authorities, or a file's.

    encrypted: whether its URL asks for one at all; if not, the system's two hundred authorities
    are not read, and no certificate would be believed.

    Raises HomeError for a file that holds no certificate.
    """
    try:
        if not (encrypted or ca_file):
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except (OSError, ssl.SSLError) as error:
        raise HomeError(
            "agent_errors.no_certificates", path=str(ca_file), why=str(error)
        ) from error


@frozen
class ManagerRoute:
    """Route to the manager: the file of its authorities (None: the system's), proxy, timeout."""

    ca_file: Path | None = None
    proxy: str = ""
    timeout_s: float = 60.0

    @classmethod
    def of(cls, settings: Settings) -> ManagerRoute:
        """Return the route that a site's settings name."""
        site = settings.manager
        ca_file = settings.home / site.ca_file if site.ca_file else None
        return cls(ca_file, site.proxy, site.timeout_s)


class ManagerClient:
    """Calls to one manager in the name of one agent; an async context manager."""

    def __init__(
        self,
        url: str,
        *,
        name: str,
        key: str,
        route: ManagerRoute | None = None,
        user_agent: str = "PRS",
        transport: httpx.AsyncBaseTransport | None = None,
        installation: KnownInstallation | None = None,
    ) -> None:
        """Make ready; nothing is sent. transport: another than the network, for tests.

        installation: of the manager, as far as known; None: it is not kept.
        """
        self._url = url.rstrip("/")
        self._installation = installation or KnownInstallation(None, url)
        self._name = name
        is_local = is_loopback(urlsplit(url).hostname or "")
        headers = {"User-Agent": user_agent, "Accept-Encoding": "identity"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._route = route or ManagerRoute()

        def connect() -> httpx.AsyncClient:
            route = self._route
            return httpx.AsyncClient(
                headers=headers,
                timeout=httpx.Timeout(route.timeout_s, connect=min(CONNECT_S, route.timeout_s)),
                verify=tls_context(route.ca_file, encrypted=url.lower().startswith("https:")),
                proxy=(route.proxy or None) if not is_local else None,
                trust_env=not is_local,  # HTTPS_PROXY and NO_PROXY; never for this very machine
                follow_redirects=False,
                transport=transport,
            )

        self._connections = Connections(connect)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()

    def change_route(self, route: ManagerRoute) -> None:
        """Take another route from the next exchange on, where it is another."""
        if self._route != route:
            self._route = route
            self._connections.renew()

    async def sync(self, request: SyncRequest) -> SyncAnswer:
        """Send a sync and return the answer. Raises LinkError."""
        try:
            async with self.request("POST", "/api/v1/sync", json=said(request)) as got:
                body = await read_body(got, ANSWER_LIMIT_BYTES)
                shown = got.headers.get(HEADER, "")
        except RefusedError as error:
            raise self._judged(error) from error
        try:
            answer = read_answer(body)
        except FormatError as error:
            raise LinkError(
                "agent_errors.no_sync_answer", url=self._url, problem=error.message
            ) from error
        self._installation.learn(shown)
        return answer

    async def take_list(self, target: Path, *, limit_bytes: int) -> int:
        """Stream M1, still compressed, into a new file; return its bytes.

        Raises LinkError, DiskFullError.
        """
        size_bytes = 0
        async with self.request("GET", "/servlets/list", params={"host": self._name}) as answer:
            file = await asyncio.to_thread(_open_new, target)
            try:
                async for chunk in guarded(answer.aiter_raw(CHUNK_BYTES)):
                    size_bytes += len(chunk)
                    if size_bytes > limit_bytes:
                        raise LinkError("agent_errors.list_too_large", limit_bytes=limit_bytes)
                    await asyncio.to_thread(_write, file, target, chunk)
            finally:
                await asyncio.to_thread(file.close)
        return size_bytes

    async def enrol(
        self, token: str, new_key: str, position: Position | None = None
    ) -> dict[str, Any]:
        """Hand in a join token and the hash of the key made here, and where this agent is.

        Raises LinkError.
        """
        # Not said as null: managers of before do not know the word.
        said = {} if position is None else {"position": asdict(position)}
        self._installation.id = ""  # the manager that is joined may be another
        asked = {
            "agent": self._name,
            "token": token,
            "key_hash": hash_of_key(new_key),
            "kind": "sync",
            **said,
        }
        async with self.request("POST", "/api/v1/enrol", json=asked) as answer:
            told = json_object(await read_body(answer, ANSWER_LIMIT_BYTES))
            self._installation.join(answer.headers.get(HEADER, ""))
        return told

    async def change_key(self, new_key: str) -> None:
        """Replace the key that this client shows by a new one. Raises LinkError."""
        said = {"key_hash": hash_of_key(new_key)}
        await self._exchange("POST", "/api/v1/key", json=said)

    async def subscribe(self) -> None:
        """Take part (M5). Raises LinkError."""
        await self._exchange("GET", "/servlets/subscribe", params={"host": self._name})

    async def unsubscribe(self) -> None:
        """Leave (M5): no fetches follow, and others get the work. Raises LinkError."""
        await self._exchange("GET", "/servlets/unsubscribe", params={"host": self._name})

    async def is_restart(self) -> tuple[str, datetime | None]:
        """Ask M4; return its first line and the manager's time. Raises LinkError.

        The cheapest question that needs the key: `prs doctor` asks it.
        """
        async with self.request("GET", "/servlets/isrestart", params={"host": self._name}) as got:
            body = await read_body(got, REASON_LIMIT_BYTES)
            date = got.headers.get("Date", "")
        lines = body.decode("utf-8", "replace").splitlines()
        return (lines[0].strip() if lines else "", http_date(date))

    async def send_report(self, report: Report) -> None:
        """Send new hosts (M2) or a crawl log (M3) as it lies in the outbox. Raises LinkError."""
        path = "/servlets/submitlog" if report.kind == "log" else "/servlets/record"
        file = await asyncio.to_thread(report.path.open, "rb")
        try:
            size_bytes = os.fstat(file.fileno()).st_size
            async with self.request(
                "POST",
                path,
                params={"host": self._name},
                content=_chunks(file),
                headers={
                    "Content-Length": str(size_bytes),
                    "Content-Type": "application/octet-stream",
                },
            ) as answer:
                await read_body(answer, REASON_LIMIT_BYTES)
        finally:
            await asyncio.to_thread(file.close)

    async def _exchange(self, method: str, path: str, **how: Any) -> bytes:
        async with self.request(method, path, **how) as answer:
            return await read_body(answer, ANSWER_LIMIT_BYTES)

    def request(
        self, method: str, path: str, **how: Any
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Return a request to the manager; inside its `async with` stands a 2xx answer."""
        known = self._installation.id
        if known:
            how["headers"] = {**how.get("headers", {}), HEADER: known}
        return exchange(self._connections, method, self._url + path, how)

    def _judged(self, error: RefusedError) -> RefusedError:
        """Return what a no to a sync means.

        An unknown key is a matter for a person only where this agent's own installation says so;
        any no is not, where another installation says that it is another.
        """
        known, said = self._installation.id, error.installation
        is_own = bool(known) and said == known
        is_anothers = bool(known and said) and said != known
        if is_own or not (is_anothers or error.status == UNKNOWN_KEY):
            return error
        return RefusedError(
            error.status,
            error.reason,
            by_manager=error.by_manager,
            installation=error.installation,
            is_foreign=True,
            request_id=error.request_id,
        )


def client_of(settings: Settings, identity: Identity) -> ManagerClient:
    """Return a client for the manager of an identity, by the settings of its home."""
    return ManagerClient(
        identity.manager,
        name=identity.name,
        key=identity.key,
        route=ManagerRoute.of(settings),
        user_agent=user_agent(settings),
        installation=KnownInstallation(Home(settings.home).installation, identity.manager),
    )


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
        yield chunk


def _open_new(path: Path) -> BinaryIO:
    with full_disk_said(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(handle, "wb", buffering=0)


def _write(file: BinaryIO, path: Path, data: bytes) -> None:
    with full_disk_said(path):
        while data:  # a file without a buffer may take a part only
            data = data[file.write(data) :]
