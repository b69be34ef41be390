"""Words of rows, steps, units and moments of schedules are in the language of the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Final, TypeVar, get_args

import pytest
import sqlalchemy as sa

from manager.assignment.liveness import LivenessState
from manager.console.language import speak
from manager.console.messages.sentences import run, step, unit, word
from manager.db.tables import metadata
from manager.operations.releases.update_reports import OUTCOMES
from manager.settings import Settings, setting_lines
from shared.messages.catalogue import WORDS, read_subject
from shared.wire.sync import CommandName

T = TypeVar("T")
NAMES: Final = frozenset(
    (
        # What files and calls of others are named by, in every language.
        *("root", "targets", "snapshot", "timestamp"),
        *("public", "withheld", "current", "withdrawn"),
        # What no page shows.
        *("drawn", "closed", "created", "deleted"),
    )
)


def _in_japanese(said: Callable[[], T]) -> T:
    def run() -> T:
        speak("ja")
        return said()

    return copy_context().run(run)


def test_every_word_of_a_row_is_translated() -> None:
    """States, kinds, roles: what a column may hold, pages have a word for."""
    found = {
        value
        for table in metadata.tables.values()
        for one in table.constraints
        if isinstance(one, sa.CheckConstraint)
        for value in re.findall(r"'([^']+)'", str(one.sqltext))
    }
    found |= {*OUTCOMES, *get_args(CommandName), *(state.value for state in LivenessState)}
    assert len(found) > 60
    same = _in_japanese(lambda: sorted(one for one in found - NAMES if word(one) == one))
    assert same == []


def test_english_words_are_written_as_people_do() -> None:
    """Hyphens and underscores are for programs."""
    assert [said for said in read_subject("en", WORDS).values() if re.search("[-_]", said)] == []
    assert word("went-back") == "rolled back"


def test_a_word_that_is_not_ours_stays() -> None:
    """It may be an agent's own."""
    assert _in_japanese(lambda: word("<b>")) == "<b>"


def test_a_step_is_no_kind_of_agent() -> None:
    """Both are called sync."""
    assert (step("sync"), step("download")) == ("sync", "download")
    assert _in_japanese(lambda: (step("sync"), word("sync"))) == ("同期", "同期型")
    assert _in_japanese(lambda: step("download")) == "ダウンロード"


def test_each_unit_of_a_setting_is_translated() -> None:
    """Of all settings that there are; an unknown one is shown as it is."""
    units = {line.unit for line in setting_lines(Settings(data=Path("/"))) if line.unit}
    keys = read_subject("en", WORDS)
    assert {one for one in units if f"unit_{one}" not in keys} == set()
    assert (unit("days"), unit("furlongs")) == ("days", "furlongs")
    assert _in_japanese(lambda: (unit("days"), unit("furlongs"))) == ("日", "furlongs")


@pytest.mark.parametrize(
    ("at_ms", "zone", "english", "japanese"),
    [
        (
            1_795_714_200_000,
            "Asia/Tokyo",
            "Friday, 27 November 2026, 02:30 JST",
            "2026年11月27日(金)02:30 JST",
        ),
        (
            1_795_714_200_000,
            "UTC",
            "Thursday, 26 November 2026, 17:30 UTC",
            "2026年11月26日(木)17:30 UTC",
        ),
    ],
)
def test_a_run_is_told_by_the_clock_of_its_schedule(
    at_ms: int, zone: str, english: str, japanese: str
) -> None:
    """With the day of the week, in the order of the language."""
    assert run(at_ms, zone) == english
    assert _in_japanese(lambda: run(at_ms, zone)) == japanese
