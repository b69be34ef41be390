"""Sorted runs: exact, mergeable, and as small as they say."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.adapters.ledger.seen_sets.run_writer import merged, write_run
from agent.adapters.ledger.seen_sets.runs import BLOCK_KEYS, Pair, Run, Runs

KEYS = st.sets(st.integers(0, (1 << 64) - 1), max_size=60)


def pair(keys: set[int], job: int) -> Pair:
    return np.array(sorted(keys), np.uint64), np.full(len(keys), job, np.uint32)


def written(folder: Path, number: int, keys: set[int], job: int) -> Run:
    return Run(folder, write_run(folder, number, [pair(keys, job)], len(keys)))


@settings(max_examples=60, deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=4), st.sets(st.integers(0, 3)))
def test_a_merge_holds_the_keys_of_live_jobs(parts: list[set[int]], live: set[int]) -> None:
    """What is merged is exactly what the runs held of jobs that live, in order, each once."""
    met: set[int] = set()
    expected: set[int] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = []
        for job, part in enumerate(parts):
            new = part - met  # a URL is new once
            met |= new
            runs.append(written(folder, job + 1, new, job))
            expected |= new if job in live else set()
        numbers = np.array(sorted(live), np.uint32)
        total = sum(run.state.keys for run in runs)
        state = write_run(folder, 9, merged([run.pairs() for run in runs], numbers), total)
        whole = Run(folder, state)
        assert state.keys == len(expected)
        assert [key for keys, _ in whole.pairs() for key in keys.tolist()] == sorted(expected)
        for known in (Runs([whole]), Runs([*runs, whole])):
            assert all(map(known.contains, expected))
        assert all(map(Runs(runs).contains, met))
        strangers = {key ^ 1 for key in met}
        assert not any(map(Runs([whole]).contains, strangers - expected))
        assert not any(map(Runs([*runs, whole]).contains, strangers - met))
        for run in (*runs, whole):
            run.close()


def test_a_long_run_is_exact_and_its_filter_spares_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of keys that are not there, few pass the filter, and none is found."""
    chance = random.Random(3)
    keys = {chance.getrandbits(64) for _ in range(40 * BLOCK_KEYS + 7)}
    run = written(tmp_path, 1, keys, 5)
    assert run.path.stat().st_size == run.state.size_bytes
    known = Runs([run])
    assert all(map(known.contains, keys))
    strangers = {chance.getrandbits(64) for _ in range(20_000)} - keys
    looked_for: list[int] = []
    contains = run.contains

    def counted(key: int) -> bool:
        looked_for.append(key)
        return contains(key)

    monkeypatch.setattr(run, "contains", counted)
    assert not any(map(known.contains, strangers))
    assert 0 < len(looked_for) < len(strangers) * 0.03
    run.close()
