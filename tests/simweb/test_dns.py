"""The name server knows the world's names, and fails as told. No sockets."""

from __future__ import annotations

import pytest
from dnslib import QTYPE, RCODE, DNSRecord
from hypothesis import given
from hypothesis import strategies as st

from simweb.servers.context import Context
from simweb.servers.dns import NameServer
from simweb.servers.request_log import RequestLog
from simweb.sites.options import WorldOptions
from tests.simweb.conftest import Served, served

OPTIONS = WorldOptions(
    hosts=20, trouble_scale=0, host_trouble=("all=1",), pages_mean=2, dns_ttl_s=77
)


def no_failure(error: OSError) -> None:
    """Fail the test: nothing is written here."""
    raise AssertionError(error)


@pytest.fixture
def web() -> Served:
    """Return a world with one host of each DNS trouble."""
    return served(OPTIONS)


def names_of(web: Served) -> tuple[NameServer, Context]:
    """Return the name server of a world."""
    log = RequestLog(None, no_failure)
    context = Context(web.world, web.running, web.answers, log, 60.0)
    return NameServer(context), context


def ask(names: NameServer, name: str, kind: str = "A", tcp: bool = False) -> DNSRecord | None:
    """Ask for a name."""
    answer = names.answer(bytes(DNSRecord.question(name, kind).pack()), "127.0.0.1", tcp)
    return DNSRecord.parse(answer) if answer is not None else None


def test_a_host_has_its_address(web: Served) -> None:
    """With the TTL of the options, as an authority, whatever the case of the name."""
    names, context = names_of(web)
    host = web.world.hosts[0]
    for spelling in (host.name, host.name.upper(), host.name + "."):
        answer = ask(names, spelling)
        assert answer is not None
        assert [str(rr.rdata) for rr in answer.rr] == [host.address]
        assert (answer.rr[0].ttl, answer.header.aa) == (77, 1)
    assert context.stats.to_json()["dns"] == {"NOERROR": 3}


def test_other_types_are_empty_and_other_names_do_not_exist(web: Served) -> None:
    """NODATA and NXDOMAIN both carry the SOA that says how long to believe it."""
    names, _ = names_of(web)
    for name, kind, rcode in (
        (web.world.hosts[0].name, "AAAA", RCODE.NOERROR),
        ("nobody.sim.test", "A", RCODE.NXDOMAIN),
        ("example.com", "A", RCODE.NXDOMAIN),
    ):
        answer = ask(names, name, kind)
        assert answer is not None
        assert (answer.header.rcode, answer.rr) == (rcode, [])
        assert [rr.rtype for rr in answer.auth] == [QTYPE.SOA]


def test_names_in_trouble(web: Served) -> None:
    """Each DNS trouble shows as its kind says."""
    names, _ = names_of(web)
    by_kind = {host.trouble: host.name for host in web.world.hosts}
    for kind, rcode in (("nxdomain", RCODE.NXDOMAIN), ("servfail", RCODE.SERVFAIL)):
        answer = ask(names, by_kind[kind])
        assert answer is not None
        assert answer.header.rcode == rcode
    assert ask(names, by_kind["dns-hang"]) is None
    truncated = ask(names, by_kind["dns-tcp"])
    assert truncated is not None
    assert (truncated.header.tc, truncated.rr) == (1, [])
    whole = ask(names, by_kind["dns-tcp"], tcp=True)
    assert whole is not None
    assert len(whole.rr) == 1


def test_faults_and_moves_at_run_time_show(web: Served) -> None:
    """A name can vanish, come back, and move."""
    names, _ = names_of(web)
    host = web.world.hosts[0]
    web.running.set_fault(host, "nxdomain")
    gone = ask(names, host.name)
    assert gone is not None
    assert gone.header.rcode == RCODE.NXDOMAIN
    web.running.set_fault(host, "")
    web.running.move(host, "127.20.255.1")
    moved = ask(names, host.name)
    assert moved is not None
    assert str(moved.rr[0].rdata) == "127.20.255.1"


_WEB = served(OPTIONS)
_NAMES, _ = names_of(_WEB)


@given(st.binary(max_size=80))
def test_any_packet_is_answered_or_dropped(packet: bytes) -> None:
    """Nothing that arrives stops the name server."""
    _NAMES.answer(packet, "127.0.0.1", False)


@given(st.binary(max_size=60), st.integers(0, 60))
def test_damaged_questions_are_answered_or_dropped(junk: bytes, at: int) -> None:
    """Neither does a question with a hole in it."""
    packet = bytes(DNSRecord.question(_WEB.world.hosts[0].name).pack())
    _NAMES.answer(packet[:at] + junk + packet[at:], "127.0.0.1", False)
    _NAMES.answer(packet[:at], "127.0.0.1", False)


def test_a_host_at_several_addresses_has_a_record_of_each_its_first_one_first() -> None:
    """Until it moves: then it has one."""
    web = served(WorldOptions(hosts=3, addresses=2, trouble_scale=0, pages_mean=2))
    names, context = names_of(web)
    host = web.world.hosts[1]
    reply = ask(names, host.name)
    assert reply is not None
    assert [str(record.rdata) for record in reply.rr] == ["127.20.0.2", "127.20.0.1"]
    context.running.move(host, "127.20.0.9")
    reply = ask(names, host.name)
    assert reply is not None
    assert [str(record.rdata) for record in reply.rr] == ["127.20.0.9"]
