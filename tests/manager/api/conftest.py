"""A manager that administrators can call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.manager.running import Running, running


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager with an empty database."""
    with running(tmp_path) as opened:
        yield opened
