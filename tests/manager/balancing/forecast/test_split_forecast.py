"""Splits that pay and splits that do not, in worlds computed by hand; and what always holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.balancing.forecast.agent_load import AgentLoad, CrawlForecast, HostPart
from manager.balancing.forecast.predictor import AddressLoad, address_loads
from manager.balancing.forecast.slow_hosts import remedies
from manager.balancing.forecast.split_forecast import (
    PieceSize,
    SplitChoice,
    choose_splits,
    merge_pays,
    split_end,
)
from manager.balancing.forecast.work_duration import Capacity

ERROR = 0.15
NEVER_FAST = 1e18
SECOND = Capacity(interval_ms=1000, delay_factor=0)
USUAL = Capacity(interval_ms=20_000, delay_factor=10)
Ways = Callable[[int, int], Sequence[SplitChoice]]


def nothing(capacity: Capacity) -> AgentLoad:
    empty = np.zeros(0)
    return AgentLoad(
        capacity, NEVER_FAST, np.zeros(0, dtype=np.intp), AddressLoad(empty, empty, empty, empty)
    )


def host(requests: float, answer_ms: float, kb: float = 1.0, own_rest_ms: float = 0.0) -> HostPart:
    return HostPart(requests, requests * kb, requests * answer_ms, own_rest_ms)


def world(capacities: Sequence[Capacity], hosts: Mapping[int, tuple[int, HostPart]]) -> Ways:
    """Return the ways to split hosts (address to owner and size) evenly, among 2 to all agents."""
    loads = loads_of(capacities, hosts)

    def ways(address: int, owner: int) -> Sequence[SplitChoice]:
        part = hosts[address][1]
        pause_ms = loads[owner].pause_ms(part)
        order = sorted(range(len(capacities)), key=lambda one: one != owner)
        return [
            SplitChoice(
                address,
                owner,
                pause_ms,
                tuple(
                    PieceSize(agent, part.requests / n, part.volume_kb / n, part.transfer_ms / n)
                    for agent in order[:n]
                ),
            )
            for n in range(2, len(capacities) + 1)
        ]

    return ways


def loads_of(
    capacities: Sequence[Capacity], hosts: Mapping[int, tuple[int, HostPart]]
) -> dict[int, AgentLoad]:
    loads = {number: nothing(one) for number, one in enumerate(capacities)}
    for address, (owner, part) in hosts.items():
        loads[owner] = loads[owner].plus(address, loads[owner].alone(part))
    return loads


def forecast(
    capacities: Sequence[Capacity], hosts: Mapping[int, tuple[int, HostPart]]
) -> CrawlForecast:
    return CrawlForecast.of(loads_of(capacities, hosts), 0)


def rate_per_s(choice: SplitChoice, loads: Mapping[int, AgentLoad]) -> float:
    """Return the requests a second that the rests of all agents of a split allow together."""
    rests = []
    for piece in choice.pieces:
        own = HostPart(2, 2, 2 * piece.transfer_ms / piece.requests, choice.own_rest_ms())
        load = loads[piece.agent]
        alone_ms = float(load.alone(own).alone_ms[0])
        first_ms = load.capacity.interval_ms if load.capacity.burst else 0.0
        rests.append(alone_ms - first_ms - own.transfer_ms)
    return sum(1000 / rest for rest in rests) if all(rests) else float("inf")


def test_slow_answers_at_a_short_interval_pay() -> None:
    """1,000 answers of 1 s, 1 s apart: 2,000 s alone. Four agents rest 4 s each: 1,247 s."""
    hosts = {7: (0, host(1000, 1000))}
    found = forecast([SECOND] * 4, hosts)
    assert found.end_ms == 1000 + 1_000_000 + 999_000
    [step] = choose_splits(found, world([SECOND] * 4, hosts), error=ERROR, most=5)
    assert len(step.choice.pieces) == 4
    assert step.choice.pause_ms == 1000
    assert (step.before_ms, step.end_ms) == (2_000_000, 1000 + 250_000 + 249 * 4000)
    assert step.host_ms == step.end_ms


def test_where_the_interval_rules_no_split_pays() -> None:
    """An answer of 0.5 s every 20 s: ten agents gain 2%, less than predictions may be wrong."""
    hosts = {7: (0, host(1000, 500))}
    ways = world([USUAL] * 10, hosts)
    assert choose_splits(forecast([USUAL] * 10, hosts), ways, error=ERROR, most=5) == []
    [step] = choose_splits(forecast([USUAL] * 10, hosts), ways, error=0.0, most=5)
    assert step.end_ms / step.before_ms == pytest.approx(20.05 / 20.5, rel=0.02)


def test_rests_by_the_answer_are_part_of_the_pause() -> None:
    """Answers of 10 s make one agent rest 100 s; together its helpers must not ask more often."""
    load = nothing(USUAL)
    assert load.pause_ms(host(50, 10_000)) == 100_000
    assert load.pause_ms(host(50, 100)) == 20_000
    assert load.pause_ms(host(50, 100, own_rest_ms=90_000)) == 90_000
    assert nothing(replace(USUAL, burst=10)).pause_ms(host(50, 100)) == 2000
    assert nothing(replace(USUAL, burst=0)).pause_ms(host(50, 100)) == 100
    hosts = {7: (0, host(1000, 10_000))}
    assert (
        choose_splits(forecast([USUAL] * 4, hosts), world([USUAL] * 4, hosts), error=ERROR, most=5)
        == []
    )


def test_a_pause_that_a_person_set_pays() -> None:
    """The host allows a request in 5 s; four agents keep their 20 s each."""
    hosts = {7: (0, host(1000, 100))}
    usual = world([USUAL] * 4, hosts)
    allowed = [replace(one, pause_ms=5000) for one in usual(7, 0)]
    [step] = choose_splits(forecast([USUAL] * 4, hosts), lambda *_: allowed, error=ERROR, most=5)
    assert len(step.choice.pieces) == 4
    assert step.before_ms / step.end_ms == pytest.approx(4, rel=0.02)


def test_bursts_are_worth_more_than_pieces() -> None:
    """Ten requests in a row every 20 s are as many as four pieces of one in 20 s could not be."""
    burst = replace(USUAL, burst=10)
    hosts = {7: (0, host(1000, 100))}
    assert (
        choose_splits(forecast([burst] * 4, hosts), world([burst] * 4, hosts), error=ERROR, most=5)
        == []
    )


def test_an_agent_with_few_bytes_a_second_shares() -> None:
    """100 MB at 100 kB/s take 1,000 s at one agent and half as long at two."""
    slow = replace(SECOND, bytes_per_s=100_000)
    hosts = {7: (0, host(100, 10, kb=1000))}
    found = forecast([slow] * 2, hosts)
    assert found.end_ms == pytest.approx(1_000_000, rel=0.01)
    [step] = choose_splits(found, world([slow] * 2, hosts), error=ERROR, most=5)
    assert step.end_ms == pytest.approx(500_000, rel=0.02)


def test_two_hosts_as_long_pay_together() -> None:
    """Neither alone brings the end forward; the first is chosen because the second is."""
    hosts = {7: (0, host(1000, 1000)), 8: (1, host(1000, 1000))}
    steps = choose_splits(
        forecast([SECOND] * 4, hosts), world([SECOND] * 4, hosts), error=ERROR, most=5
    )
    assert {step.choice.address for step in steps} == {7, 8}
    assert steps[0].end_ms == steps[0].before_ms
    assert steps[1].end_ms < 0.7 * steps[0].before_ms


def test_a_host_as_long_that_cannot_be_split_rules() -> None:
    """Then no split of the other brings the end forward."""
    hosts = {7: (0, host(1000, 1000)), 8: (1, host(1010, 1000))}
    ways = world([SECOND] * 4, hosts)
    assert (
        choose_splits(
            forecast([SECOND] * 4, hosts),
            lambda address, owner: ways(address, owner) if address == 7 else [],
            error=ERROR,
            most=5,
        )
        == []
    )


def test_many_hosts_at_one_agent_are_for_a_plan() -> None:
    """One connection and 50 hosts: none of them holds the crawl up, so nothing is split."""
    one = Capacity(connections=1, interval_ms=10, delay_factor=0)
    hosts = {number: (0, host(100, 100)) for number in range(50)}
    assert (
        choose_splits(forecast([one] * 4, hosts), world([one] * 4, hosts), error=ERROR, most=5)
        == []
    )


def test_only_so_many_hosts_are_looked_at() -> None:
    """Each costs a look at its directories."""
    hosts = {number: (0, host(1000, 1000)) for number in range(10)}
    ways = world([SECOND] * 4, hosts)
    looked: list[int] = []

    def counted(address: int, owner: int) -> Sequence[SplitChoice]:
        looked.append(address)
        return ways(address, owner)

    assert choose_splits(forecast([SECOND] * 4, hosts), counted, error=ERROR, most=3) == []
    assert len(looked) == 3


def test_of_a_hundred_thousand_hosts_few_are_looked_at() -> None:
    """The longest one is split, and each further look is at what then ends last."""
    loads = {}
    for agent in range(4):
        requests = np.arange(1.0, 25_001.0) / 100 + 10
        address = np.arange(agent * 25_000, (agent + 1) * 25_000, dtype=np.intp)
        load = address_loads(
            requests * 1000,
            requests,
            requests,
            np.zeros(25_000),
            np.arange(25_000),
            25_000,
            replace(SECOND, connections=30_000),
            NEVER_FAST,
        )
        loads[agent] = AgentLoad(replace(SECOND, connections=30_000), NEVER_FAST, address, load)
    long = host(5000, 1000)
    loads[0] = loads[0].plus(200_000, loads[0].alone(long))
    now = CrawlForecast.of(loads, 0)
    of_long = world([replace(SECOND, connections=30_000)] * 4, {200_000: (0, long)})
    looked: list[int] = []

    def ways(address: int, owner: int) -> Sequence[SplitChoice]:
        looked.append(address)
        return of_long(address, owner) if address == 200_000 else []

    steps = choose_splits(now, ways, error=ERROR, most=20)
    assert [step.choice.address for step in steps] == [200_000]
    assert looked == [200_000], "a piece holds the crawl up then"


def test_a_split_that_gains_nothing_is_merged() -> None:
    """Its answers became fast: whole it ends as soon. One that still gains stays split."""
    for answer_ms, merged in ((1.0, True), (1000.0, False)):
        hosts = {7: (0, host(1000, answer_ms)), 9: (1, host(10, 10))}
        whole = forecast([SECOND] * 4, hosts)
        choice = world([SECOND] * 4, hosts)(7, 0)[-1]
        after, _ = split_end(whole, choice, wait_ms=10_000)
        works = {
            piece.agent: float(after.loads[piece.agent].load.alone_ms[0]) for piece in choice.pieces
        }
        found = merge_pays(after, 7, 0, hosts[7][1], works, error=ERROR)
        assert (found is not None) == merged
        if found is not None:
            assert found.end_ms <= after.end_ms
            assert found.ends_ms == pytest.approx(whole.ends_ms)


def test_a_split_beside_a_longer_host_is_merged_only_clear_of_its_end() -> None:
    """Whole, it would end well before the crawl, or close to its end: then it stays in pieces."""
    for requests, merged in ((2000, True), (1050, False)):
        hosts = {7: (0, host(1000, 1000)), 9: (1, host(requests, 1000))}
        choice = world([SECOND] * 4, hosts)(7, 0)[-1]
        after, _ = split_end(forecast([SECOND] * 4, hosts), choice)
        found = merge_pays(
            after, 7, 0, hosts[7][1], dict.fromkeys(range(4), 1_247_000.0), error=ERROR
        )
        assert (found is not None) == merged


def test_the_remedies_make_a_host_fit() -> None:
    """1,000 requests at 20 s take 5.6 h; in an hour with 3.5 s between them, or 6 in a row."""
    part, hour_ms = host(1000, 100), 3_600_000.0
    found = remedies(part, USUAL, 20_000, hour_ms)
    assert found.interval_ms == 3500
    assert found.burst == 6
    assert remedies(host(1000, 4000), USUAL, 40_000, hour_ms).interval_ms is None
    assert remedies(host(1000, 100, own_rest_ms=9000), USUAL, 20_000, hour_ms).burst is None


agents = st.builds(
    Capacity,
    connections=st.sampled_from([1, 2, 50]),
    interval_ms=st.sampled_from([10.0, 1000.0, 20_000.0]),
    burst=st.sampled_from([0, 1, 10]),
    fast_interval_ms=st.sampled_from([10.0, 10_000.0]),
    delay_factor=st.sampled_from([0.0, 10.0]),
    bytes_per_s=st.sampled_from([0, 100_000]),
)
sizes = st.tuples(st.integers(1, 5000), st.floats(1, 20_000), st.floats(0.1, 1000))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(agents, min_size=2, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), sizes), min_size=1, max_size=12),
    st.floats(0, 0.3),
)
def test_all_splits_together_end_no_later_and_ask_no_more(
    capacities: list[Capacity], drawn: list[tuple[int, tuple[int, float, float]]], error: float
) -> None:
    """Each step ends no later than the one before; no address sees more than from one agent."""
    hosts = {
        number: (owner % len(capacities), host(*size)) for number, (owner, size) in enumerate(drawn)
    }
    now = forecast(capacities, hosts)
    steps = choose_splits(now, world(capacities, hosts), error=error, most=8)
    at = now
    for step in steps:
        at, _ = split_end(at, step.choice)
        assert at.end_ms == step.end_ms <= step.before_ms
        owner, part = hosts[step.choice.address]
        alone = 1000 / now.loads[owner].pause_ms(part)
        assert rate_per_s(step.choice, now.loads) <= alone * (1 + 1e-9)
    if steps:
        assert at.end_ms < (1 - error) * now.end_ms or error == 0


@settings(max_examples=200, deadline=None)
@given(agents, sizes, st.floats(0.01, 1.0))
def test_advised_remedies_hold_by_the_predictor(
    agent: Capacity, size: tuple[int, float, float], share: float
) -> None:
    """The predictor says that the host ends in time with the interval, or with the burst."""
    part, load = host(*size), nothing(agent)
    alone = load.alone(part)
    work_ms = share * float(load.alone_ms(alone)[0])
    rest_ms = max(agent.interval_ms, agent.delay_factor * part.transfer_ms / part.requests)
    found = remedies(part, agent, rest_ms, work_ms)
    for changed in (
        None
        if found.interval_ms is None
        else replace(agent, interval_ms=found.interval_ms, fast_interval_ms=found.interval_ms),
        None if found.burst is None else replace(agent, burst=found.burst),
    ):
        if changed is not None:
            better = replace(load, capacity=changed)
            assert float(better.alone_ms(better.alone(part))[0]) <= work_ms * (1 + 1e-9) + 1e-3
