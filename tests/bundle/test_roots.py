"""An archive whose sites would never get another release is made only where that was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.bundle import __main__ as bundle


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path | None]:
    """Give the roots of archives that are made; none really is."""
    roots: list[Path | None] = []

    def make(*words: object) -> Path:
        root = words[-1]
        assert root is None or isinstance(root, Path)
        roots.append(root)
        archive = tmp_path / "prs.tar.gz"
        archive.touch()
        return archive

    monkeypatch.setattr(bundle, "make", make)
    return roots


def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *words: str) -> int:
    """Run `python -m tools.bundle`; return its exit code."""
    monkeypatch.setattr("sys.argv", ["bundle", "--into", str(tmp_path), *words])
    try:
        bundle.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_a_root_is_asked_for(
    tmp_path: Path,
    made: list[Path | None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the reason and both ways on; one that is no file, and both ways, are refused too."""
    root = tmp_path / "1.root.json"
    assert call(monkeypatch, tmp_path) == 2
    said = capsys.readouterr().err
    assert "--root 1.root.json" in said
    assert "--no-updates" in said
    assert call(monkeypatch, tmp_path, "--root", str(root)) == 2
    assert "is no file" in capsys.readouterr().err
    root.write_text("{}")
    assert call(monkeypatch, tmp_path, "--root", str(root), "--no-updates") == 2
    assert made == []
    capsys.readouterr()
    assert call(monkeypatch, tmp_path, "--root", str(root)) == 0
    assert capsys.readouterr().err == ""
    assert call(monkeypatch, tmp_path, "--no-updates") == 0
    assert "stay on its release" in capsys.readouterr().err
    assert made == [root, None]
