"""The manager's clock tells true times from false ones, or says that waiting hides them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from manager.distance.clock_evidence import Timed, find_pace
from manager.distance.fetch_windows import FetchInterval

Floats = npt.NDArray[np.float64]
Lie = Callable[[Floats, np.random.Generator], Floats]

UNITS = 24
CALLS_MS = 6_000
"""So late the manager hears that a unit is finished, at most."""

LIES: dict[str, Lie] = {
    "x 10": lambda ms, _: ms * 10,
    "/ 10": lambda ms, _: ms / 10,
    "x 3": lambda ms, _: ms * 3,
    "/ 3": lambda ms, _: ms / 3,
    "nothing": lambda ms, _: ms * 0,
    "half x 10": lambda ms, _: np.where(np.arange(len(ms)) % 2, ms * 10, ms),
    "half / 10": lambda ms, _: np.where(np.arange(len(ms)) % 2, ms / 10, ms),
    "at random": lambda ms, rng: ms * 10 ** rng.uniform(-1, 1, len(ms)),
}


def fleet(
    seed: int,
    lie: Lie | None = None,
    *,
    agents: int = 3,
    in_turn: bool = False,
    rest_ms: int = 0,
    slow: float = 1.0,
    pause_ms: int = 0,
    typical_ms: int = 50_000,
) -> tuple[dict[int, list[FetchInterval]], Floats]:
    """Return the spells of agents, of which agent 0 may lie, and the true times of agent 0."""
    rng = np.random.default_rng(seed)
    found: dict[int, list[FetchInterval]] = {}
    truth = np.zeros(UNITS)
    for agent in range(agents):
        requests = rng.integers(10, 60, UNITS)
        level = rng.normal(0, 0.35)
        took = requests / 25 * typical_ms * np.exp(level + rng.normal(0, 0.7, UNITS))
        claimed = took
        if agent == 0:
            took = truth = took * slow
            claimed = took if lie is None else lie(took, rng)
        intervals, end_ms = [], 0.0
        for unit in range(UNITS):
            whole_ms = took[unit] + rest_ms * requests[unit] + (pause_ms if agent == 0 else 0)
            end_ms = end_ms + whole_ms if in_turn else whole_ms
            heard_ms = (int(end_ms) // CALLS_MS + 1) * CALLS_MS
            intervals.append(
                FetchInterval(unit, 0, heard_ms, int(requests[unit]), int(claimed[unit]))
            )
        found[agent] = intervals
    return found, truth


def judged(intervals: dict[int, list[FetchInterval]]) -> Timed | None:
    """Return what the clock says of agent 0."""
    pace = find_pace({agent: some for agent, some in intervals.items() if agent})
    assert pace is not None
    return pace.judge(intervals[0], dict.fromkeys(range(UNITS), 1.0))


@pytest.mark.parametrize("slow", [1.0, 10.0])
@pytest.mark.parametrize("rest_ms", [0, 2_000])
@pytest.mark.parametrize("in_turn", [False, True], ids=["side by side", "in turn"])
def test_an_honest_agent_is_confirmed_however_slow(
    slow: float, rest_ms: int, *, in_turn: bool
) -> None:
    """Also where it rests after each request, as all of them do."""
    for seed in range(4):
        intervals, _ = fleet(seed, in_turn=in_turn, rest_ms=rest_ms, slow=slow)
        timed = judged(intervals)
        assert timed is not None
        assert timed.confirms
        assert not timed.is_impossible
        assert not timed.is_too_short


@pytest.mark.parametrize("slow", [1.0, 10.0])
@pytest.mark.parametrize("in_turn", [False, True], ids=["side by side", "in turn"])
@pytest.mark.parametrize("lie", LIES)
def test_no_lie_is_confirmed_and_the_true_times_are_known(
    lie: str, slow: float, *, in_turn: bool
) -> None:
    """Of a liar that is slow in truth, too: of most of its units, within a quarter."""
    for seed in range(4):
        intervals, truth = fleet(seed, LIES[lie], in_turn=in_turn, slow=slow)
        timed = judged(intervals)
        assert timed is not None
        assert not timed.confirms
        off = [abs(np.log(ms / truth[unit])) for unit, ms in timed.unit_ms.items()]
        assert len(off) >= UNITS / 2
        assert np.median(off) <= np.log(1.25)


@pytest.mark.parametrize("lie", ["x 10", "x 3"])
def test_claims_longer_than_the_clock_are_impossible(lie: str) -> None:
    """The factor is found, and what is claimed is put right by it."""
    intervals, _ = fleet(1, LIES[lie])
    timed = judged(intervals)
    assert timed is not None
    assert timed.is_impossible
    assert timed.factor == pytest.approx(10 if lie == "x 10" else 3, rel=0.1)


@pytest.mark.parametrize("lie", ["/ 10", "/ 3"])
def test_claims_that_are_all_short_by_one_factor_are_too_short(lie: str) -> None:
    """An agent that pauses is short by a time, and not by a factor."""
    intervals, _ = fleet(2, LIES[lie])
    timed = judged(intervals)
    assert timed is not None
    assert timed.is_too_short


def test_an_agent_that_pauses_is_no_liar() -> None:
    """Its units end late, all by the same time; none of its claims is impossible."""
    intervals, _ = fleet(3, pause_ms=60_000)
    timed = judged(intervals)
    assert timed is not None
    assert not timed.is_impossible
    assert not timed.is_too_short


def test_where_waiting_hides_the_claims_the_clock_says_nothing() -> None:
    """A tenth of a second of fetching is not seen beside minutes of rest."""
    for lie in (None, LIES["/ 10"], LIES["nothing"]):
        intervals, _ = fleet(4, lie, rest_ms=20_000, typical_ms=2_000)
        pace = find_pace({1: intervals[1], 2: intervals[2]})
        assert pace is None or pace.judge(intervals[0], {}) is None


def test_two_agents_must_agree_before_a_third_is_judged() -> None:
    """A liar among the believed ones makes no honest agent impossible."""
    intervals, _ = fleet(5, LIES["x 10"])
    assert find_pace({0: intervals[0], 1: intervals[1]}) is None
    assert find_pace({1: intervals[1]}) is None
    more, _ = fleet(5, LIES["x 10"], agents=6)
    pace = find_pace({agent: some for agent, some in more.items() if agent != 1})
    assert pace is not None
    timed = pace.judge(more[1], {})
    assert timed is not None
    assert timed.confirms


def test_a_clock_that_stands_still_says_nothing() -> None:
    """Logs that are read again at once, as in a simulation, are not judged by it."""
    intervals, _ = fleet(6)
    still = {
        agent: [FetchInterval(one.unit, 0, 1, one.requests, one.claimed_ms) for one in some]
        for agent, some in intervals.items()
    }
    assert find_pace(still) is None


def test_units_whose_log_is_not_all_in_are_not_judged() -> None:
    """Lines that come later would be missing from the claim."""
    intervals, _ = fleet(7)
    intervals[0] = [
        FetchInterval(one.unit, one.from_ms, one.until_ms, None, None) for one in intervals[0]
    ]
    assert judged(intervals) is None
