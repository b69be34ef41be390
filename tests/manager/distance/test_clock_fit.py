"""All units of an agent together show true claims, also where waiting hides each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from manager.distance.clock_fit import ClockFit, Fits, fit_claims
from manager.distance.fetch_windows import FetchInterval

Floats = npt.NDArray[np.float64]
Lie = Callable[[Floats, np.random.Generator], Floats]

UNITS = 60
CALLS_MS = 6_000
SEEDS = range(6)

LIES: dict[str, tuple[Fits, Lie]] = {
    "x 10": (Fits.TOO_LONG, lambda ms, _: ms * 10),
    "/ 10": (Fits.TOO_SHORT, lambda ms, _: ms / 10),
    "x 3": (Fits.TOO_LONG, lambda ms, _: ms * 3),
    "half x 10": (Fits.TOO_LONG, lambda ms, _: np.where(np.arange(UNITS) % 2, ms * 10, ms)),
    "at random": (Fits.TOO_LONG, lambda ms, rng: ms * 10 ** rng.uniform(-1, 1, UNITS)),
}


def intervals(
    seed: int, lie: Lie, *, rest_ms: int, in_turn: bool = False, elsewhere: bool = False
) -> tuple[list[FetchInterval], dict[int, float]]:
    """Return an agent's spells, and what the others' distances make expected of its units.

    elsewhere: it is near to what is far from the others.
    """
    rng = np.random.default_rng(seed)
    requests = rng.integers(8, 60, UNITS)
    far = np.where(rng.random(UNITS) < 0.3, 2.5, -0.5) if elsewhere else np.zeros(UNITS)
    host = np.asarray(requests * 400 * np.exp(rng.normal(0, 0.6, UNITS)), np.float64)
    expected = host * np.exp(far / 2)
    took = np.asarray(host * np.exp(-far / 2 + rng.normal(0, 0.5, UNITS)), np.float64)
    ends = took + rest_ms * requests
    ends = np.cumsum(ends) if in_turn else ends
    heard = ends + rng.uniform(0, CALLS_MS, UNITS)
    claimed = lie(took, rng)
    found = [
        FetchInterval(unit, 0, int(heard[unit]), int(requests[unit]), int(claimed[unit]))
        for unit in range(UNITS)
    ]
    return found, dict(enumerate(expected.tolist()))


def fitted(
    found: list[FetchInterval], expected: dict[int, float], *, one_by_one: bool | None = False
) -> ClockFit:
    """Return the fit, which there must be."""
    fit = fit_claims(found, expected, one_by_one=one_by_one)
    assert fit is not None
    return fit


@pytest.mark.parametrize("rest_ms", [0, 20_000])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_true_claims_are_confirmed_beside_any_rest(rest_ms: int, *, elsewhere: bool) -> None:
    """Of an agent in another part of the network, too, and where no other agent is known."""
    for seed in SEEDS:
        found, expected = intervals(seed, lambda ms, _: ms, rest_ms=rest_ms, elsewhere=elsewhere)
        assert fitted(found, expected).verdict is Fits.CONFIRMED
        assert fitted(found, {}, one_by_one=None).verdict is Fits.CONFIRMED


@pytest.mark.parametrize("in_turn", [False, True])
def test_units_that_are_fetched_in_turn_are_confirmed(*, in_turn: bool) -> None:
    """Which of both it is need not be known."""
    for seed in SEEDS:
        found, expected = intervals(seed, lambda ms, _: ms, rest_ms=500, in_turn=in_turn)
        assert fitted(found, expected, one_by_one=None).verdict is Fits.CONFIRMED


@pytest.mark.parametrize("rest_ms", [0, 20_000])
@pytest.mark.parametrize("lie", LIES)
def test_lies_are_found_beside_any_rest(lie: str, rest_ms: int) -> None:
    """The slope is the true time over the claimed one."""
    verdict, told = LIES[lie]
    for seed in SEEDS:
        found, expected = intervals(seed, told, rest_ms=rest_ms)
        assert fitted(found, expected).verdict is verdict
        assert fit_claims(found, expected, one_by_one=None) is None


@pytest.mark.parametrize("rest_ms", [0, 20_000])
def test_times_of_half_of_the_units_that_are_too_short_are_never_confirmed(rest_ms: int) -> None:
    """The others' times explain what such claims leave."""
    for seed in SEEDS:
        found, expected = intervals(
            seed, lambda ms, _: np.where(np.arange(UNITS) % 2, ms / 10, ms), rest_ms=rest_ms
        )
        assert fitted(found, expected).verdict in (Fits.TOO_SHORT, Fits.UNKNOWN)


def test_a_few_units_blame_nobody() -> None:
    """Nor do claims that are all the same."""
    found, expected = intervals(1, LIES["x 10"][1], rest_ms=0)
    assert fitted(found[:12], expected).verdict is not Fits.TOO_LONG
    assert fit_claims(found[:7], expected, one_by_one=False) is None
    same = [FetchInterval(one.unit, 0, one.until_ms, one.requests, 0) for one in found]
    assert fit_claims(same, expected, one_by_one=False) is None
