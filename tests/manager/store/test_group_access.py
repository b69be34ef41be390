"""What the web server in front may read: the files that it sends, and nothing else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.store import Layout, StoreError
from manager.store.segments.segment_store import DirectoryStore, link_into

KEY = f"7/{'0a' * 32}.warc.gz"


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """As the shipped unit sets it."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fronted(data: Path) -> Layout:
    """Return the folders of a manager behind a web server; their group is not its user's own."""
    layout = Layout(data, fronted=True)
    layout.archive.mkdir(mode=0o700, parents=True)
    os.chown(layout.archive, -1, 54_321 if os.geteuid() == 0 else os.getgroups()[-1])
    layout.create()
    return layout


def put(layout: Layout, data: Path) -> list[Path]:
    """Keep a segment and its index; return where they lie."""
    source = data / "incoming" / "source"
    source.touch(mode=0o600)
    DirectoryStore(layout.segments, layout.access).put(source, KEY)
    link_into(source, layout.index_file(KEY), layout.access)
    return [layout.segments / KEY, layout.index_file(KEY)]


def test_the_group_of_the_archive_reads_what_is_sent(tmp_path: Path) -> None:
    """Each folder on the way and each file, whatever the umask is; nobody else, and no more."""
    layout = fronted(tmp_path)
    group = layout.archive.stat().st_gid
    for file in put(layout, tmp_path):
        assert (mode_of(file), file.stat().st_gid) == (0o640, group)
        for folder in (file.parent, file.parent.parent, layout.archive):
            assert (mode_of(folder), folder.stat().st_gid) == (0o750, group)
    assert mode_of(layout.results) == 0o750
    for folder in (layout.daily, layout.incoming, layout.logs, layout.spool):
        assert mode_of(folder) == 0o700


def test_without_a_web_server_nobody_else_reads(tmp_path: Path) -> None:
    """Everything is this user's."""
    layout = Layout(tmp_path / "data")
    layout.create()
    for file in put(layout, tmp_path / "data"):
        assert (mode_of(file), mode_of(file.parent)) == (0o600, 0o700)
    assert mode_of(layout.archive) == 0o700


def test_what_came_before_is_given_too(tmp_path: Path) -> None:
    """Files of before, of a restore, and one whose manager died between its name and its group."""
    Layout(tmp_path).create()
    files = put(Layout(tmp_path), tmp_path)
    layout = Layout(tmp_path, fronted=True)
    layout.create()
    assert mode_of(files[0]) == 0o600
    put(layout, tmp_path)
    assert mode_of(files[0]) == 0o640
    files[0].chmod(0o600)
    layout.access.give_all(layout.sent)
    assert [mode_of(file) for file in files] == [0o640, 0o640]
    assert mode_of(files[0].parent) == 0o750


def test_a_group_that_this_user_is_not_in_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, with what to do."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    layout = fronted(tmp_path)
    layout.segments.chmod(0o700)
    monkeypatch.setattr(os, "chown", refuse)
    monkeypatch.setattr(Path, "chmod", refuse)
    said = r"archive\.x_accel_redirect_path: .*segments must be readable .*group"
    with pytest.raises(StoreError, match=said):
        layout.create()
