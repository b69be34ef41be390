"""An agent's lines in a crontab that belongs to somebody."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.control.crontab import block_in, cron_command, with_block
from agent.errors import HomeError

HOME = Path("/home/a/prs/data")
OTHER = Path("/home/a/prs/data2")
OWN = "MAILTO=a@example.org\n# mine\n0 5 * * * backup\n"


def test_written_twice_is_there_once() -> None:
    """The lines of the user and of another home stay, in their order."""
    table = with_block(with_block(OWN, OTHER, ["1 2 * * * other"]), HOME, ["old"])
    again = with_block(table, HOME, ["17 1 * * * run", "18 1 * * * run"])
    assert again == with_block(again, HOME, ["17 1 * * * run", "18 1 * * * run"])
    assert again.startswith(OWN)
    assert block_in(again, HOME) == ["17 1 * * * run", "18 1 * * * run"]
    assert block_in(again, OTHER) == ["1 2 * * * other"]
    assert with_block(with_block(again, HOME, ()), OTHER, ()) == OWN


def test_a_mark_without_its_end_eats_nothing() -> None:
    """Whoever deleted the last mark keeps all of his lines."""
    first = with_block("", HOME, ["run"]).splitlines()[0]
    broken = f"{first}\n0 5 * * * backup\n"
    assert block_in(broken, HOME) == []
    assert "0 5 * * * backup\n" in with_block(broken, HOME, ["run"])
    assert with_block(broken, HOME, ()) == "0 5 * * * backup\n"


def test_a_command_is_quoted_for_cron() -> None:
    """A per cent sign ends a command there, a blank a word."""
    assert cron_command(["/a b/100%/prs", "run"]) == "'/a b/100\\%/prs' run"
    with pytest.raises(HomeError, match="cannot be written into a crontab"):
        cron_command(["/a\nb"])
