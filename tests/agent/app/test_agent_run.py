"""Who may work in a home."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.app.startup import agent_run
from agent.app.startup.agent_run import Replace, run_agent
from agent.app.startup.composition import RunOptions
from agent.app.startup.running_agent import RunResult
from agent.control.lock import HomeLock, holder_of
from agent.control.status import Status
from agent.errors import HomeError
from agent.settings import Home, read_settings
from shared.messages import Message


def start(home: Home, how: Replace) -> str:
    """Start an agent; return why it ended."""
    settings = read_settings(home.path)
    options = RunOptions(once=True, show_status=lambda _: None)
    result = run_agent(settings, options, replace=how, log_line=lambda _: None)
    assert not result.refused
    return str(result.reason)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return the home of an agent that has joined."""
    home = Home(tmp_path)
    home.make()
    said = {"manager": "http://127.0.0.1:9", "name": "a.example", "key": "k", "token_hash": ""}
    home.key.write_text(json.dumps(said))
    home.key.chmod(0o600)
    home.settings.write_text('[robot]\ncontact = "a@example.org"\n')
    return home


def test_a_process_that_is_stuck_gives_no_sign_of_life(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the next start finds it silent, and replaces it, though its loop turns."""
    healthy = Status("a.example", "", "1.0", 1, 0, 0, "working")
    signs: list[float | None] = []

    silent = replace(healthy, stuck=Message("agent.stuck_requests", limit_s=1200))

    async def run_until_stopped(*arguments: Any) -> RunResult:
        options: RunOptions = arguments[-1]
        for status in (healthy, silent, healthy):
            options.show_status(status)
            holder = holder_of(home.lock)
            assert holder is not None
            signs.append(holder.alive_s)
        return RunResult(Message.of_text("a test"))

    monkeypatch.setattr(agent_run, "run_until_stopped", run_until_stopped)
    assert start(home, "hung") == "a test"
    first, stuck, again = signs
    assert first is not None
    assert stuck is not None
    assert again is not None
    assert first == stuck < again


def test_of_two_starts_at_a_time_one_goes_without_a_word(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both saw nobody; the slower one finds the lock taken: no error that cron would mail."""
    monkeypatch.setattr(agent_run, "holder_of", lambda _: None)
    lock = HomeLock.take(home.lock, signs=True)
    assert start(home, "hung") == "another process of this agent already runs here"
    assert "this one ends" in home.robot_log.read_text()
    with pytest.raises(HomeError, match="works here already"):
        start(home, "never")
    lock.release()
