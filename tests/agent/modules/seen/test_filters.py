"""The filters make the mistakes that they promise, and no more."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.seen.bloom import (
    MAX,
    RotatingBloom,
    StableBloomLight,
    best_hashes,
    decrements,
    keys_for,
    places_of,
)
from agent.modules.seen.interface import Filter, Keys
from benchmarks.dedup.compared import SinglyDecremented, StableBloom

COUNTERS = 1 << 16


def fresh(count: int, seed: int = 1) -> Keys:
    """Return random keys; those of two seeds do not meet."""
    return np.random.default_rng(seed).integers(0, 2**63, count).astype(np.uint64)


FILTERS: dict[str, tuple[Callable[[], Filter], float]] = {
    "stable, k=4": (lambda: StableBloom(COUNTERS, 0.01, 4), 0.01),
    "light, k=4": (lambda: StableBloomLight(COUNTERS, 0.01, 4), 0.01),
    "light, k=2": (lambda: StableBloomLight(COUNTERS, 0.05, 2), 0.05),
    "rotating, 1 %": (lambda: RotatingBloom(COUNTERS // 4, 0.01), 0.01),
    "rotating, 5 %, k=4": (lambda: RotatingBloom(COUNTERS // 4, 0.05, 4), 0.05),
}
every = pytest.mark.parametrize(("make", "fp_rate"), FILTERS.values(), ids=FILTERS.keys())


@every
def test_false_positives_settle_at_the_rate_that_was_asked_for(
    make: Callable[[], Filter], fp_rate: float
) -> None:
    """After many times its capacity, a filter takes no more new keys for known than it says."""
    held, asked = make(), 40_000
    for part in np.array_split(fresh(120_000), 1200):
        held.add(part)
    found = int(held.knows(fresh(asked, seed=2)).sum())
    # Five standard deviations over what is expected of independent questions.
    assert found <= fp_rate * asked + 5 * math.sqrt(fp_rate * asked)


def test_the_random_filter_is_as_often_wrong_as_the_formula_says() -> None:
    """Formula 3 is exact for random decrements, so the rate is met from below too."""
    rates = []
    for seed in range(3):
        held = StableBloom(COUNTERS, 0.05, 3, seed=seed)
        for part in np.array_split(fresh(60_000, seed=seed), 600):
            held.add(part)
        rates.append(held.knows(fresh(40_000, seed=99)).mean())
    assert np.mean(rates) == pytest.approx(0.05, rel=0.1)


def test_going_round_is_wrong_less_often_than_decrementing_at_random() -> None:
    """Figures 6 and 7 of the source: fewer false positives and fewer false negatives."""
    wrong, lost = [], []
    for held in (StableBloom(COUNTERS, 0.01, 4), StableBloomLight(COUNTERS, 0.01, 4)):
        keys = fresh(30_000)
        for part in np.array_split(keys, 600):
            held.add(part)
        wrong.append(held.knows(fresh(200_000, seed=2)).mean())
        lost.append(1 - held.knows(keys[-4000:]).mean())
    assert wrong[1] < wrong[0]
    assert lost[1] < lost[0]


@pytest.mark.parametrize(
    ("fp_rate", "hashes", "wanted"), [(1e-5, 8, 84.73), (0.01, 4, 29.6)], ids=["k=8", "k=4"]
)
def test_formula_3_gives_the_source_s_numbers(fp_rate: float, hashes: int, wanted: float) -> None:
    """The text says "about 84" for 2^30 counters; the printed sign of the exponent would give less
    than nothing.
    """
    assert decrements(fp_rate, hashes, 1 << 30) == pytest.approx(wanted, abs=0.05)


@given(
    batches=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    counters=st.sampled_from([1 << 9, 1 << 11]),
    hashes=st.sampled_from([2, 4, 8]),
)
def test_the_last_keys_are_known_to_the_light_filter(
    batches: list[int], counters: int, hashes: int
) -> None:
    """What was added within two rounds of decrements was not forgotten."""
    held = StableBloomLight(counters, 0.01, hashes)
    keys = fresh(sum(batches))
    done = 0
    for count in batches:
        held.add(keys[done : done + count])
        done += count
    # A batch that is decremented at once counts as if its first key came last.
    promised = math.floor(2 * counters / held.p) - math.ceil(counters / held.p / 64) - 1
    assert held.knows(keys[max(0, done - promised) : done]).all()


@given(
    batches=st.lists(st.integers(1, 200), min_size=1, max_size=12),
    fp_rate=st.sampled_from([0.3, 0.01, 1e-5]),
)
def test_the_last_seven_generations_are_known_to_the_rotating_filter(
    batches: list[int], fp_rate: float
) -> None:
    """What was added within 7/8 of the capacity was not forgotten."""
    held = RotatingBloom(1 << 9, fp_rate)
    keys = fresh(sum(batches))
    done = 0
    for count in batches:
        held.add(keys[done : done + count])
        done += count
    promised = held.capacity // 8 * 7
    assert held.knows(keys[max(0, done - promised) : done]).all()


def test_a_key_that_comes_often_fills_no_generation() -> None:
    """Keys that the young generation has are not entered again, so others stay known longer."""
    held = RotatingBloom(1 << 10, 0.01)
    keys = fresh(20)
    held.add(keys)
    for _ in range(held.capacity):
        held.add(keys[:1])
    assert held.knows(keys).all()


@given(
    start=st.integers(0, 255),
    counts=st.lists(st.integers(0, 300), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_32_at_once_do_what_one_after_the_other_does(
    start: int, counts: list[int], seed: int
) -> None:
    """Going round in words is the same as decrementing each counter by itself, not below 0."""
    filters = [SinglyDecremented(256, 0.05, 2) for _ in range(2)]
    for held in filters:
        held.decrement(start)
        held.add(fresh(seed % 40 + 1, seed=seed))
    for count in counts:
        filters[0].decrement(count)
        filters[1].decrement_singly(count)
        every_key = fresh(500, seed=seed)
        assert filters[0].knows(every_key).tolist() == filters[1].knows(every_key).tolist()
        assert filters[0].values().tolist() == filters[1].values().tolist()


def test_counters_take_the_values_that_a_plain_array_takes() -> None:
    """Packed counters are counters: random decrements, repeats in one call included."""
    held, hashes = StableBloom(64, 0.05, 2, seed=7), 2
    plain = np.zeros(64, np.int64)
    same = np.random.Generator(np.random.MT19937(7))
    owed = 0.0
    for key in fresh(300):
        held.add(np.array([key]))
        owed += held.p
        for place in same.integers(0, 64, int(owed), np.int64):
            plain[place] = max(0, plain[place] - 1)
        owed %= 1.0
        plain[places_of(np.array([key]), hashes, 64)] = MAX
        assert held.values().tolist() == plain.tolist()


def test_capacity_follows_the_bloom_filter_s_formula() -> None:
    """With the best number of hashes, a key takes 1.44 log2(1/rate) bits of its generation."""
    for fp_rate in (0.01, 1e-5):
        bits, hashes = 1 << 20, best_hashes(fp_rate)
        best = bits / (1.4427 * math.log2(8 / fp_rate))
        assert keys_for(bits, hashes, fp_rate / 8) == pytest.approx(best, rel=0.01)
