"""The control port: change a running web and read its counters. For tests, on loopback only.

GET  /stats
GET  /hosts/NAME
POST /hosts/NAME/fault   {"kind": "hang"}     an empty kind heals the host
POST /hosts/NAME/move                         a new address in its region
POST /change             {"share": 0.1, "host": NAME}     both are optional
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from shared.errors import FormatError, PrsmError
from simweb.servers.answer import Answer, head_bytes
from simweb.servers.context import Context
from simweb.servers.listeners import Listeners
from simweb.servers.request import HEAD_LIMIT_BYTES, Request, read_head
from simweb.sites.distance import HOST_NETWORK
from simweb.sites.plan import HostPlan

__all__ = ["Control"]

_SPARE_NETWORK = 255  # 127.(20+R).255.N is never planned


class Control:
    """Commands to a running web."""

    def __init__(self, context: Context, listeners: Listeners) -> None:
        self._context, self._listeners = context, listeners
        self._moves = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close."""
        try:
            status, value = await self._run(*await _read(reader))
        except (EOFError, ConnectionError):
            writer.close()
            return
        except PrsmError as error:
            status, value = 400, {"error": str(error)}
        except OSError as error:
            status, value = 500, {"error": f"cannot listen there: {error}"}
        text = json.dumps(value).encode() + b"\n"
        answer = Answer(status, [("Content-Type", "application/json")], text)
        writer.write(head_bytes(answer, "", keep_alive=False, http_1_0=False) + text)
        writer.close()

    async def _run(self, request: Request, body: bytes) -> tuple[int, dict[str, Any]]:
        values = _object(body)
        parts = request.path.strip("/").split("/")
        if request.method == "GET" and parts == ["stats"]:
            return 200, self._context.stats.to_json()
        if request.method == "POST" and parts == ["change"]:
            return 200, self._change(values)
        if parts[0] != "hosts" or len(parts) not in (2, 3):
            return 404, {"error": "know GET /stats, POST /change, /hosts/NAME[/fault|/move]"}
        host = self._context.world.by_name.get(parts[1])
        if host is None:
            return 404, {"error": f"no host {parts[1]!r}"}
        if request.method == "POST" and parts[2:] == ["fault"]:
            await self._fault(host, str(values.get("kind", "")))
        elif request.method == "POST" and parts[2:] == ["move"]:
            await self._move(host)
        elif request.method != "GET" or parts[2:]:
            return 405, {"error": "GET /hosts/NAME, POST /hosts/NAME/fault, /hosts/NAME/move"}
        running = self._context.running
        return 200, {
            "name": host.name,
            "address": running.address_of(host),
            "fault": running.fault_of(host),
        }

    def _change(self, values: dict[str, Any]) -> dict[str, Any]:
        name = values.get("host")
        host = self._context.world.by_name.get(str(name)) if name is not None else None
        if name is not None and host is None:
            raise FormatError(f"no host {name!r}")
        share = values.get("share", 1.0)
        if not isinstance(share, int | float):
            raise FormatError(f"share = {share!r}: not a number over 0 and up to 1")
        change = self._context.running.change(float(share), host)
        self._context.log.moment("change", share=change.share, host=name)
        return {"change": change.number + 1}

    async def _fault(self, host: HostPlan, kind: str) -> None:
        """Set a fault; `refused` takes all its addresses, with every name on them."""
        running = self._context.running
        running.set_fault(host, kind)
        self._context.log.moment("fault", host=host.name, kind=kind)
        hosts = self._context.world.hosts
        for address in running.addresses_of(host):
            here = [other for other in hosts if address in running.addresses_of(other)]
            if any(running.fault_of(other) == "refused" for other in here):
                self._listeners.remove(address)
            else:
                await self._listeners.add(address)

    async def _move(self, host: HostPlan) -> None:
        self._moves += 1
        address = f"127.{HOST_NETWORK + host.region}.{_SPARE_NETWORK}.{self._moves}"
        if self._moves > 254:
            raise FormatError("254 moves were made: restart for more")
        await self._listeners.add(address)
        self._context.running.move(host, address)
        self._context.log.moment("move", host=host.name, address=address)


async def _read(reader: asyncio.StreamReader) -> tuple[Request, bytes]:
    """Read a request and its body. Raises FormatError, EOFError, ConnectionError."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise FormatError(f"request head over {HEAD_LIMIT_BYTES} bytes") from error
    request = read_head(head[:-4])
    return request, await reader.readexactly(request.body_bytes)


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        return {}
    try:
        values = json.loads(body)
    except ValueError as error:
        raise FormatError(f"the body is no JSON: {error}") from error
    if not isinstance(values, dict):
        raise FormatError("the body is no JSON object")
    return values
