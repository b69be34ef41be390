"""A real name server on loopback, with every kind of answer, good and bad."""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dnslib import AAAA, CNAME, QTYPE, RCODE, RR, A, DNSRecord
from dnslib.server import BaseResolver, DNSHandler, DNSLogger, DNSServer

__all__ = ["Lent", "Zone", "running_name_server"]

SLOW_S = 0.4


class Zone(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    """Answers by the first label; `10.0.0.1.inside.example` leads to 10.0.0.1."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        """Answer one question."""
        reply = request.reply()
        name, kind = str(request.q.qname), request.q.qtype
        times = self.asked[name, QTYPE[kind]] = self.asked[name, QTYPE[kind]] + 1
        label = name.split(".", maxsplit=1)[0]
        if label in ("nxdomain", "servfail", "refused"):
            reply.header.rcode = getattr(RCODE, label.upper())
        elif name.endswith(".inside.example.") and kind == QTYPE.A:
            _add_a(reply, name, name.removesuffix(".inside.example."), 1)
        elif label == "alias":
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME("real.example"), ttl=30))
            if kind == QTYPE.A:
                _add_a(reply, "real.example", "133.9.1.1", 90)
        elif label == "aliasinside":
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME("db.corp.example"), ttl=30))
            if kind == QTYPE.A:
                _add_a(reply, "db.corp.example", "192.168.7.7", 90)
        elif label == "both" and kind == QTYPE.A:
            _add_a(reply, name, "133.9.1.1", 90)
            _add_a(reply, name, "10.0.0.1", 90)
        elif label == "rebinding" and kind == QTYPE.A:
            _add_a(reply, name, "133.9.1.1" if times == 1 else "127.0.0.1", 0)
        elif label in ("six", "insidesix") and kind == QTYPE.AAAA:
            address = "2400::1" if label == "six" else "fd00:ec2::254"
            reply.add_answer(RR(name, QTYPE.AAAA, rdata=AAAA(address), ttl=90))
        elif label == "dual":
            record = (
                RR(name, QTYPE.A, rdata=A("133.9.1.2"), ttl=90)
                if kind == QTYPE.A
                else RR(name, QTYPE.AAAA, rdata=AAAA("2400::1"), ttl=120)
            )
            reply.add_answer(record)
        elif label == "slow" and kind == QTYPE.A:
            time.sleep(SLOW_S)
            _add_a(reply, name, "133.9.1.3", 90)
        elif label == "second" and kind == QTYPE.A:
            # Lost once: no answer to the first packet, as on a bad line.
            if times == 1:
                time.sleep(2 * SLOW_S)
            _add_a(reply, name, "133.9.1.4", 90)
        elif label == "many" and kind == QTYPE.A:
            # Too long for UDP: cut there, and whole over TCP.
            for number in range(200):
                _add_a(reply, name, f"133.9.2.{number}", 90)
        elif label == "liar" and kind == QTYPE.A:
            reply.header.id ^= 0x5555  # an answer to another question: whoever guessed the port
            _add_a(reply, name, "133.9.66.6", 86_400)
        return reply


class Lent(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    """Answers as another server of this machine does, or with one failure about every name."""

    def __init__(self, port: int, failure: str = "") -> None:
        """port: of the other one. failure: as `NXDOMAIN`; "": none."""
        self.port = port
        self.failure = failure

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        """Answer one question."""
        if not self.failure:
            return DNSRecord.parse(request.send("127.0.0.1", self.port, timeout=10))
        reply = request.reply()
        reply.header.rcode = getattr(RCODE, self.failure)
        return reply


def _add_a(reply: DNSRecord, name: str, address: str, ttl: int) -> None:
    reply.add_answer(RR(name, QTYPE.A, rdata=A(address), ttl=ttl))


@contextmanager
def running_name_server(zone: Any = None) -> Iterator[tuple[str, Any]]:
    """Run a server over UDP and TCP on a free port; give its `address:port`.

    zone: who answers; None: a `Zone`.
    """
    zone = Zone() if zone is None else zone
    udp, tcp = _bound(zone)
    host, port = udp.server.server_address
    for server in (udp, tcp):
        server.start_thread()
    try:
        yield f"{host}:{port}", zone
    finally:
        for server in (udp, tcp):
            server.server.shutdown()
            server.thread.join()
            server.server.server_close()


def _bound(zone: Any) -> tuple[DNSServer, DNSServer]:
    """Return servers for UDP and TCP on one port, which is free for both."""
    logger = DNSLogger("-request,-reply,-truncated,-error")
    while True:
        udp = DNSServer(zone, address="127.0.0.1", port=0, logger=logger)
        port = udp.server.server_address[1]
        try:
            return udp, DNSServer(zone, address="127.0.0.1", port=port, tcp=True, logger=logger)
        except OSError as error:  # in use by TCP: another test has it
            udp.server.server_close()
            if error.errno != errno.EADDRINUSE:
                raise
