"""What holds for all tests of the manager."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import pytest
from argon2 import PasswordHasher

from manager.console.requests import access
from manager.db import engine
from manager.db.figure_cache import FigureCache
from manager.operations.people import passwords


@pytest.fixture(autouse=True, scope="session")
def quick_passwords() -> Iterator[None]:
    """Hash passwords with little work: what it is to cost is argon2's default, and no test's."""
    with pytest.MonkeyPatch.context() as patch:
        quick = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
        patch.setattr(passwords, "_hasher", quick)
        yield


@pytest.fixture(autouse=True, scope="session")
def figures_are_new() -> Iterator[None]:
    """Ask for figures each time, however long a busy machine takes; `test_kept` keeps its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "FigureCache", partial(FigureCache, quick_s=math.inf))
        yield


@pytest.fixture(autouse=True, scope="session")
def patient_pages() -> Iterator[None]:
    """Let pages wait for their first figures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "FIRST_FIGURE_S", 60.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def patient_writes() -> Iterator[None]:
    """Let a write ask PostgreSQL nothing for a while: a busy machine may stop a test that long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "IDLE_S", 120.0)
        yield
