"""What a proxy in front asks, and the log that names requests."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from manager.app import log_setup
from manager.errors import BusyError
from tests.manager.running import running


def test_ready_means_that_the_database_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it does not, the proxy sends requests elsewhere; the process lives on."""
    with running(tmp_path) as prsm:
        assert prsm.outside.get("/healthz").text == "ok\n"
        assert prsm.outside.get("/readyz").json() == {"ready": True}

        def gone(*_: object) -> None:
            raise BusyError("the database does not answer now: refused")

        with monkeypatch.context() as patched:
            patched.setattr("manager.app.leadership.live", gone)
            prsm.manager.leadership.step()
        answer = prsm.outside.get("/readyz")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "the database has not answered for" in answer.json()["reason"]
        assert prsm.outside.get("/healthz").status_code == 200
        prsm.manager.leadership.step()
        assert prsm.outside.get("/readyz").status_code == 200


def test_an_outage_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture,
                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """One line when it begins, one when it ends; not one a second."""
    with running(tmp_path) as prsm, caplog.at_level(logging.INFO):

        def gone(*_: object) -> None:
            raise BusyError("the database does not answer now: refused")

        with monkeypatch.context() as patched:
            patched.setattr("manager.app.leadership.live", gone)
            for _ in range(5):
                prsm.manager.leadership.step()
        prsm.manager.leadership.step()
    assert caplog.text.count("the database does not answer now") == 1
    assert caplog.text.count("the database answers again") == 1


def test_lines_of_the_log_are_objects(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is said, with line breaks and quotes, is one line; errors are in it."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers = []
    try:
        log_setup.log_to_stderr(as_json=True)
        token = log_setup.REQUEST_ID.set("0123456789abcdef")
        try:
            int("no\nroom")
        except ValueError:
            logging.getLogger("manager.x").exception('said "so"\n%s', "twice")
        log_setup.REQUEST_ID.reset(token)
        logging.getLogger("manager.x").info("later")
    finally:
        root.handlers, root.level = before, level
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first["message"] == 'said "so"\ntwice'
    assert first["request_id"] == "0123456789abcdef"
    assert "ValueError: invalid literal" in first["error"]
    assert first["level"] == "error"
    assert "request_id" not in second
