"""Claims that fit neither an agent's past nor what others see are found; honest ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from manager.distance.doubts import (
    Claim,
    Doubt,
    Evidence,
    Fault,
    Reference,
    find_doubts,
    reference_of,
)

FACTOR = 10**0.5
LINES = 20


def world(agents: int, units: int, seed: int) -> list[dict[int, Claim]]:
    """Return honest claims of agents: levels, units and pairs differ as in the source."""
    rng = np.random.default_rng(seed)
    size = 10_000 * np.exp(rng.normal(0, 0.6, units))
    distance = np.exp(
        rng.normal(3, 0.35, (agents, 1))
        + rng.normal(0, 0.5, units)
        + rng.normal(0, 0.55, (agents, units))
    )
    noise = np.exp(rng.normal(0, 0.1, (agents, units)))
    return [
        {
            unit: Claim(
                LINES,
                round(LINES * size[unit] * noise[agent, unit]),
                round(LINES * size[unit] / 1000 * distance[agent, unit]),
            )
            for unit in range(units)
        }
        for agent in range(agents)
    ]


def told(
    claims: dict[int, Claim], size: float, ms: float, *, half: bool = False
) -> dict[int, Claim]:
    """Return claims with bytes and times multiplied, of all units or of every second one."""
    return {
        unit: one
        if half and unit % 2
        else Claim(one.lines, max(1, round(one.size_bytes * size)), round(one.elapsed_ms * ms))
        for unit, one in claims.items()
    }


def seen(claims: list[dict[int, Claim]], agent: int) -> dict[int, Reference]:
    """Return what all but one agent say of each unit."""
    found = {}
    for unit in claims[0]:
        one = reference_of([of[unit] for number, of in enumerate(claims) if number != agent])
        if one is not None:
            found[unit] = one
    return found


def doubts(
    claims: list[dict[int, Claim]], agent: int, earlier: dict[int, Claim] | None = None
) -> list[Doubt] | None:
    """Return what is found wrong with one agent of several."""
    return find_doubts(claims[agent], seen(claims, agent), earlier or {}, FACTOR)


@pytest.mark.parametrize("agents", [3, 8, 17])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_wrong_with_honest_agents(agents: int, seed: int) -> None:
    """Neither beside the others nor beside their own past."""
    first, second = world(agents, 60, seed), world(agents, 60, seed)
    for agent in range(agents):
        assert doubts(first, agent) == []
        assert doubts(second, agent, first[agent]) == []


LIES = {
    "times x 10": (1, 10, False, {Fault.TIMES}),
    "times / 10": (1, 0.1, False, {Fault.TIMES}),
    "no time at all": (1, 0, False, {Fault.TIMES}),
    "all x 10": (10, 10, False, {Fault.TIMES, Fault.BYTES}),
    "all / 10": (0.1, 0.1, False, {Fault.TIMES, Fault.BYTES}),
    "bytes x 10": (10, 1, False, {Fault.BYTES}),
    "bytes / 10": (0.1, 1, False, {Fault.BYTES}),
    "half x 10": (1, 10, True, {Fault.SCATTERED_TIMES}),
    "half / 10": (1, 0.1, True, {Fault.SCATTERED_TIMES}),
    "half of the bytes x 10": (10, 1, True, {Fault.SCATTERED_BYTES}),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("agents", [3, 8, 17])
def test_each_lie_is_found_beside_the_own_past_and_nobody_else_is_blamed(
    agents: int, lie: str
) -> None:
    """Who was honest once is judged by that; the others beside a liar are what they were."""
    size, ms, half, faults = LIES[lie]
    for seed in range(4):
        before = world(agents, 60, seed)
        now = [told(before[0], size, ms, half=half), *before[1:]]
        found = doubts(now, 0, before[0])
        assert found is not None
        assert {one.fault for one in found} == faults
        for other in range(1, agents):
            assert doubts(now, other, before[other]) == []


@pytest.mark.parametrize("lie", ["bytes x 10", "bytes / 10", "half of the bytes x 10"])
def test_bytes_need_no_past(lie: str) -> None:
    """A page has the same bytes from everywhere: two others are enough."""
    size, ms, half, faults = LIES[lie]
    for seed in range(4):
        now = world(3, 60, seed)
        now[0] = told(now[0], size, ms, half=half)
        found = doubts(now, 0)
        assert found is not None
        assert {one.fault for one in found} == faults
        assert all(doubts(now, other) == [] for other in (1, 2))


def test_a_factor_says_how_wrong_a_scale_is() -> None:
    """Claimed over expected: by the own past exactly, by the others within what agents differ."""
    before = world(8, 60, 1)
    now = [told(before[0], 1, 10), *before[1:]]
    (past,) = doubts(now, 0, before[0]) or []
    assert past.evidence is Evidence.HISTORY
    assert past.factor == pytest.approx(10, rel=0.02)
    (beside,) = doubts(now, 0) or []
    assert beside.evidence is Evidence.OTHERS
    assert 3 < beside.factor < 30


def test_of_few_units_nothing_is_said() -> None:
    """Nor of an agent that is alone; of two that differ nobody can say who is wrong."""
    few = world(3, 3, 1)
    assert doubts([told(few[0], 1, 10), *few[1:]], 0) is None
    two = world(2, 60, 1)
    assert doubts([told(two[0], 1, 10), two[1]], 0) is None


def test_a_crawl_of_other_pages_is_no_lie() -> None:
    """Large pages take less a byte and more a line: only what differs in both is doubted."""
    before = world(3, 60, 2)
    deep = {
        unit: Claim(one.lines * 10, one.size_bytes * 80, one.elapsed_ms * 16)
        for unit, one in before[0].items()
    }
    found = find_doubts(deep, seen(before, 0), before[0], FACTOR)
    assert found is not None
    assert Fault.TIMES not in {one.fault for one in found}
