"""Managers with something to look at, and people who look."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from manager.operations.people.users import add_user
from tests.manager.console.browser import Browser
from tests.manager.console.filled import PASSWORD, fill_world
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running, running

Visitor = Callable[[str], Browser]


@dataclass(frozen=True)
class World:
    """The data directory of a manager that has run for a while, and sessions by role."""

    folder: Path
    tokens: dict[str, str]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Make such a world, once."""
    folder = tmp_path_factory.mktemp("world")
    return World(folder, fill_world(folder))


@pytest.fixture
def prsm(filled: World, tmp_path: Path) -> Iterator[Running]:
    """Return a manager that has run for a while, of this test's own."""
    shutil.copytree(filled.folder, tmp_path / "data")
    with running(tmp_path / "data") as opened:
        yield opened


@pytest.fixture(scope="session")
def shown(filled: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return one manager that has run for a while, for all tests that only look."""
    folder = tmp_path_factory.mktemp("shown") / "data"
    shutil.copytree(filled.folder, folder)
    with running(folder) as opened:
        yield opened


@pytest.fixture
def onlooker(shown: Running, filled: World) -> Visitor:
    """Return who gives a browser like `person`, to look only: other tests see the same manager."""
    return _visitor(shown, filled)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Running]:
    """Return a manager on its first day: an administrator and nothing else."""
    with running(tmp_path) as opened:
        add_user(opened.manager.db, "admin", PASSWORD, "admin", ADMIN, START_MS)
        yield opened


@pytest.fixture
def person(prsm: Running, filled: World) -> Visitor:
    """Return who gives a browser in which a person of a role is logged in; no role: nobody."""
    return _visitor(prsm, filled)


def _visitor(opened: Running, filled: World) -> Visitor:
    return lambda role: Browser(
        opened.public, cookies={"prsm": filled.tokens[role]} if role else {}
    )
