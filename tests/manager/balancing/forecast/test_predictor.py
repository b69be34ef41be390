"""Predicted crawls by hand: waiting, connections, bytes, shared addresses, split hosts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import FloatArray, IntArray
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.forecast.predictor import (
    AddressLoad,
    address_ends,
    address_loads,
    crawl_ms,
)
from manager.balancing.forecast.work_duration import Capacity

NEVER_FAST = 1e18


def array(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float64)


def load(
    transfer: FloatArray,
    urls: FloatArray,
    agent: Capacity,
    *,
    own: FloatArray | None = None,
    address: IntArray | None = None,
) -> AddressLoad:
    where = np.arange(len(urls), dtype=np.intp) if address is None else address
    rest = np.zeros(len(urls)) if own is None else own
    count = int(where.max()) + 1
    return address_loads(transfer, urls, urls, rest, where, count, agent, NEVER_FAST)


def test_an_address_alone_takes_a_turn_for_each_request() -> None:
    """It rests before the first request and between two, not after the last."""
    agent = Capacity(interval_ms=20_000)
    one = load(array(500), array(5), agent)
    assert one.alone_ms.tolist() == [20_000 + 500 + 4 * 20_000]
    assert crawl_ms(one, agent) == one.alone_ms[0]


def test_a_burst_saves_rests_and_none_saves_all() -> None:
    """95 requests in tens have nine rests between them; without waiting only transfer counts."""
    tens = Capacity(interval_ms=1000, burst=10)
    assert load(array(95), array(95), tens).alone_ms.tolist() == [1000 + 95 + 9 * 1000]
    assert load(array(95), array(95), Capacity(burst=0)).alone_ms.tolist() == [95]


def test_a_slow_host_rests_by_its_answers() -> None:
    """Ten times as long as an answer took, where that is longer than the interval."""
    agent = Capacity(interval_ms=1000, delay_factor=10)
    assert load(array(900), array(3), agent).alone_ms.tolist() == [1000 + 900 + 2 * 3000]


def test_hosts_of_an_address_take_turns_and_a_host_rests_by_itself() -> None:
    """Two hosts share the clock; a Crawl-delay keeps only its own host waiting."""
    agent = Capacity(interval_ms=1000, delay_factor=0)
    both = np.array([0, 0])
    assert load(array(10, 10), array(2, 3), agent, address=both).alone_ms.tolist() == [5020]
    slow = load(array(10, 10), array(2, 3), agent, address=both, own=array(0, 9000))
    assert slow.alone_ms.tolist() == [1000 + 10 + 2 * 9000]


def test_a_split_host_rests_once_for_each_owner() -> None:
    """ADR 70: two owners, twice the interval of the host."""
    work = Work.of(
        (Capacity(), Capacity()),
        np.ones((2, 3)),
        array(5, 5, 5),
        array(1, 1, 1),
        np.array([7, 7, 9]),
        pause_ms=array(3000, 3000, 0),
    )
    assert work.own_rest_ms(np.array([0, 1, 1])).tolist() == [6000, 6000, 0]
    assert work.own_rest_ms(np.array([1, 1, 0])).tolist() == [3000, 3000, 0]
    assert work.own_rest_ms(np.array([-1, 1, 0])).tolist() == [0, 3000, 0]


def test_bytes_at_the_limit_of_the_agent() -> None:
    """1 GB at 1 MB/s takes 1,000 s, however many connections there are."""
    agent = Capacity(bytes_per_s=1_000_000, interval_ms=10, delay_factor=0)
    many = address_loads(
        np.full(100, 50.0),
        np.full(100, 10.0),
        np.full(100, 10_000.0),
        np.zeros(100),
        np.arange(100),
        100,
        agent,
        NEVER_FAST,
    )
    assert crawl_ms(many, agent) == pytest.approx(1e6, rel=0.01)


def test_few_connections_are_shared_by_all() -> None:
    """100 addresses of 10 s of transfer each over 2 connections take 500 s."""
    agent = Capacity(connections=2, interval_ms=10, delay_factor=0)
    assert crawl_ms(load(np.full(100, 1e4), np.full(100, 100.0), agent), agent) == pytest.approx(
        500_000, rel=0.01
    )


def test_without_waiting_the_longest_start_first() -> None:
    """3 + 3 + 2 over two connections take 5, 9 + 1 take 9."""
    agent = Capacity(connections=2, burst=0)
    assert crawl_ms(load(array(3, 3, 2), array(1, 1, 1), agent), agent) == 5
    assert crawl_ms(load(array(9, 1), array(1, 1), agent), agent) == 9


@given(
    st.lists(
        st.tuples(st.floats(1, 1e5), st.integers(1, 50), st.integers(0, 4)),
        min_size=1,
        max_size=20,
    ),
    st.integers(1, 6),
    st.sampled_from([0.0, 10.0, 2000.0]),
    st.sampled_from([0, 1, 5]),
    st.sampled_from([0, 50_000]),
)
def test_no_crawl_is_shorter_than_its_parts(
    units: list[tuple[float, int, int]], connections: int, interval: float, burst: int, limit: int
) -> None:
    """Nor longer than all addresses one after the other; more connections never take longer."""
    agent = Capacity(connections=connections, interval_ms=interval, burst=burst, bytes_per_s=limit)
    transfer, urls, address = (np.array(one, dtype=np.float64) for one in zip(*units, strict=True))
    _, where = np.unique(address, return_inverse=True)
    given_load = load(transfer, urls, agent, address=where.astype(np.intp))
    took = crawl_ms(given_load, agent)
    least_ms = float(urls.sum()) * 1e6 / limit if limit else 0.0
    for least in (given_load.alone_ms.max(), transfer.sum() / connections, least_ms):
        assert took >= least * (1 - 1e-4)
    assert took <= (given_load.alone_ms.sum() + least_ms) * (1 + 1e-4)


@given(
    st.lists(st.tuples(st.floats(1, 5_000), st.integers(1, 200)), min_size=1, max_size=40),
    st.sampled_from((1, 2, 5, 50)),
    st.sampled_from((0, 1, 10)),
)
def test_each_address_ends_no_earlier_than_alone_and_the_last_with_the_crawl(
    hosts: list[tuple[float, int]], connections: int, burst: int
) -> None:
    """What ends first needs the least; nothing ends after the agent."""
    agent = Capacity(connections=connections, interval_ms=1000, burst=burst)
    urls = array(*(count for _, count in hosts))
    one = load(array(*(ms * count for ms, count in hosts)), urls, agent)
    ends = address_ends(one, agent)
    assert (ends >= one.alone_ms * (1 - 1e-9)).all()
    assert ends.max() == pytest.approx(crawl_ms(one, agent))


def test_addresses_end_by_their_length() -> None:
    """On one connection without rests: the longest first, so the shortest is ready last."""
    agent = Capacity(connections=1, burst=0)
    one = load(array(300, 100, 200), array(3, 1, 2), agent)
    assert address_ends(one, agent).tolist() == [300, 600, 500]
