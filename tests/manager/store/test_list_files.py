"""A generation's list is written once and read many times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.store import ListFiles, StoreFullError
from shared.wire.server_list import Comment, ListLine, UrlLine, decode
from tests.manager.store.full_disk import full_after

LINES: list[ListLine] = [Comment("Round=1"), UrlLine("http://www.example.jp:80/")]


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    """The list comes back as it went, from the first answer and from the file."""
    files = ListFiles(tmp_path)
    assert files.open(7, 1) is None
    with files.write(7, 1, LINES) as first:
        assert list(decode([first.read()])) == LINES
    again = files.open(7, 1)
    assert again is not None
    with again:
        assert list(decode([again.read()])) == LINES


def test_old_generations_go(tmp_path: Path) -> None:
    """Two generations stay, by number and not by spelling; a reader of a third is not cut off."""
    files = ListFiles(tmp_path)
    opened = [files.write(7, generation, LINES) for generation in (8, 9, 10, 11)]
    assert sorted(path.name for path in (tmp_path / "7").iterdir()) == ["10.gz", "11.gz"]
    for file in opened:
        with file:
            assert list(decode([file.read()])) == LINES


def test_a_list_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """A list whose lines stop in the middle, or that does not fit, is not there."""

    def broken() -> Iterator[ListLine]:
        yield LINES[0]
        raise RuntimeError("the database went away")

    with pytest.raises(RuntimeError):
        ListFiles(tmp_path).write(7, 1, broken())
    with pytest.raises(StoreFullError):
        ListFiles(tmp_path, open_file=full_after(10)).write(7, 1, LINES)
    assert ListFiles(tmp_path).open(7, 1) is None
    assert list((tmp_path / "7").iterdir()) == []


def test_lists_are_forgotten(tmp_path: Path) -> None:
    """All lists can be removed at start, those of one agent at any time."""
    files = ListFiles(tmp_path)
    for agent_id in (1, 2, 3):
        files.write(agent_id, 1, LINES).close()
    files.forget(1)
    files.forget(9)
    assert files.open(1, 1) is None
    kept = files.open(2, 1)
    assert kept is not None
    kept.close()
    files.clear()
    assert list(tmp_path.iterdir()) == []
