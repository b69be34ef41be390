"""What a running agent takes up of changed settings, and what waits for the next start."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from agent.settings import Settings, taken_up
from agent.settings.effective_settings import LIVE

RUNNING = Settings(home=Path("/nowhere"))


def test_what_can_change_is_taken_up_and_the_rest_is_named() -> None:
    """The sizes of memories stay as the process was built; intervals change at once."""
    wanted = dataclasses.replace(
        RUNNING,
        politeness=dataclasses.replace(RUNNING.politeness, interval_s=40.0, strict_robots=True),
        memory=dataclasses.replace(RUNNING.memory, seen_urls=1 << 10),
        pages=dataclasses.replace(RUNNING.pages, workers=1),
    )
    change = taken_up(RUNNING, wanted)
    assert change.now == ("politeness.interval_s",)
    assert change.later == ("politeness.strict_robots", "pages.workers", "memory.seen_urls")
    assert change.settings.politeness.interval_s == 40.0
    assert not change.settings.politeness.strict_robots
    assert change.settings.memory == RUNNING.memory
    assert change.settings.pages == RUNNING.pages


def test_nothing_is_taken_up_where_nothing_changed() -> None:
    """The same settings, read again, are the same."""
    change = taken_up(RUNNING, dataclasses.replace(RUNNING))
    assert (change.settings, change.now, change.later) == (RUNNING, (), ())


@pytest.mark.parametrize("group", LIVE)
def test_every_live_setting_exists(group: str) -> None:
    """A setting that was renamed is not forgotten here."""
    fields = {field.name for field in dataclasses.fields(getattr(RUNNING, group))}
    assert LIVE[group] <= fields
