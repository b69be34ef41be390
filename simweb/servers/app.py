"""Put a web together, serve it until it is stopped, and take it down."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from shared.errors import SettingError
from simweb.servers.answers import Answers
from simweb.servers.connection import Connection
from simweb.servers.context import Context
from simweb.servers.control import Control
from simweb.servers.dns import NameServer, TcpNames, UdpNames
from simweb.servers.listeners import Listeners, bound_socket
from simweb.servers.request_log import RequestLog
from simweb.sites.builder import build_world
from simweb.sites.options import ServeOptions, WorldOptions
from simweb.sites.plan import World
from simweb.sites.plan_files import write_plan
from simweb.sites.world_state import Running

__all__ = ["serve"]

_LOCAL = "127.0.0.1"
_DNS_ATTEMPTS = 20


def serve(world_options: WorldOptions, options: ServeOptions) -> None:
    """Build the world and serve it until SIGTERM, SIGINT or the end of standard input.

    Prints `READY {json}` when everything listens. Raises SettingError for what cannot be served,
    and when the log can no longer be written.
    """
    world = build_world(world_options)
    if options.plan_only:
        if not options.write:
            raise SettingError("--plan-only needs --write DIR, where the plan goes")
        seeds = write_plan(world, options.port or 80, Path(options.write), options.write_urls)
        _say("PLANNED", {"hosts": len(world.hosts), "seeds": str(seeds)})
        return
    gc.freeze()
    asyncio.run(_Web(world, options).run())


class _Web:
    """One running web and its sockets."""

    def __init__(self, world: World, options: ServeOptions) -> None:
        self._world, self._options = world, options
        self._log = RequestLog(Path(options.log) if options.log else None, self._fail)
        self._failure: OSError | None = None

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        listeners = Listeners(lambda: Connection(context))
        running = Running(self._world)
        listeners.bind(self._world.addresses(), self._options.port)
        answers = Answers(self._world, running, listeners.port)
        context = Context(self._world, running, answers, self._log, self._options.idle_s)
        context.log.moment("start", port=listeners.port, options=self._world.options.to_json())
        await listeners.start()
        dns_port, dns_servers = await _serve_names(NameServer(context), self._options.dns_port)
        control = Control(context, listeners)
        control_socket = _bind_local(self._options.control_port, "--control-port")
        control_server = await asyncio.start_server(control.serve, sock=control_socket)
        ready = {
            "port": listeners.port,
            "dns_port": dns_port,
            "control_port": control_socket.getsockname()[1],
            "hosts": len(self._world.hosts),
            "addresses": len(self._world.addresses()),
            "pages": sum(host.pages for host in self._world.hosts),
            "seeds": None,
            "log": self._options.log or None,
        }
        if self._options.write:
            folder = Path(self._options.write)
            seeds = write_plan(self._world, listeners.port, folder, self._options.write_urls)
            ready["seeds"] = str(seeds.resolve())
        if self._options.until_eof:
            loop.add_reader(sys.stdin.fileno(), self._read_input)
        if not self._stop.is_set():
            _say("READY", ready)
        await self._stop.wait()
        listeners.close()
        control_server.close()
        for server in dns_servers:
            server.close()
        for connection in list(context.connections):
            connection.stop()
        context.log.moment("stop")
        self._log.close()
        if self._failure is not None:
            raise SettingError(
                f"--log {self._options.log}: {self._failure.strerror}; a crawl that is not "
                "logged cannot be judged: make room or give another file"
            ) from self._failure

    def _read_input(self) -> None:
        if not os.read(sys.stdin.fileno(), 4_096):
            self._stop.set()

    def _fail(self, error: OSError) -> None:
        self._failure = error
        self._stop.set()


def _say(word: str, values: dict[str, Any]) -> None:
    """Report to the process that started this, in one line."""
    sys.stdout.write(f"{word} {json.dumps(values)}\n")
    sys.stdout.flush()


async def _serve_names(
    names: NameServer, port: int
) -> tuple[int, list[asyncio.Server | asyncio.DatagramTransport]]:
    """Serve DNS by TCP and UDP on one port."""
    loop = asyncio.get_running_loop()
    for _ in range(_DNS_ATTEMPTS):
        tcp = _bind_local(port, "--dns-port")
        number = int(tcp.getsockname()[1])
        try:
            udp = _bind_local(number, "--dns-port", socket.SOCK_DGRAM)
            break
        except SettingError:
            tcp.close()
            if port:
                raise
    else:
        raise SettingError("--dns-port = 0: no port is free for both TCP and UDP; give one")
    server = await loop.create_server(lambda: TcpNames(names), sock=tcp)
    transport, _ = await loop.create_datagram_endpoint(lambda: UdpNames(names), sock=udp)
    return number, [server, transport]


def _bind_local(
    port: int, flag: str, kind: socket.SocketKind = socket.SOCK_STREAM
) -> socket.socket:
    try:
        return bound_socket(_LOCAL, port, kind)
    except OSError as error:
        raise SettingError(f"{flag} = {port}: {error.strerror}; 0 finds a free one") from error
