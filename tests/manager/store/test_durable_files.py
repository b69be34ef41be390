"""A file is there whole and synced, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.store import StoreFullError
from manager.store.durable_files import full_disk_said, move, write_whole
from tests.manager.store.full_disk import full_after


def test_the_name_comes_after_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is synced, then renamed, then its folder is synced: no power cut leaves half."""
    seen: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        seen.append("sync " + os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))[:4])  # noqa: PTH119, PTH115 - a link, not a path
        fsync(handle)

    def noted_replace(self: Path, target: Path) -> Path:
        seen.append(f"rename to {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    folder = tmp_path / "fold"
    folder.mkdir()
    assert write_whole(folder / "list", iter([b"ab", b"c"])) == 3
    assert seen == ["sync list", "rename to list", "sync fold"]
    assert (folder / "list").read_bytes() == b"abc"


def test_an_error_in_the_chunks_keeps_the_old_file(tmp_path: Path) -> None:
    """When the source of the bytes fails, the file that was there stays and no part is left."""

    def failing() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("the source broke")

    target = tmp_path / "list"
    target.write_bytes(b"old")
    with pytest.raises(ValueError, match="the source broke"):
        write_whole(target, failing())
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """When the disk fills up, the file that was there stays and no part is left."""
    target = tmp_path / "list"
    target.write_bytes(b"old")
    with pytest.raises(StoreFullError, match="must free disk space"):
        write_whole(target, iter([b"x" * 5000]), open_file=full_after(1000))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_a_file_moves_to_another_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a rename cannot reach, the file is copied whole, synced and then removed."""
    replace = Path.replace
    (tmp_path / "far").mkdir()

    def within_one_folder(self: Path, target: Path) -> Path:
        if self.parent != target.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", within_one_folder)
    source, target = tmp_path / "near", tmp_path / "far" / "file"
    source.write_bytes(b"x" * 3_000_000)
    move(source, target)
    assert target.read_bytes() == b"x" * 3_000_000
    assert not source.exists()
    assert list(target.parent.iterdir()) == [target]


def test_other_errors_keep_their_name(tmp_path: Path) -> None:
    """Only a full disk becomes StoreFullError; a missing folder does not."""
    with pytest.raises(FileNotFoundError), full_disk_said(tmp_path):
        (tmp_path / "no" / "file").open("wb")
