"""Serve the manager: one TCP listener for agents and browsers, one Unix socket for this machine.

Invariant: what the Unix socket serves is marked as local by its own wrapper, so no request on the
TCP listener can be. SIGTERM and SIGINT end both gracefully: no new connection, requests under way
may end within `server.stop_s`; a second signal does not wait. `shutdown` holds that time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from manager.agent_api import SYNC_PATH
from manager.app.web.certificate import Certificate
from manager.app.web.http_protocol import BoundedProtocol
from manager.app.web.shutdown import Shutdown
from manager.intake.workers.request_threads import RequestThreads
from manager.settings import ServerSettings, Settings
from manager.store import StoreError
from shared.errors import SettingError
from shared.frozen import frozen

__all__ = ["Listeners", "open_listeners", "run_servers"]

SOCKET_PATH_LIMIT: Final = 107
UNSENT_BYTES: Final = 256 * 1024
"""What the system keeps of an answer that its client does not take yet, beside what is on its way.
Else it is some megabytes for each of thousands of clients that read nothing."""

_log: Final = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server whose signals are its owner's: two of them run in one process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@frozen
class Listeners:
    """The two sockets that the manager serves, already bound."""

    tcp: socket.socket
    local: socket.socket
    socket_path: Path

    @property
    def port(self) -> int:
        """Return the port of the TCP listener, also where any free one was asked for."""
        return int(self.tcp.getsockname()[1])

    def close(self) -> None:
        """Close both and remove the Unix socket."""
        self.tcp.close()
        self.local.close()
        self.socket_path.unlink(missing_ok=True)


def open_listeners(server: ServerSettings, socket_path: Path) -> Listeners:
    """Bind both sockets; raises SettingError, StoreError in words.

    Only for whoever holds the lock of the data directory: a socket that is there is replaced.
    """
    local = _unix_socket(socket_path)
    try:
        return Listeners(_tcp_socket(server), local, socket_path)
    except SettingError:
        local.close()
        socket_path.unlink(missing_ok=True)
        raise


def _tcp_socket(server: ServerSettings) -> socket.socket:
    address = (server.listen_host, server.listen_port)
    try:
        family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server(address, family=family, backlog=2048)
    except OSError as error:
        raise SettingError(
            "app.listen_failed",
            host=server.listen_host,
            port=server.listen_port,
            problem=str(error.strerror),
        ) from error
    # Connections inherit it; asyncio sets it only where a socket says that it is TCP. Without it
    # the body of an answer waits up to 40 ms until the client has acknowledged the head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
    return listener


def _unix_socket(path: Path) -> socket.socket:
    if len(str(path).encode()) > SOCKET_PATH_LIMIT:
        raise SettingError("app.socket_path_too_long", path=str(path), most=SOCKET_PATH_LIMIT)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        # No client can connect before listen, so there is no moment with other rights.
        path.chmod(0o600)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise StoreError(
            "app.socket_failed", path=str(path), problem=str(error.strerror)
        ) from error
    return listener


async def run_servers(
    settings: Settings,
    certificate: Certificate | None,
    listeners: Listeners,
    public: ASGIApp,
    local: ASGIApp,
    on_ready: Callable[[], None],
    on_stop: Callable[[], None],
    shutdown: Shutdown,
) -> None:
    """Serve both applications until SIGTERM or SIGINT.

    certificate: of the TCP listener; None: it speaks plain HTTP. on_stop: lets go what would never
    end. shutdown: counts from the signal on.
    """
    loop = asyncio.get_running_loop()
    loop.set_default_executor(RequestThreads(of_a_sender=settings.limits.threads_per_sender))
    servers = [
        (_Server(_config(settings, public, certificate)), listeners.tcp),
        (_Server(_config(settings, local, None)), listeners.local),
    ]

    def cut_off() -> None:
        running = sum(len(server.server_state.tasks) for server, _ in servers)
        if running:
            _log.warning(
                "stopping: %g s are over (server.stop_s); %d requests are cut off, and their "
                "senders ask again", settings.server.stop_s, running,
            )  # fmt: skip

    def stop() -> None:
        """Stop both servers: no new requests, and `server.stop_s` for those under way."""
        on_stop()
        if servers[0][0].should_exit:
            _log.info("stopping: told again; requests are not waited for")
        else:
            _log.info("stopping: requests have %g s to end (server.stop_s)", settings.server.stop_s)
            loop.call_later(settings.server.stop_s, cut_off)
        for server, _ in servers:
            if server.should_exit:
                server.force_exit = True
            server.should_exit = True

    def stop_soon() -> None:
        loop.call_soon_threadsafe(stop)

    with shutdown.on_signals(stop_soon):
        serving = [asyncio.create_task(server.serve([bound])) for server, bound in servers]
        on_ready()
        await asyncio.gather(*serving)


def _config(settings: Settings, app: ASGIApp, certificate: Certificate | None) -> uvicorn.Config:
    server = settings.server
    of_ours = {
        "head_s": settings.limits.request_head_s,
        "answer_idle_s": max(settings.limits.upload_idle_s, settings.archive.download_idle_s),
        "keeps_whole": settings.server.behind_tls_proxy,
        "most_connections": settings.limits.connections,
        "quiet": frozenset({SYNC_PATH}),
    }
    return uvicorn.Config(
        app,
        http=type("Bounded", (BoundedProtocol,), of_ours),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        proxy_headers=False,  # manager.app.web.connection decides what to believe
        server_header=False,
        reset_contextvars=True,  # a request that was sent ahead begins within the one before it
        limit_concurrency=settings.limits.connections,
        timeout_graceful_shutdown=round(server.stop_s),
        ssl_context_factory=(lambda *_: certificate.context) if certificate else None,
    )
