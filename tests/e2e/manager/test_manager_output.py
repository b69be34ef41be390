"""The output of `prsm serve`: one line an event, in our words, from its start to its end."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import CODE, ManagerProcess, prsm_program, running_manager

pytestmark = pytest.mark.e2e

FOREIGN = ("nanobind", "alembic", "uvicorn.error", "apscheduler", "maximum number", "Traceback")
TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ")


def messages(log: str) -> list[str]:
    """Return the lines of a log without their times, each checked to be one of the log."""
    lines = log.splitlines()
    for line in lines:
        assert TIME.match(line), f"not a line of the log: {line}"
    return [TIME.sub("", line) for line in lines]


def check_quiet(log: str) -> None:
    for foreign in FOREIGN:
        assert foreign not in log
    doubled = [line for line, times in Counter(messages(log)).items() if times > 1]
    assert not doubled


def use_duckdb(manager: ManagerProcess) -> None:
    """Ask for log lines, which a query of DuckDB reads."""
    with manager.agent("a.example") as agent:
        line = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")
        body = b"a.example.202611211000\n" + b"".join(encode([line]))
        agent.post("servlets/submitlog", content=body).raise_for_status()
    assert "www.example.jp" in prsm_program(manager.data, "logs", "--host", "www.example.jp")


def test_a_manager_says_each_thing_once_and_ends_without_a_library_s_report(
    tmp_path: Path,
) -> None:
    """The first start says which schema it made; the second one nothing of it."""
    data = tmp_path / "data"
    with running_manager(data, first=True) as manager:
        use_duckdb(manager)
        assert manager.stop() == 0
        first = manager.log
        check_quiet(first)
        assert len([line for line in messages(first) if "schema" in line]) == 1
        manager.log_path.write_text("")
        manager.start()
        assert manager.stop() == 0
        check_quiet(manager.log)
        assert "schema" not in manager.log
        assert "stopping: requests have" in manager.log


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of a manager that has served, to copy."""
    data = tmp_path_factory.mktemp("served") / "data"
    with running_manager(data) as manager:
        manager.stop()
    return data


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        pytest.param(["migrate"], marks=pytest.mark.slow),
        pytest.param(["migrate", "up"], marks=pytest.mark.slow),
        ["archive", "adopt"],
    ],
)
def test_commands_on_a_data_directory_end_as_quietly(
    tmp_path: Path, served: Path, words: list[str]
) -> None:
    """Those that open the database or the archive themselves load the same libraries."""
    data = tmp_path / "data"
    shutil.copytree(served, data)
    done = subprocess.run(
        [sys.executable, "-c", CODE, "--data", str(data), *words],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    for foreign in FOREIGN:
        assert foreign not in done.stderr + done.stdout


def test_a_manager_that_is_refused_ends_as_quietly(tmp_path: Path) -> None:
    """Libraries are loaded before a start is refused, too."""
    with running_manager(tmp_path / "data") as manager:
        said = prsm_program(tmp_path / "data", "serve", "--listen", "127.0.0.1:0", code=1)
        assert f"process {manager.process.pid}" in said
        assert len(said.splitlines()) == 1


def test_a_log_in_json_has_each_event_once(tmp_path: Path) -> None:
    """Programs that collect logs get the same lines."""
    data = tmp_path / "data"
    with running_manager(data, 'server.log_format="json"') as manager:
        assert manager.stop() == 0
        told = [json.loads(line)["message"] for line in manager.log.splitlines()]
    assert told
    assert len(told) == len(set(told))
