"""What holds for every memory of keys, whatever it forgets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.limits import SeenUrls
from agent.modules.seen import STRUCTURES, make_seen
from agent.modules.seen.bloom import mixed
from agent.modules.seen.buckets import Buckets
from agent.modules.seen.interface import Seen
from agent.modules.seen.lru import Generations, Lru
from agent.modules.seen.pairs import Pairs
from benchmarks.dedup.compared import Exact
from benchmarks.memory import bytes_of


def seen_of(structure: str, size: int) -> Seen:
    """Return a memory of a structure with its defaults."""
    return make_seen(SeenUrls(structure, size))


ALL: dict[str, Callable[[int], Seen]] = {
    **{name: partial(seen_of, name) for name in STRUCTURES},
    "buckets of 32 bits": lambda size: Buckets(size, 32),
    "exact": lambda size: Exact(),
}
KEYS = st.integers(-(2**63), 2**63 - 1)
# Spread like hashes: tags of 32 bits are taken from their upper half.
SPREAD = mixed(np.arange(1, 45, dtype=np.uint64)).view(np.int64).tolist()
FEW_KEYS = st.sampled_from([*SPREAD, 0, 2**63 - 1, -(2**63), 2**35])
every = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


@every
@given(batches=st.lists(st.lists(FEW_KEYS, max_size=12), max_size=12), size=st.integers(1, 64))
def test_nothing_that_was_never_met_is_known(
    make: Callable[[int], Seen], batches: list[list[int]], size: int
) -> None:
    """New keys are new: always without a filter, and at 0.001 % for these few keys too."""
    seen, met = make(size), set[int]()
    for batch in batches:
        known = seen.meet(batch)
        assert len(known) == len(batch)
        for key, is_known in zip(batch, known, strict=True):
            assert key in met or not is_known, key
            met.add(key)


@every
@given(keys=st.lists(KEYS, min_size=1, max_size=30, unique=True))
def test_a_key_that_comes_twice_in_one_call_is_known_the_second_time(
    make: Callable[[int], Seen], keys: list[int]
) -> None:
    """A page that names a link twice names one link; whoever else is met in between."""
    last = keys[-1]
    assert make(64).meet([*keys, last])[-1]


@every
def test_what_was_met_last_is_known(make: Callable[[int], Seen]) -> None:
    """However little it holds, a memory knows the key that came just before."""
    seen = make(1)
    for key in range(1000, 3000):
        assert seen.meet([key * 0x9E37_79B9]) == [False]
        assert seen.meet([key * 0x9E37_79B9]) == [True]


@every
@given(keys=st.lists(KEYS, min_size=1, max_size=8, unique=True))
def test_forgetting_makes_new(make: Callable[[int], Seen], keys: list[int]) -> None:
    """A key that dedup takes back is new again, and the others stay known."""
    seen = make(1 << 12)
    seen.meet(keys)
    kept = seen.meet(keys)
    seen.forget(keys[0])
    assert seen.meet(keys)[0] is False
    assert kept[1:] == seen.meet(keys)[1:]


@given(
    batches=st.lists(st.lists(st.integers(0, 40), max_size=8), max_size=20), size=st.integers(1, 20)
)
def test_an_lru_is_an_lru(batches: list[list[int]], size: int) -> None:
    """It knows the last `size` different keys, and no others."""
    lru, order = Lru(size), list[int]()
    for batch in batches:
        known = lru.meet(batch)
        for key, is_known in zip(batch, known, strict=True):
            assert is_known == (key in order[-size:])
            order = [one for one in order if one != key] + [key]


@pytest.mark.parametrize("make", [Pairs, Buckets, Generations, Lru])
def test_bytes_do_not_grow_beyond_the_size(make: Callable[[int], Seen]) -> None:
    """A bounded memory stays bounded."""
    seen = make(1 << 10)
    biggest = 0
    for start in range(0, 50_000, 100):
        seen.meet([key * 0x9E37_79B9_7F4A_7C15 % 2**62 for key in range(start, start + 100)])
        biggest = max(biggest, bytes_of(seen))
    assert 0 < biggest <= 250 * (1 << 10)


def test_an_unknown_name_is_refused() -> None:
    """There is no default to fall back on in silence."""
    with pytest.raises(KeyError):
        make_seen(SeenUrls("magic", 10))
