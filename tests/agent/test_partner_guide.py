"""The partner guide has a successor for each setting of the source, and names what exists."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import click
import pytest

from agent.cli import main
from agent.settings import RENAMED, Home, Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "partner.md").read_text()
TABLES = GUIDE[GUIDE.index("## For who knew the first PRS") :]

ROBOT_CONF = (
    *("prs.myfqdn", "prs.logfilename", "prs.transferlogfilename", "prs.serverlistfilename"),
    *("prs.datadirectory", "prs.proxy"),
)
"""Seed 004, 5.1.7, point 4."""

UPDATE_CONF = (
    *("prs-update.proxy", "prs-update.source", "prs-update.id", "prs-update.pass"),
    *("prs-update.gzip", "update.date", "prs_update.log"),
)
"""Seed 004, 5.3.1, points 1 (with its example), 3 and 4."""


@pytest.mark.parametrize("name", [*ROBOT_CONF, *UPDATE_CONF])
def test_each_field_of_the_source_has_a_successor(name: str) -> None:
    """A row whose first cell names it, and whose second says something."""
    rows = [line.split("|") for line in TABLES.splitlines() if line.startswith("| `")]
    found = [cells[2].strip() for cells in rows if f"`{name}`" in cells[1]]
    assert len(found) == 1
    assert found[0]


def test_settings_that_are_named_exist() -> None:
    """`group.name`, wherever it stands in the guide."""
    groups = {one.name: getattr(Settings(home=Path()), one.name) for one in fields(Settings)}
    known = {
        f"{group}.{one.name}"
        for group, values in groups.items()
        if is_dataclass(values)
        for one in fields(values)
    }
    named = {
        text
        for text in re.findall(r"`([a-z]+\.[a-z_]+)`", GUIDE)
        if text.partition(".")[0] in groups and text not in ("robot.conf", "robot.log")
    }
    assert {"manager.proxy", "network.proxy", "manager.name"} <= named
    assert named <= known | {one.old for one in RENAMED}


def test_each_renamed_setting_is_listed() -> None:
    """With its new name, in the order in which the agent has them."""
    _, begun, rest = GUIDE.partition("\n## Renamed settings\n")
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", rest.partition("\n## ")[0], re.M)
    assert begun
    assert rows == [(one.old, one.new) for one in RENAMED]


def test_commands_that_are_named_exist() -> None:
    """`prs WORD`, wherever it stands in the guide."""
    named = set(re.findall(r"`prs ([a-z]+)", GUIDE))
    assert {"enrol", "doctor", "schedule", "update", "drain", "uninstall"} <= named
    assert named <= set(main.list_commands(click.Context(main)))


def test_files_that_are_named_are_written_there() -> None:
    """What the tables say lies in `data/` is what the home calls it."""
    home = Home(Path("data"))
    for path in (home.robot_log, home.list, home.segments, home.sent, home.key, home.settings):
        assert str(path) in TABLES, path
