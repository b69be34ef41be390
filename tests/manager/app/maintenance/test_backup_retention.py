"""How many backups stay, and that nothing else goes."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from manager.app.maintenance.backup import remove_older
from manager.cli import main
from manager.store.backup_files import FORMAT, Manifest, new_backup

DAYS = ("2026-11-19", "2026-11-20", "2026-11-21", "2026-11-22")


def backup(folder: Path, name: str, made_ms: int, installation: str = "") -> Path:
    """Make a backup of nothing."""
    path = folder / f"{name}.tar"
    writer = new_backup(path)
    manifest = Manifest(
        format=FORMAT, made_ms=made_ms, version="1", schema_version="0001", database="sqlite",
        tables={}, longest_permit_ms=0, files=[], left_out=[], missing=[],
        installation=installation,
    )  # fmt: skip
    writer.finish(manifest)
    return path


def test_the_newest_stay(tmp_path: Path) -> None:
    """By when they were made, not by name; that of now stays though a clock was set back."""
    first, second, third, now = (
        backup(tmp_path, day, made_ms)
        for day, made_ms in zip(reversed(DAYS), (10, 20, 30, 5), strict=True)
    )
    assert remove_older(now, keep=4) == []
    assert remove_older(now, keep=2) == [second, first]
    assert sorted(tmp_path.iterdir()) == sorted([third, now])
    assert remove_older(now, keep=1) == [third]
    assert list(tmp_path.iterdir()) == [now]


def test_backups_of_others_stay(tmp_path: Path) -> None:
    """Two installations back up into one folder: neither removes what is the other's."""
    for name, installation in (("old", ""), ("others", "b"), ("ours", "a")):
        backup(tmp_path, name, 1, installation)
    now = backup(tmp_path, "now", 10, "a")
    assert remove_older(now, keep=1) == [tmp_path / "ours.tar"]
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["now", "old", "others"]


def test_what_is_no_backup_stays(tmp_path: Path) -> None:
    """Other tars, links, backups that were cut off, folders."""
    kept = [
        tmp_path / "photos.tar",
        tmp_path / "link.tar",
        tmp_path / "cut.tar.part",
        tmp_path / "folder.tar",
    ]
    kept[0].write_bytes(b"no tar at all")
    kept[2].write_bytes(b"")
    kept[3].mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept[1].symlink_to(backup(elsewhere, "old", 1))
    now = backup(tmp_path, "now", 10)
    assert remove_older(now, keep=1) == []
    assert all(path.exists() for path in kept)


def test_folders_are_not_kept_count_of(tmp_path: Path) -> None:
    """A folder may be anything; the sentence says what to name."""
    done = CliRunner().invoke(main, ["backup", "--keep", "3", str(tmp_path / "new")])
    assert done.exit_code == 2
    assert "--keep 3: is for tars" in done.output
