"""The fleet that `make bench-manager` simulates says what the manager takes."""

from __future__ import annotations

from benchmarks.manager.fleet import Load, Messages
from shared.wire.sync import SyncRequest
from shared.wire.sync_json import read_message


def test_each_message_is_one_that_a_manager_reads() -> None:
    """The template keeps to the limits of the protocol, and each agent says something new."""
    load = Load(
        port=1, agents=3, seconds=1.0, connections=1, rate=0.0, finishing=2, first=0, turns=6,
        tls=False,
    )  # fmt: skip
    made = Messages(load)
    read = [read_message(SyncRequest, made.next().partition(b"\r\n\r\n")[2]) for _ in range(6)]
    assert len({one.agent for one in read}) == 3
    assert [one.sequence for one in read] == [1, 1, 1, 2, 2, 2]
    assert [len(one.finished) for one in read] == [1, 0, 1, 0, 1, 0]
