"""Real name servers on loopback: what they say becomes addresses, a no, or silence."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest
from dnslib import AAAA, CNAME, QTYPE, RCODE, RR, A, DNSRecord
from dnslib.server import BaseResolver, DNSHandler, DNSLogger, DNSServer

from manager.naming import Names, NameServers, NoAnswerError, NoSuchNameError, Record
from manager.naming.questions import Kind
from manager.settings import NamingSettings

pytestmark = pytest.mark.e2e


class Zone(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    """A zone with every kind of answer."""

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        """Answer by the first label."""
        reply = request.reply()
        name, kind = str(request.q.qname), request.q.qtype
        label = name.split(".", maxsplit=1)[0]
        if label in ("nxdomain", "servfail", "refused"):
            reply.header.rcode = getattr(RCODE, label.upper())
        elif label == "alias":
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME("real.example"), ttl=30))
            if kind == QTYPE.A:
                reply.add_answer(RR("real.example", QTYPE.A, rdata=A("133.9.1.1"), ttl=90))
        elif label == "inside" and kind == QTYPE.A:
            reply.add_answer(RR(name, QTYPE.A, rdata=A("133.9.1.1"), ttl=90))
            reply.add_answer(RR(name, QTYPE.A, rdata=A("10.0.0.1"), ttl=90))
        elif label == "six" and kind == QTYPE.AAAA:
            reply.add_answer(RR(name, QTYPE.AAAA, rdata=AAAA("2400::1"), ttl=90))
        return reply


@pytest.fixture
def name_server() -> Iterator[str]:
    """Run a name server on a free port of loopback; return `address:port`."""
    server = DNSServer(Zone(), address="127.0.0.1", port=0, logger=DNSLogger("-request,-reply"))
    server.start_thread()
    host, port = server.server.server_address
    yield f"{host}:{port}"
    server.server.shutdown()
    server.thread.join()
    server.server.server_close()


def ask(server: str, name: str, kind: Kind) -> list[Record]:
    async def once() -> list[Record]:
        async with NameServers([server], timeout_s=0.5, tries=1) as servers:
            return await servers(name, kind)

    return asyncio.run(once())


def test_answers_are_told_apart(name_server: str) -> None:
    """An address, an alias, a no and a failure each come back as what they are."""
    assert ask(name_server, "six.example", "AAAA") == [Record("2400::1", 90)]
    assert ask(name_server, "alias.example", "A") == [Record("133.9.1.1", 90)]
    for no in ("nxdomain.example", "six.example", "a..b", "x" * 64 + ".example"):
        with pytest.raises(NoSuchNameError):
            ask(name_server, no, "A")
    for silence in ("servfail.example", "refused.example"):
        with pytest.raises(NoAnswerError):
            ask(name_server, silence, "A")


def test_a_dead_server_is_silence() -> None:
    """A server that does not answer says nothing about the name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswerError):
            ask(f"127.0.0.1:{deaf.getsockname()[1]}", "a.example", "A")


def test_a_batch_of_hosts(name_server: str) -> None:
    """The look-up of the settings asks the servers of the settings and judges the answers."""
    names = Names(NamingSettings(servers=(name_server,), timeout_s=0.5, tries=1))
    found = names.resolve(
        f"http://{label}.example:80/"
        for label in ("six", "alias", "inside", "nxdomain", "servfail")
    )
    assert [each.addresses for each in found] == [("2400::1",), ("133.9.1.1",), (), (), ()]
    assert [each.temporary for each in found] == [False, False, False, False, True]
    assert "10.0.0.1" in found[2].failure
