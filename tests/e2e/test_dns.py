"""The resolver against a real name server on loopback."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest
from dnslib import AAAA, CNAME, QTYPE, RCODE, RR, A, DNSRecord
from dnslib.server import BaseResolver, DNSHandler, DNSLogger, DNSServer

from agent.adapters.dns import DnsResolver, NameServers, ResolverOptions
from agent.adapters.networks import AddressRules
from agent.errors import HomeError
from agent.pipeline.ports import LookUp
from tests.fixtures_dir import fixture_folder

pytestmark = pytest.mark.e2e


class Zone(BaseResolver):  # type: ignore[misc]  # dnslib has no types
    """Answers by the first label; `10.0.0.1.inside.example` leads to 10.0.0.1."""

    def resolve(self, request: DNSRecord, handler: DNSHandler) -> DNSRecord:
        reply = request.reply()
        name, kind = str(request.q.qname), request.q.qtype
        label = name.split(".", maxsplit=1)[0]
        if label in ("nxdomain", "servfail", "refused"):
            reply.header.rcode = getattr(RCODE, label.upper())
        elif name.endswith(".inside.example.") and kind == QTYPE.A:
            address = name.removesuffix(".inside.example.")
            reply.add_answer(RR(name, QTYPE.A, rdata=A(address), ttl=1))
        elif label == "alias":
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME("real.example"), ttl=30))
            if kind == QTYPE.A:
                reply.add_answer(RR("real.example", QTYPE.A, rdata=A("133.9.1.1"), ttl=90))
        elif label == "dual":
            record = (
                RR(name, QTYPE.A, rdata=A("133.9.1.2"), ttl=90)
                if kind == QTYPE.A
                else RR(name, QTYPE.AAAA, rdata=AAAA("2400::1"), ttl=120)
            )
            reply.add_answer(record)
        return reply


@pytest.fixture
def name_server() -> Iterator[str]:
    server = DNSServer(Zone(), address="127.0.0.1", port=0, logger=DNSLogger("-request,-reply"))
    server.start_thread()
    host, port = server.server.server_address
    yield f"{host}:{port}"
    server.server.shutdown()
    server.thread.join()
    server.server.server_close()


def look_up(server: str, *names: str, options: ResolverOptions | None = None) -> list[LookUp]:
    async def run() -> list[LookUp]:
        servers = NameServers([server], timeout_s=0.5, tries=1)
        resolver = DnsResolver(servers, AddressRules().refusal, options)
        try:
            return [await resolver.look_up(f"http://{name}:80/") for name in names]
        finally:
            await resolver.close()

    return asyncio.run(run())


def test_answers_become_addresses(name_server: str) -> None:
    """Both kinds of address, aliases, a no and a failure come back as what they are."""
    names = ("dual.example", "alias.example", "nxdomain.example", "servfail.example", "a..b")
    dual, alias, no, failure, nonsense = look_up(name_server, *names)
    assert (dual.addresses, dual.ttl_s) == (("133.9.1.2", "2400::1"), 90)
    assert alias.addresses == ("133.9.1.1",)
    assert (no.addresses, no.temporary) == ((), False)
    assert (failure.addresses, failure.temporary) == ((), True)
    assert (nonsense.addresses, nonsense.temporary) == ((), False)


def test_names_that_lead_inside_are_refused(name_server: str) -> None:
    """Every forbidden address, under an innocent name."""
    folder = fixture_folder("ssrf-targets")
    forms = json.loads((folder / "targets.json").read_text())["host_forms"]
    for answer in look_up(name_server, *(f"{address}.inside.example" for address in forms)):
        assert answer.addresses == ()
        assert answer.reason.startswith("forbidden address")


def test_a_deaf_server_is_silence() -> None:
    """A server that does not answer says nothing about the name, and the look-up ends."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        [answer] = look_up(f"127.0.0.1:{deaf.getsockname()[1]}", "a.example")
    assert answer.temporary


def test_a_server_that_is_no_address_is_refused() -> None:
    """The setting is checked when the agent starts."""

    async def run() -> None:
        with pytest.raises(HomeError, match="name servers"):
            NameServers(["not an address"])

    asyncio.run(run())
