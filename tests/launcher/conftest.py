"""A manager that serves signed releases, and a site that runs release 1.0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.site import Centre, Site, serving


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Centre]:
    """Return a manager that serves release 1.0."""
    with serving(Centre(tmp_path / "centre")) as made:
        made.publish("1.0")
        yield made


@pytest.fixture
def site(tmp_path: Path, centre: Centre) -> Site:
    """Return a site that runs release 1.0."""
    return Site(tmp_path / "site", centre)
