"""One living system, and one browser, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.e2e.manager_process import ManagerProcess, prsm, running_manager
from tests.manager.console.filled import PASSWORD, fill_world
from tests.programs import NOT_INSTALLED
from tools.browser.driven import Browser, missing
from tools.screenshots.stage import Stage, set_stage


def _need_a_browser() -> None:
    lacking = missing()
    if lacking:
        pytest.skip(f"{NOT_INSTALLED}{lacking}; to run this test: make test-packages ARGS=all")


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Set the stage."""
    _need_a_browser()
    with ExitStack() as stack:
        yield set_stage(stack, tmp_path_factory.mktemp("stage"))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve a manager that has run for a while: there in seconds, but nobody calls it."""
    _need_a_browser()
    folder = tmp_path_factory.mktemp("filled") / "data"
    folder.mkdir()
    fill_world(folder)
    with running_manager(folder) as running:
        yield running


@pytest.fixture(scope="session")
def first_day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve a manager that knows an administrator and nothing else."""
    _need_a_browser()
    with running_manager(tmp_path_factory.mktemp("first") / "data") as running:
        users = ("users", "add", "admin", "--role", "admin", "--password-stdin")
        prsm(running.data, *users, stdin=f"{PASSWORD}\n")
        yield running


@pytest.fixture(scope="module")
def opened(filled: ManagerProcess) -> Iterator[Browser]:
    """Start the browser before the filled manager."""
    with Browser(filled.url) as started:
        yield started


@pytest.fixture(scope="session")
def names(stage: Stage) -> Mapping[str, str]:
    """Return what there is, of each kind."""
    return stage.names


@pytest.fixture(scope="session")
def browser(stage: Stage) -> Iterator[Browser]:
    """Start the browser."""
    with Browser(stage.manager.url) as started:
        yield started
