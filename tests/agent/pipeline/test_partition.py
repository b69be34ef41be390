"""Which partition holds a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.pipeline.messages.requests import Due
from agent.pipeline.partition import Partition, partition_of
from agent.pipeline.spec import Key
from agent.runners.partitions import chooser


@given(key=st.text(), count=st.integers(1, 9))
def test_exactly_one_partition_holds_a_key(key: str, count: int) -> None:
    """Every key, whatever a site made of it, has one partition."""
    holders = [number for number in range(count) if Partition(number, count).holds(key)]
    assert holders == [partition_of(key, count)]


def test_the_choice_is_the_same_in_every_process() -> None:
    """A ledger that one process wrote is taken up by the right partitions of the next."""
    keys = ["192.0.2.1", "http://www.example.jp:80/", "2001:db8::1"]
    assert [partition_of(key, 5) for key in keys] == [1, 2, 4]


def test_a_chooser_reads_the_key_of_its_module() -> None:
    """The same message goes by host, by address or by URL, as the receiver wants it."""
    turn = Due(
        "http://a.example/x", "http://a.example:80/", "192.0.2.1", 1, 0, 0, None, 1, 1, "crawl"
    )
    for key in (Key.HOST, Key.IP, Key.URL):
        assert chooser(key, 7)(turn) == partition_of(getattr(turn, key.value), 7)
    assert chooser(Key.SINGLE, 1)(turn) == 0
    free = chooser(Key.FREE, 3)
    assert [free(turn) for _ in range(4)] == [0, 1, 2, 0]
    with pytest.raises(AttributeError):
        chooser(Key.IP, 2)("no message of ours")
