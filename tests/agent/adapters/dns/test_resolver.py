"""The look-up of a host."""

from __future__ import annotations

import asyncio

import pytest

from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.adapters.dns.questions import Kind, NoAnswerError, NoSuchNameError, Record
from agent.adapters.networks import AddressRules
from agent.pipeline.ports import LookUp


class Zone:
    """Answers from a table: records, or an error to raise."""

    def __init__(self, table: dict[tuple[str, Kind], list[Record] | Exception]) -> None:
        self._table = table
        self.asked: list[tuple[str, Kind]] = []
        self.closed = False

    async def ask(self, name: str, kind: Kind) -> list[Record]:
        self.asked.append((name, kind))
        answer = self._table.get((name, kind), NoSuchNameError("not found"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


def look_up(
    host: str, zone: Zone, options: ResolverOptions | None = None, allowed: tuple[str, ...] = ()
) -> LookUp:
    async def once() -> LookUp:
        answers: asyncio.Queue[LookUp] = asyncio.Queue()
        resolver = DnsResolver(zone, AddressRules(allowed).refusal, options)
        resolver.start(host, answers.put_nowait)
        answer = await answers.get()
        await resolver.close()
        return answer

    return asyncio.run(once())


HOST = "http://www.a.example:80/"
A, AAAA = ("www.a.example", "A"), ("www.a.example", "AAAA")


def test_addresses_come_in_one_order() -> None:
    """IPv4 before IPv6, by number, each once, whatever the servers' order."""
    zone = Zone(
        {
            ("www.a.example", "AAAA"): [Record("2400::2", 900), Record("2400::1", 900)],
            ("www.a.example", "A"): [
                Record("133.9.10.1", 300),
                Record("133.9.9.1", 700),
                Record("133.9.9.1", 700),
            ],
        }
    )
    answer = look_up(HOST, zone)
    assert answer.addresses == ("133.9.9.1", "133.9.10.1", "2400::1", "2400::2")
    assert (answer.host, answer.ttl_s, answer.reason) == (HOST, 300, "")


def test_ipv6_is_asked_for_where_it_is_wanted() -> None:
    """A site without IPv6 asks for A only."""
    zone = Zone({("www.a.example", "A"): [Record("133.9.9.1", 300)]})
    look_up(HOST, zone, ResolverOptions(ipv6=False))
    assert zone.asked == [A]
    assert zone.closed
    look_up(HOST, zone)
    assert set(zone.asked) == {A, AAAA}


@pytest.mark.parametrize(("said_s", "kept_s"), [(0, 60), (59, 60), (61, 61), (10**7, 86_400)])
def test_answers_are_believed_for_a_minute_to_a_day(said_s: int, kept_s: int) -> None:
    """No server makes us ask each second, or never again."""
    zone = Zone({("www.a.example", "A"): [Record("133.9.9.1", said_s)]})
    assert look_up(HOST, zone).ttl_s == kept_s


@pytest.mark.parametrize("inside", ["10.0.0.1", "169.254.169.254", "127.0.0.1"])
def test_one_forbidden_address_forbids_the_host(inside: str) -> None:
    """A name that leads inside only sometimes leads inside."""
    records = [Record("133.9.9.1", 300), Record(inside, 300)]
    answer = look_up(HOST, Zone({("www.a.example", "A"): records}))
    assert answer.addresses == ()
    assert inside in answer.reason
    assert not answer.temporary


def test_a_forbidden_ipv6_answer_counts_too() -> None:
    """An AAAA record that wraps a private address is refused."""
    zone = Zone(
        {
            ("www.a.example", "A"): [Record("133.9.9.1", 300)],
            ("www.a.example", "AAAA"): [Record("::ffff:10.0.0.1", 300)],
        }
    )
    assert look_up(HOST, zone).addresses == ()


def test_the_operator_may_allow_a_range() -> None:
    """The simulated web lives on loopback."""
    zone = Zone({("www.a.example", "A"): [Record("127.0.0.5", 300)]})
    assert look_up(HOST, zone, allowed=("127.0.0.0/8",)).addresses == ("127.0.0.5",)


def test_a_no_and_silence_are_told_apart() -> None:
    """Silence may pass; what a server denied is not asked again at once."""
    no = look_up(HOST, Zone({}))
    assert (no.addresses, no.temporary) == ((), False)
    assert "has no address" in no.reason
    silence = look_up(HOST, Zone({("www.a.example", "AAAA"): NoAnswerError("timeout")}))
    assert (silence.addresses, silence.temporary) == ((), True)
    half = Zone(
        {
            ("www.a.example", "A"): [Record("133.9.9.1", 300)],
            ("www.a.example", "AAAA"): NoAnswerError("timeout"),
        }
    )
    assert look_up(HOST, half).addresses == ("133.9.9.1",)


def test_addresses_in_urls_are_judged_without_a_question() -> None:
    """A host that is an address already is not looked up."""
    zone = Zone({})
    assert look_up("http://133.9.9.1:80/", zone).addresses == ("133.9.9.1",)
    assert look_up("http://[2400::1]:8080/", zone).addresses == ("2400::1",)
    assert look_up("http://127.0.0.1:80/", zone).addresses == ()
    assert look_up("http://[::ffff:a00:1]:80/", zone).addresses == ()
    assert zone.asked == []


def test_behind_a_proxy_the_host_stands_for_its_address() -> None:
    """The proxy looks names up; those known here to lead inside are refused all the same."""
    proxied = ResolverOptions(proxied=True)
    assert look_up(HOST, Zone({}), proxied).addresses == (HOST,)
    assert look_up(HOST, Zone({("www.a.example", "A"): NoAnswerError("x")}), proxied).addresses
    public = Zone({("www.a.example", "A"): [Record("133.9.9.1", 300)]})
    assert look_up(HOST, public, proxied).addresses == (HOST,)
    inside = Zone({("www.a.example", "A"): [Record("10.0.0.1", 300)]})
    assert look_up(HOST, inside, proxied).addresses == ()
    assert look_up("http://127.0.0.1:80/", Zone({}), proxied).addresses == ()


def test_closing_ends_what_is_under_way() -> None:
    """A look-up that nobody waits for any more is not answered."""

    class Silent:
        async def ask(self, name: str, kind: Kind) -> list[Record]:
            await asyncio.Event().wait()
            raise AssertionError

        async def close(self) -> None:
            pass

    async def run() -> list[LookUp]:
        answers: list[LookUp] = []
        resolver = DnsResolver(Silent(), AddressRules().refusal)
        resolver.start(HOST, answers.append)
        await asyncio.sleep(0)
        await resolver.close()
        return answers

    assert asyncio.run(run()) == []
