"""Draws depend on their key alone and are spread as they should be."""

from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from simweb.sites.chance import Stream, draw, draw64, normal, shuffled, whole


def test_draws_never_change() -> None:
    """The numbers of a key are the same in every version: worlds are named by their seeds."""
    assert draw64(1, "host", 0) == draw64("1", "host", "0") == 13_310_751_104_740_118_233


def test_streams_are_splitmix64() -> None:
    """The first outputs of the published generator for the seeds 0 and 1234567."""
    assert Stream(0).bits() == 0xE220_A839_7B1D_CDAF
    stream = Stream(1_234_567)
    expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
    assert [stream.bits(), stream.bits()] == expected


@given(st.integers(1, 10**12), st.integers(0, 2**64 - 1))
def test_below_stays_below(limit: int, key: int) -> None:
    """A bounded draw is in its bounds."""
    stream = Stream(key)
    assert all(0 <= stream.below(limit) < limit for _ in range(20))
    assert 0 <= stream.unit() < 1


def test_normal_draws_are_normal() -> None:
    """Mean 0 and deviation 1 over many keys."""
    values = [normal("n", number) for number in range(5_000)]
    assert abs(statistics.mean(values)) < 0.05
    assert abs(statistics.stdev(values) - 1) < 0.05


def test_whole_numbers_keep_the_mean() -> None:
    """Rounding by chance adds up to what was expected."""
    assert abs(sum(whole(0.3, "w", number) for number in range(10_000)) - 3_000) < 200


@given(st.integers(0, 200), st.integers())
def test_a_shuffle_is_a_permutation(count: int, key: int) -> None:
    """Nothing is lost or doubled."""
    assert sorted(shuffled(count, key)) == list(range(count))


def test_draws_are_even() -> None:
    """A tenth of the draws falls into each tenth."""
    tenths = [0] * 10
    for number in range(10_000):
        tenths[int(draw("even", number) * 10)] += 1
    assert min(tenths) > 880
    assert max(tenths) < 1_120
