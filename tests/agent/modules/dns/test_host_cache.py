"""The host cache answers like a dict whose entries run out, in a fraction of its memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agent.modules.dns.host_cache import HostCache
from agent.pipeline.messages.hosts import stand_in
from benchmarks.memory import bytes_of

HOSTS = [f"http://h{number}.example:80/" for number in range(40)]
ADDRESSES = ["", "192.0.2.1", "0.0.0.1", "255.255.255.255", "2001:db8::1", "ffff::ffff", "::2"]


class LikeADict(RuleBasedStateMachine):
    """Puts, looks, forgets, in any order and with time passing."""

    @initialize(begun=st.floats(0, 1e9))
    def begin(self, begun: float) -> None:
        self.begun = self.now = begun
        self.cache = HostCache(100, begun)
        self.wanted: dict[str, tuple[str, int]] = {}

    @rule(
        host=st.sampled_from(HOSTS),
        address=st.sampled_from([*ADDRESSES, "by proxy"]),
        ttl=st.floats(0, 100),
    )
    def put(self, host: str, address: str, ttl: float) -> None:
        address = stand_in(host) if address == "by proxy" else address
        self.cache.put(host, address, self.now + ttl, self.now)
        self.wanted[host] = address, int(self.now + ttl - self.begun)

    @rule(hosts=st.lists(st.sampled_from(HOSTS), max_size=5))
    def look(self, hosts: list[str]) -> None:
        for host in hosts:
            address, until = self.wanted.get(host, ("", -1))
            expires_s = self.begun + until
            wanted = (address, expires_s) if expires_s > self.now else None
            assert self.cache.get(host, self.now) == wanted

    @rule(host=st.sampled_from(HOSTS))
    def forget(self, host: str) -> None:
        self.cache.forget(host)
        self.wanted.pop(host, None)

    @rule(seconds=st.floats(0, 50))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds


TestLikeADict: Any = LikeADict.TestCase
TestLikeADict.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


@given(count=st.integers(1, 3000), wide=st.booleans())
@settings(max_examples=20, deadline=None)
def test_all_that_find_room_are_found(count: int, wide: bool) -> None:
    """Growing moves every host and loses none."""
    cache = HostCache(3000, 0.0)
    for number in range(count):
        address = f"2001:db8::{number:x}" if wide else f"10.0.{number >> 8}.{number & 255}"
        cache.put(f"h{number}", address, 50.0 + number, 0.0)
    for number in range(count):
        address = f"2001:db8::{number:x}" if wide else f"10.0.{number >> 8}.{number & 255}"
        found = cache.get(f"h{number}", 1.0)
        assert found == (address if number or not wide else "2001:db8::", 50.0 + number)
    assert cache.get("h-1", 1.0) is None


def test_beyond_its_bound_those_that_expire_first_make_room() -> None:
    """Memory stays bounded however many hosts come, and what is good for longest stays."""
    capacity, cache, sizes = 32_768, HostCache(32_768, 0.0), []
    for number in range(160_000):
        cache.put(f"h{number}", "192.0.2.1", 1000.0 + number % 1000, 0.0)
        if number % 1000 == 0:
            sizes.append(bytes_of(cache))
    assert max(sizes) <= capacity * 16 * 2
    lasting = [number for number in range(160_000) if cache.get(f"h{number}", 1.0)]
    assert len(lasting) > capacity // 2
    # By chance the half of a thousand seconds; those that came just now may expire soon.
    assert sum(number % 1000 for number in lasting) / len(lasting) > 600


def test_what_expired_makes_room_before_what_did_not() -> None:
    """A cache full of old answers takes new ones without growing."""
    cache = HostCache(100_000, 0.0)
    for number in range(5000):
        cache.put(f"old{number}", "", 10.0, 0.0)
    size = bytes_of(cache)
    for number in range(5000):
        cache.put(f"new{number}", "192.0.2.7", 100.0, 20.0)
    assert bytes_of(cache) <= size * 1.6
    assert all(cache.get(f"new{number}", 21.0) for number in range(5000))


@pytest.mark.parametrize("hosts", [10_000, 300_000])
def test_a_host_takes_at_most_its_name_and_16_bytes(hosts: int) -> None:
    """The bound that was asked for, at any fill beyond a few thousand."""
    cache, names = HostCache(hosts, 0.0), 0
    for number in range(hosts):
        name = f"http://www{number}.example{number % 97}.jp:80/"
        names += len(name)
        cache.put(name, "192.0.2.1", 100.0, 0.0)
        if number % 1000 == 999 and number > 5000:
            assert bytes_of(cache) <= names + 16 * (number + 1)
