"""The agent's look-ups: for how long an answer is believed, and what a proxy changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent.adapters.dns import DnsResolver, ResolverOptions
from agent.pipeline.messages.hosts import LookUp, pinned
from shared.naming import AddressRules, Kind, NoAnswerError, Record
from tests.shared.naming.zone import Zone

HOST = "http://www.a.example:80/"
A: tuple[str, Kind] = ("www.a.example", "A")
AAAA: tuple[str, Kind] = ("www.a.example", "AAAA")


def look_up(
    host: str,
    zone: Zone,
    options: ResolverOptions | None = None,
    routed: Callable[[str], bool] = lambda address: True,
) -> LookUp:
    async def once() -> LookUp:
        answers: asyncio.Queue[LookUp] = asyncio.Queue()
        resolver = DnsResolver(zone, AddressRules().refusal, options, routed)
        resolver.start(host, answers.put_nowait)
        answer = await answers.get()
        await resolver.close()
        return answer

    return asyncio.run(once())


def test_ipv6_is_asked_for_where_it_is_wanted() -> None:
    """A site without IPv6 asks for A only."""
    zone = Zone({A: [Record("133.9.9.1", 300)]})
    look_up(HOST, zone, ResolverOptions(("A",)))
    assert zone.asked == [A]
    assert zone.closed
    look_up(HOST, zone)
    assert set(zone.asked) == {A, AAAA}


@pytest.mark.parametrize(("said_s", "kept_s"), [(0, 60), (59, 60), (61, 61), (10**7, 86_400)])
def test_answers_are_believed_for_a_minute_to_a_day(said_s: int, kept_s: int) -> None:
    """No server makes us ask each second, or never again."""
    zone = Zone({A: [Record("133.9.9.1", said_s)]})
    assert look_up(HOST, zone).ttl_s == kept_s


def test_a_no_a_silence_and_a_refusal_are_told_apart() -> None:
    """Silence may pass; a no holds for minutes, a name that leads inside for a day."""
    no = look_up(HOST, Zone())
    assert (no.addresses, no.temporary, no.ttl_s) == ((), False, 600)
    silence = look_up(HOST, Zone({AAAA: NoAnswerError("timeout")}))
    assert (silence.addresses, silence.temporary) == ((), True)
    inside = look_up(HOST, Zone({A: [Record("10.0.0.1", 1)]}))
    assert (inside.addresses, inside.temporary, inside.ttl_s) == ((), False, 86_400)
    assert "forbidden address: 10.0.0.1" in inside.reason


def test_behind_a_proxy_the_host_stands_for_its_address() -> None:
    """The proxy looks names up; those known here to lead inside are refused all the same."""
    proxied = ResolverOptions(proxied=True)
    assert look_up(HOST, Zone(), proxied).addresses == ("//www.a.example",)
    assert look_up(HOST, Zone({A: NoAnswerError("x")}), proxied).addresses
    assert look_up(HOST, Zone({A: [Record("133.9.9.1", 300)]}), proxied).addresses
    assert look_up(HOST, Zone({A: [Record("10.0.0.1", 300)]}), proxied).addresses == ()
    assert look_up("http://127.0.0.1:80/", Zone(), proxied).addresses == ()


def test_behind_a_proxy_all_ports_of_a_name_share_its_clock() -> None:
    """Politeness is owed to the name, as it would be to the address."""
    hosts = (HOST, "https://www.a.example:443/", "http://www.a.example:8080/")
    found = {look_up(host, Zone(), ResolverOptions(proxied=True)).addresses for host in hosts}
    assert len(found) == 1
    (address,) = found.pop()[:1]
    assert pinned(address) == ""


DUAL = Zone(
    {
        A: [Record("133.9.9.2", 300), Record("133.9.9.1", 300)],
        AAAA: [Record("2400:9::2", 300), Record("2400:9::1", 300)],
    }
)


def test_addresses_without_a_route_come_last() -> None:
    """A machine with IPv6 alone does not begin with IPv4; none is left out."""
    four, six = ("133.9.9.1", "133.9.9.2"), ("2400:9::1", "2400:9::2")
    assert look_up(HOST, DUAL).addresses == four + six
    assert look_up(HOST, DUAL, routed=lambda one: ":" in one).addresses == six + four
    assert look_up(HOST, DUAL, routed=lambda one: ":" not in one).addresses == four + six
    assert look_up(HOST, DUAL, routed=lambda one: False).addresses == four + six


def test_hosts_without_an_address_that_can_be_used_have_none() -> None:
    """One whose requests leave from an IPv6 address is told why it reaches no host of IPv4."""
    only_six = ResolverOptions(("AAAA",))
    assert look_up(HOST, DUAL, only_six).addresses == ("2400:9::1", "2400:9::2")
    for host in (HOST, "http://133.9.9.1:80/"):
        none = look_up(host, Zone({A: [Record("133.9.9.1", 300)]}), only_six)
        assert (none.addresses, none.temporary) == ((), False)
        assert "network.source_address leaves IPv6 alone" in none.reason


def test_a_look_up_says_how_long_it_took() -> None:
    """Behind a proxy it says nothing of the way that pages come."""
    zone = Zone({A: [Record("133.9.9.1", 300)]})
    took_ms = look_up(HOST, zone).took_ms
    assert took_ms is not None
    assert took_ms > 0
    assert look_up(HOST, zone, ResolverOptions(proxied=True)).took_ms is None


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


def test_a_question_that_fails_oddly_is_an_answer() -> None:
    """A defect met by one name must not use up a place among those that are looked up at a time."""

    class Odd:
        async def ask(self, name: str, kind: Kind) -> list[Record]:
            raise KeyError("x\x00" * 500)

        async def close(self) -> None:
            pass

    async def run() -> LookUp:
        answers: asyncio.Queue[LookUp] = asyncio.Queue()
        resolver = DnsResolver(Odd(), AddressRules().refusal)
        resolver.start(HOST, answers.put_nowait)
        return await asyncio.wait_for(answers.get(), 20)

    answer = asyncio.run(run())
    assert (answer.addresses, answer.temporary) == ((), True)
    assert answer.reason.startswith("could not be looked up: KeyError: ")
    assert len(answer.reason) < 300
