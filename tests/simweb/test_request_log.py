"""The log keeps every event at once, and says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.errors import SettingError
from simweb.servers.request_log import RequestLog


def no_failure(error: OSError) -> None:
    raise error


def test_each_event_is_in_the_file_at_once(tmp_path: Path) -> None:
    """Nothing waits in a buffer: a killed process loses no earlier line."""
    log = RequestLog(tmp_path / "new" / "log.jsonl", no_failure)
    for number in range(3):
        log.write("request", number=number, text="日本\n")
        lines = (tmp_path / "new" / "log.jsonl").read_text().splitlines()
        assert json.loads(lines[-1]) == {"event": "request", "number": number, "text": "日本\n"}
        assert len(lines) == number + 1
    log.close()
    log.write("request")
    assert len((tmp_path / "new" / "log.jsonl").read_text().splitlines()) == 3


def test_a_second_run_appends(tmp_path: Path) -> None:
    """The log of a server that was killed and started again is one log."""
    for _ in range(2):
        log = RequestLog(tmp_path / "log.jsonl", no_failure)
        log.moment("start")
        log.close()
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2


def test_a_log_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    """Before anything is served."""
    with pytest.raises(SettingError, match="--log"):
        RequestLog(tmp_path, no_failure)


def test_a_log_that_cannot_be_written_says_so() -> None:
    """A full disk must not pass for a silent crawl."""
    failures: list[OSError] = []
    log = RequestLog(Path("/dev/full"), failures.append)
    log.write("request")
    log.close()
    assert "space" in str(failures[0])
