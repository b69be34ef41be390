"""A name server for the world, on one loopback port, by UDP and TCP.

It knows the hosts' A records and nothing else: other names do not exist, other types of known
names have no data. Hosts in DNS trouble fail as their kind says.
"""

from __future__ import annotations

import asyncio
import struct
from typing import cast

from dnslib import QTYPE, RCODE, RR, SOA, A, DNSError, DNSRecord

from simweb.servers.context import Context
from simweb.sites.plan import HostPlan

__all__ = ["NameServer", "TcpNames", "UdpNames"]

_NEGATIVE_TTL_S = 30
_TCP_IDLE_S = 10.0


class NameServer:
    """Answers packets; transports are the two protocols below."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._domain = context.world.options.domain

    def answer(self, packet: bytes, client: str, tcp: bool) -> bytes | None:
        """Return the answer to a packet; None for no answer at all."""
        try:
            query = DNSRecord.parse(packet)
        except (DNSError, ValueError, IndexError, struct.error, UnicodeError):
            return None
        if query.header.qr or not query.questions:
            return None
        name = str(query.q.qname).rstrip(".").lower()
        kind = QTYPE.get(query.q.qtype)
        host = self._context.world.by_name.get(name)
        fault = self._context.running.fault_of(host) if host else "nxdomain"
        reply = query.reply(ra=0, aa=1)
        outcome = self._fill(reply, query, host, fault, kind, tcp)
        self._context.stats.asked(name, outcome)
        self._context.log.moment(
            "dns", client=client, name=name, type=kind, outcome=outcome, tcp=tcp
        )
        return None if outcome == "none" else bytes(reply.pack())

    def _fill(
        self,
        reply: DNSRecord,
        query: DNSRecord,
        host: HostPlan | None,
        fault: str,
        kind: str,
        tcp: bool,
    ) -> str:
        """Put the answer into the reply; return its name for the log."""
        if fault == "dns-hang":
            return "none"
        if fault == "servfail":
            reply.header.rcode = RCODE.SERVFAIL
            return "SERVFAIL"
        if host is None or fault == "nxdomain":
            reply.header.rcode = RCODE.NXDOMAIN
            reply.add_auth(self._authority())
            return "NXDOMAIN"
        if fault == "dns-tcp" and not tcp:
            reply.header.tc = 1
            return "TRUNCATED"
        if kind not in ("A", "ANY"):
            reply.add_auth(self._authority())
            return "NODATA"
        ttl_s = self._context.world.options.dns_ttl_s
        for address in self._context.running.addresses_of(host):
            reply.add_answer(RR(query.q.qname, QTYPE.A, rdata=A(address), ttl=ttl_s))
        return "NOERROR"

    def _authority(self) -> RR:
        """Return the SOA record, whose minimum says how long to remember a no (RFC 2308)."""
        times = (1, 3_600, 600, 86_400, _NEGATIVE_TTL_S)
        soa = SOA(f"ns.{self._domain}", f"admin.{self._domain}", times)
        return RR(self._domain, QTYPE.SOA, rdata=soa, ttl=_NEGATIVE_TTL_S)


class UdpNames(asyncio.DatagramProtocol):
    """The name server by UDP."""

    def __init__(self, names: NameServer) -> None:
        self._names = names

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket to answer by."""
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one packet."""
        answer = self._names.answer(data, addr[0], tcp=False)
        if answer is not None:
            self._transport.sendto(answer, addr)


class TcpNames(asyncio.Protocol):
    """The name server by TCP: packets after their length in two bytes (RFC 1035, 4.2.2)."""

    def __init__(self, names: NameServer) -> None:
        self._names = names
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket to answer by, for a while."""
        self._transport = cast(asyncio.Transport, transport)
        self._client = str(transport.get_extra_info("peername")[0])
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_TCP_IDLE_S, self._transport.close)

    def data_received(self, data: bytes) -> None:
        """Answer each whole packet."""
        self._buffer += data
        while len(self._buffer) >= 2:
            size = int.from_bytes(self._buffer[:2], "big")
            if len(self._buffer) < size + 2:
                return
            packet, self._buffer = self._buffer[2 : size + 2], self._buffer[size + 2 :]
            answer = self._names.answer(packet, self._client, tcp=True)
            if answer is not None:
                self._transport.write(len(answer).to_bytes(2, "big") + answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer."""
        self._timer.cancel()
