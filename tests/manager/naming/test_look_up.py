"""Names become addresses, or a reason that says whether to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from manager.naming import (
    AddressRules,
    HostAnswer,
    NoAnswerError,
    NoSuchNameError,
    Record,
    look_up,
)
from manager.naming.questions import Kind


class FakeServers:
    """Name servers with a zone; an answer that is an error is raised."""

    def __init__(self, zone: dict[tuple[str, Kind], Sequence[Record] | Exception]) -> None:
        self._zone = zone
        self.asked: list[tuple[str, Kind]] = []
        self.now = self.most = 0

    async def __call__(self, name: str, kind: Kind) -> list[Record]:
        self.asked.append((name, kind))
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        answer = self._zone.get((name, kind), NoSuchNameError("Domain name not found"))
        if isinstance(answer, Exception):
            raise answer
        return list(answer)


def resolve(servers: FakeServers, *hosts: str, allowed: Sequence[str] = ()) -> list[HostAnswer]:
    return asyncio.run(look_up(hosts, servers, AddressRules(allowed), at_once=3))


def test_both_kinds_are_asked() -> None:
    """A host has the addresses of both kinds, sorted, for the shortest time any may be believed."""
    servers = FakeServers({
        ("www.example.jp", "A"): [Record("133.9.1.2", 600), Record("133.9.1.1", 300)],
        ("www.example.jp", "AAAA"): [Record("2400:0:0::1", 900)],
    })  # fmt: skip
    (found,) = resolve(servers, "http://www.example.jp:80/")
    assert found.addresses == ("133.9.1.1", "133.9.1.2", "2400::1")
    assert found.ttl_s == 300
    assert found.failure == ""


def test_one_kind_is_enough() -> None:
    """Silence or a no about one kind does not matter when the other has an address."""
    servers = FakeServers({
        ("a", "A"): [Record("133.9.1.2", 0)], ("a", "AAAA"): NoAnswerError("Timeout"),
        ("b", "AAAA"): [Record("2400::1", 60)],
    })  # fmt: skip
    a, b = resolve(servers, "http://a:80/", "https://b:443/")
    assert (a.addresses, a.ttl_s) == (("133.9.1.2",), 60)  # at least a minute
    assert b.addresses == ("2400::1",)


def test_no_and_silence_are_told_apart() -> None:
    """A name that does not exist is an answer; silence about either kind may pass."""
    servers = FakeServers({("b", "AAAA"): NoAnswerError("Timeout while contacting DNS servers")})
    a, b = resolve(servers, "http://a:80/", "http://b:80/")
    assert (a.addresses, a.temporary) == ((), False)
    assert "a has no address: Domain name not found" in a.failure
    assert (b.addresses, b.temporary) == ((), True)
    assert "Timeout" in b.failure


@pytest.mark.parametrize(
    "inside", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "224.0.0.1", "fe80::1", "::1"]
)
def test_one_forbidden_address_refuses_the_host(inside: str) -> None:
    """A name that also leads inside gets no address at all, and the reason names the address."""
    kind: Kind = "AAAA" if ":" in inside else "A"
    public: Record = Record("2400::1", 60) if ":" in inside else Record("133.9.1.1", 60)
    servers = FakeServers({("a", kind): [public, Record(inside, 60)]})
    (found,) = resolve(servers, "http://a:80/")
    assert found.addresses == ()
    assert not found.temporary
    assert inside in found.failure


def test_an_allowed_network_may_be_crawled() -> None:
    """The simulated web's addresses are taken when the operator allows them."""
    servers = FakeServers({("a.sim", "A"): [Record("127.8.0.1", 60)]})
    (found,) = resolve(servers, "http://a.sim:8080/", allowed=["127.0.0.0/8"])
    assert found.addresses == ("127.8.0.1",)


def test_addresses_in_urls_are_not_asked_about() -> None:
    """A host that is an address is judged without a question."""
    servers = FakeServers({})
    public, private, six = resolve(
        servers, "http://133.9.1.1:80/", "http://192.168.1.1:80/", "http://[2400::1]:80/"
    )
    assert public.addresses == ("133.9.1.1",)
    assert "192.168.0.0/16" in private.failure
    assert six.addresses == ("2400::1",)
    assert servers.asked == []


def test_questions_are_bounded() -> None:
    """Never more names at a time than allowed; answers come in the order of the hosts."""
    names = [f"h{i}" for i in range(20)]
    servers = FakeServers({(n, "A"): [Record(f"133.9.1.{i}", 60)] for i, n in enumerate(names)})
    found = resolve(servers, *(f"http://{name}:80/" for name in names))
    assert [each.addresses[0] for each in found] == [f"133.9.1.{i}" for i in range(20)]
    assert servers.most <= 3
