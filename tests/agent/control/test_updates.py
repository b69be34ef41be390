"""`prs status` says which releases are left alone, from what a real launcher wrote."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.cli.status import check_lines
from agent.control.updates import check_updates, skipped_releases
from launcher.state import State, next_failure, write_state
from shared.messages import Message


def test_what_failed_and_what_went_back_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how often, why, until when, and what a person can do."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "versions" / "1.0" / "venv"))
    assert skipped_releases() == []
    (tmp_path / "launcher").mkdir()
    path = tmp_path / "launcher" / "state.json"
    write_state(path, State(highest="1.0", good="1.0"))
    assert skipped_releases() == []
    failed = next_failure(None, "digest", "install", "pip ended with 1:\nno room", 0)
    write_state(path, State(bad={"1.1": "no such module"}, failed={"1.2": failed}))
    back, broken = skipped_releases()
    assert back == Message("agent.update_went_back", version="1.1", why="no such module")
    assert str(broken).startswith(
        "1.2 failed at install, 1 time (pip ended with 1: no room); it is"
    )
    assert "until 1970-01-0" in str(broken)
    for damaged in ("half a", "[]", '{"bad": 3}', '{"bad": {}, "failed": {"1.1": {}}}'):
        path.write_text(damaged)
        assert skipped_releases() == []
    path.write_text('{"bad": {}, "failed": {"1.1": {"until_ms": 1e30}}}')
    assert skipped_releases() == []


def test_updates_that_are_off_are_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive made with `--no-updates`: what that means and how to turn them on is said."""
    now = datetime(2026, 11, 25, tzinfo=UTC)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "versions" / "1.0" / "venv"))
    for has_launched in (False, True):
        if has_launched:
            (tmp_path / "launcher").mkdir()
        check = check_updates(now)
        assert check.passed
        assert "stays on release 1.0" in str(check.said)
        assert "prs update --root root.json" in str(check.said)
        (line,) = check_lines([check])
        assert line.startswith("ok  updates: off: ")


def test_a_root_that_is_gone_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed files that the launcher verified show that this site had one."""
    now = datetime(2026, 11, 25, tzinfo=UTC)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "versions" / "1.0" / "venv"))
    (tmp_path / "launcher" / "metadata").mkdir(parents=True)
    assert check_updates(now).passed, "an empty folder proves nothing"
    (tmp_path / "launcher" / "metadata" / "root.json").touch()
    check = check_updates(now)
    assert (
        str(check.said)
        == f"{tmp_path}/launcher/root.json is missing, so no release can be verified"
    )
    assert "prs update --root root.json" in str(check.remedy)


def test_whether_releases_come_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from an archive; without a root; never looked; lately; and long ago."""
    now = datetime(2026, 11, 25, tzinfo=UTC)
    assert check_updates(now).passed
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "versions" / "1.0" / "venv"))
    own = tmp_path / "launcher"
    own.mkdir()
    assert str(check_updates(now).said).startswith("off: ")
    (own / "root.json").touch()
    complete = tmp_path / "versions" / "1.0" / "complete"
    complete.parent.mkdir(parents=True)
    complete.touch()
    (tmp_path / "current").symlink_to("versions/1.0")
    for days, is_good in ((1, True), (9, False)):
        installed_s = now.timestamp() - days * 86_400
        os.utime(complete, (installed_s, installed_s))
        check = check_updates(now)
        assert (str(check.said), check.passed) == ("never checked yet", is_good)
    for hours, is_good in ((3, True), (150, True), (200, False)):
        (own / "looked").touch()
        looked_s = now.timestamp() - hours * 3600
        os.utime(own / "looked", (looked_s, looked_s))
        check = check_updates(now)
        assert (str(check.said), check.passed) == (f"checked {hours} h ago", is_good)
