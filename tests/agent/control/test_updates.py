"""`prs status` says which releases are left alone, from what a real launcher wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agent.control.updates import left_alone
from launcher.failures import failure_after
from launcher.state import State, write_state


def test_what_failed_and_what_went_back_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how often, why, until when, and what a person can do."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "versions" / "1.0" / "venv"))
    assert left_alone() == []
    (tmp_path / "launcher").mkdir()
    path = tmp_path / "launcher" / "state.json"
    write_state(path, State(highest="1.0", good="1.0"))
    assert left_alone() == []
    failed = failure_after(None, "digest", "install", "pip ended with 1:\nno room", 0)
    write_state(path, State(bad={"1.1": "no such module"}, failed={"1.2": failed}))
    back, broken = left_alone()
    assert back == "1.1 went back (no such module); `prs update --again` tries it"
    assert broken.startswith("1.2 failed at install, once (pip ended with 1: no room); it is")
    assert "until 1970-01-0" in broken
    for damaged in ("half a", "[]", '{"bad": 3}', '{"bad": {}, "failed": {"1.1": {}}}'):
        path.write_text(damaged)
        assert left_alone() == []
    path.write_text('{"bad": {}, "failed": {"1.1": {"until_ms": 1e30}}}')
    assert left_alone() == []
