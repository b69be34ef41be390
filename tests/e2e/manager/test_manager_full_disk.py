"""A manager whose file system is really full: what it says, what it keeps, and how it goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from tests.e2e.manager_process import ManagerProcess, prsm, prsm_program, running_manager
from tests.e2e.mounts import small_file_system

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NAME = "p.example"
PAGE = 4096
WAIT_S = 60


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of 64 MB."""
    with small_file_system(tmp_path / "disk", "size=64m") as folder:
        yield folder


def fill(folder: Path) -> Path:
    """Write until not a page is left."""
    ballast = folder / "ballast"
    with ballast.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(64 * PAGE))
        except OSError:
            pass
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            return ballast


def until(what: str, true: Callable[[], bool]) -> None:
    """Wait for a condition."""
    give_up = monotonic() + WAIT_S
    while not true():
        assert monotonic() < give_up, what
        sleep(0.1)


def m5(agent: httpx.Client, verb: str) -> httpx.Response:
    return agent.get(f"servlets/{verb}?host={NAME}")


def full(agent: httpx.Client) -> httpx.Response:
    """Leave and come back until the database finds no room for it."""
    for number in range(2000):
        answer = m5(agent, ("unsubscribe", "subscribe")[number % 2])
        if answer.status_code != 200:
            return answer
    pytest.fail("2,000 changes found room")


def readiness(manager: ManagerProcess) -> Any:
    return httpx.get(f"{manager.url}readyz").json()


def test_a_full_disk_is_named_everywhere_and_all_goes_on(disk: Path) -> None:
    """Agents, /readyz, `prsm status` and a new start say which file has no room, and the remedy."""
    with running_manager(disk / "data") as manager, manager.agent(NAME) as agent:
        ballast = fill(disk)
        refused = full(agent)
        assert (refused.status_code, refused.headers["x-error-code"]) == (503, "database_full")
        assert int(refused.headers["retry-after"]) >= 30
        assert str(manager.data / "prsm.sqlite") in refused.text
        assert "bytes are free" in refused.text
        assert "Make room" in refused.text
        until("/readyz names it", lambda: not readiness(manager)["ready"])
        [trouble] = [one for one in readiness(manager)["problems"] if one["code"] == "disk_full"]
        seen = json.loads(prsm(manager.data, "status", "--json"))
        assert trouble["text"] in seen["troubles"]
        assert f"! {trouble['text']}" in prsm(manager.data, "status")
        manager.kill()
        manager.start_again()
        assert not readiness(manager)["ready"]
        ballast.unlink()
        until("/readyz is over it", lambda: readiness(manager)["ready"])
        assert m5(agent, "subscribe").status_code == 200
        assert trouble["text"] not in prsm(manager.data, "status")


def test_the_first_start_on_a_full_disk_says_so(disk: Path) -> None:
    """In one sentence, with the file and the remedy, and nothing half made hinders the next."""
    data = disk / "data"
    data.mkdir(mode=0o700)
    ballast = fill(disk)
    said = prsm_program(data, "serve", "--listen", "127.0.0.1:0", code=1)
    assert "Traceback" not in said
    assert str(data) in said
    assert "make room" in said
    os.truncate(ballast, ballast.stat().st_size - 50 * PAGE)
    said = prsm_program(data, "serve", "--listen", "127.0.0.1:0", code=1)
    assert "Traceback" not in said
    assert "room" in said
    ballast.unlink()
    with running_manager(data, first=True):
        pass
