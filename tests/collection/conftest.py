"""A manager, and an agent with a home, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collection.site import Site
from tests.manager.running import Running, running


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager."""
    with running(tmp_path / "manager") as opened:
        yield opened


@pytest.fixture
def site(prsm: Running, tmp_path: Path) -> Site:
    """Return an agent with a home, that holds its host since 40 days."""
    return Site(prsm, tmp_path / "home", prsm.agent(kind="sync"))
