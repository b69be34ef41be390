"""One living system, and one browser, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest

from tests.e2e.manager_process import ManagerProcess, running_manager
from tests.manager.console.filled import fill_world
from tools.browser.driven import Browser, missing
from tools.screenshots.stage import Stage, set_stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Set the stage."""
    lacking = missing()
    if lacking:
        pytest.skip(f"{lacking} is not here: tools/test_packages.sh all brings it")
    with ExitStack() as stack:
        yield set_stage(stack, tmp_path_factory.mktemp("stage"))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManagerProcess]:
    """Serve a manager that has run for a while: there in seconds, but nobody calls it."""
    lacking = missing()
    if lacking:
        pytest.skip(f"{lacking} is not here: tools/test_packages.sh all brings it")
    folder = tmp_path_factory.mktemp("filled") / "data"
    folder.mkdir()
    fill_world(folder)
    with running_manager(folder) as running:
        yield running


@pytest.fixture(scope="session")
def names(stage: Stage) -> Mapping[str, str]:
    """Return what there is, of each kind."""
    return stage.names


@pytest.fixture(scope="session")
def browser(stage: Stage) -> Iterator[Browser]:
    """Start the browser."""
    with Browser(stage.manager.url) as started:
        yield started
