"""Who holds an agent is remembered, and neither side undoes the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.control.drain import Holds, change_holds, read_holds
from agent.errors import HomeError
from shared.messages import Message


def test_nothing_holds_at_first(tmp_path: Path) -> None:
    """A new home is free."""
    holds = read_holds(tmp_path / "hold.json")
    assert (holds.paused, holds.drained, holds.reason) == (False, False, None)


def test_holds_outlive_the_process(tmp_path: Path) -> None:
    """A drain is still one after a restart."""
    path = tmp_path / "hold.json"
    change_holds(path, lambda holds: holds.drain("site"))
    change_holds(path, lambda holds: holds.pause("manager"))
    again = read_holds(path)
    assert (again.drained_by, again.paused_by) == (("site",), ("manager",))
    assert "prs resume" in str(again.reason)


def test_each_side_undoes_only_its_own() -> None:
    """A partner's stop stands against the manager's resume, and the other way round."""
    both = Holds().drain("site").drain("manager").pause("manager")
    assert both.drain("site") == both
    left = both.resume("site")
    assert (left.drained, left.reason) == (True, Message("agent.drained_by_manager"))
    assert both.resume("manager").drained_by == ("site",)
    assert not both.resume("manager").resume("site").paused


def test_the_reason_says_who() -> None:
    """Each kind of hold is said in words."""
    assert Holds().pause("manager").reason == Message("agent.paused_by_manager")
    assert "`prs pause`" in str(Holds().pause("site").reason)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"paused_by": ["me"], "drained_by": [], "handed_back": false}', "{}"]
)
def test_a_broken_file_is_said(tmp_path: Path, text: str) -> None:
    """What cannot be read is not taken for "nothing holds"."""
    (tmp_path / "hold.json").write_text(text)
    with pytest.raises(HomeError, match="remove it"):
        read_holds(tmp_path / "hold.json")
