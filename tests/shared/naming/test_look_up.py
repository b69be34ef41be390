"""Names become addresses, or a reason that says whether to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from shared.naming import AddressRules, HostAnswer, Kind, NoAnswerError, Record, look_up
from shared.naming.look_up import MOST_ADDRESSES
from tests.shared.naming.zone import Zone

HOST = "http://a.example:80/"


def resolve(zone: Zone, host: str = HOST, allowed: Sequence[str] = ()) -> HostAnswer:
    return asyncio.run(look_up(host, zone, AddressRules(allowed).refusal))


def test_addresses_come_in_one_order() -> None:
    """IPv4 before IPv6, by number, each once, for the shortest time any may be believed."""
    zone = Zone({
        ("a.example", "AAAA"): [Record("2400::2", 900), Record("2400:0:0::1", 900)],
        ("a.example", "A"): [
            Record("133.9.10.1", 300), Record("133.9.9.1", 700), Record("133.9.9.1", 700),
        ],
    })  # fmt: skip
    found = resolve(zone)
    assert found.addresses == ("133.9.9.1", "133.9.10.1", "2400::1", "2400::2")
    assert (found.host, found.ttl_s, found.failure) == (HOST, 300, None)


def test_one_kind_is_enough() -> None:
    """Silence or a no about one kind does not matter when the other has an address."""
    only_a = Zone({("a.example", "A"): [Record("133.9.1.2", 0)]})
    assert resolve(only_a).addresses == ("133.9.1.2",)
    silent = Zone({
        ("a.example", "A"): [Record("133.9.1.2", 0)],
        ("a.example", "AAAA"): NoAnswerError("Timeout"),
    })  # fmt: skip
    assert resolve(silent).addresses == ("133.9.1.2",)
    assert resolve(Zone({("a.example", "AAAA"): [Record("2400::1", 60)]})).addresses == ("2400::1",)


def test_no_and_silence_are_told_apart() -> None:
    """A name that does not exist is an answer; silence about either kind may pass."""
    no = resolve(Zone())
    assert (no.addresses, no.temporary, no.forbidden) == ((), False, False)
    assert str(no.failure) == "a.example has no address: Domain name not found"
    silence = resolve(Zone({("a.example", "AAAA"): NoAnswerError("Timeout while contacting")}))
    assert (silence.addresses, silence.temporary) == ((), True)
    assert "Timeout" in str(silence.failure)


@pytest.mark.parametrize(
    "inside",
    [
        *("10.0.0.1", "127.0.0.1", "169.254.169.254", "224.0.0.1"),
        *("fe80::1", "::1", "::ffff:10.0.0.1"),
    ],
)
def test_one_forbidden_address_forbids_the_host(inside: str) -> None:
    """A name that also leads inside gets no address at all, and the reason names the address."""
    kind: Kind = "AAAA" if ":" in inside else "A"
    public: Record = Record("2400::1", 60) if ":" in inside else Record("133.9.1.1", 60)
    found = resolve(Zone({("a.example", kind): [public, Record(inside, 60)]}))
    assert found.addresses == ()
    assert (found.forbidden, found.temporary) == (True, False)
    assert str(ip_address(inside)) in str(found.failure)


def test_of_very_many_addresses_the_first_are_kept_and_all_judged() -> None:
    """A name server cannot fill our memory, nor hide an address behind others."""
    many = [Record(f"133.9.{number // 256}.{number % 256}", 60) for number in range(3000)]
    found = resolve(Zone({("a.example", "A"): many[::-1]}))
    assert found.addresses == tuple(f"133.9.0.{number}" for number in range(MOST_ADDRESSES))
    hidden = [*many, Record("192.168.0.1", 60)]
    assert resolve(Zone({("a.example", "A"): hidden})).forbidden


def test_an_allowed_network_may_be_crawled() -> None:
    """The simulated web's addresses are taken when the operator allows them."""
    zone = Zone({("a.example", "A"): [Record("127.8.0.1", 60)]})
    assert resolve(zone, allowed=["127.0.0.0/8"]).addresses == ("127.8.0.1",)


def test_addresses_in_urls_are_judged_without_a_question() -> None:
    """A host that is an address is not asked about."""
    zone = Zone()
    assert resolve(zone, "http://133.9.1.1:80/").addresses == ("133.9.1.1",)
    assert resolve(zone, "http://[2400::1]:8080/").addresses == ("2400::1",)
    for inside in ("192.168.1.1", "127.0.0.1", "[::ffff:a00:1]"):
        assert resolve(zone, f"http://{inside}:80/").forbidden
    assert "192.168.0.0/16" in str(resolve(zone, "http://192.168.1.1:80/").failure)
    assert zone.asked == []


def test_a_defect_is_no_answer_about_a_name() -> None:
    """What is neither records nor a known error is raised, not taken for a no."""
    with pytest.raises(RuntimeError, match="defect"):
        resolve(Zone({("a.example", "A"): RuntimeError("defect")}))
