"""Segments are accepted in turns by agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from manager.db import Database
from manager.intake.uploads import file_acceptance
from manager.intake.uploads.file_acceptance import Acceptance
from manager.operations.segments.uploads import TransferRow
from shared.frozen import frozen


@frozen
class Row:
    """A file of an agent that waits."""

    id: int
    agent_id: int


@contextmanager
def judged(
    waiting: list[Row], monkeypatch: pytest.MonkeyPatch, at_once: int = 1
) -> Iterator[tuple[Acceptance, list[int]]]:
    """Give an acceptance of what waits, and the agents whose files it has judged."""
    done: list[int] = []

    class Noted(Acceptance):
        def _accept(self, row: TransferRow) -> None:
            done.append(row.agent_id)
            waiting.remove(cast("Row", row))

    monkeypatch.setattr(file_acceptance, "received_uploads", lambda *_: list(waiting))
    nothing = cast("Any", None)
    yield Noted(cast("Database", nothing), nothing, nothing, nothing, lambda: 0, at_once), done


def test_a_first_file_does_not_wait_behind_many_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who has one comes second, also where it came while the first was judged."""
    waiting = [Row(number, 1) for number in range(16)] + [Row(16, 2)]
    with judged(waiting, monkeypatch) as (acceptance, done):
        assert acceptance.accept_waiting() == 17
        assert done == [1, 2] + [1] * 15
        waiting += [Row(20, 1), Row(21, 3), Row(22, 2)]
        assert acceptance.accept_waiting() == 3
        assert done[17:] == [3, 2, 1]


def test_a_file_that_goes_on_waiting_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be judged now is looked at once each time."""
    waiting = [Row(1, 1), Row(2, 2)]
    with judged(waiting, monkeypatch) as (acceptance, done):
        stays = Row(3, 3)
        monkeypatch.setattr(file_acceptance, "received_uploads", lambda *_: [stays, *waiting])
        monkeypatch.setattr(type(acceptance), "_accept", lambda _, row: done.append(row.agent_id))
        assert acceptance.accept_waiting() == 3
        assert sorted(done) == [1, 2, 3]


def test_several_are_judged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each agent: two of one agent wait for each other anyway."""
    waiting = [Row(1, 1), Row(2, 1), Row(3, 2)]
    with judged(waiting, monkeypatch, at_once=2) as (acceptance, done):
        assert acceptance.accept_waiting() == 3
        assert sorted(done[:2]) == [1, 2]
        assert done[2] == 1
