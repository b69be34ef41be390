"""An archive for this machine, made as `make bundle-here` makes it; once, because it takes long."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.bundle.archive import make, unpack
from tools.bundle.chosen import Platform

HERE = Platform((sys.version_info[0], sys.version_info[1]), platform.machine())


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the archive of version 9.1."""
    folder = tmp_path_factory.mktemp("archive")
    return make("9.1", (HERE,), f"prs-9.1-{HERE.name}", folder)


@pytest.fixture
def unpacked(archive: Path) -> Iterator[Path]:
    """Give the folder that comes out of it, in one that other users may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix="prs-site-") as name:
        site = Path(name)
        site.chmod(0o755)
        unpack(archive, site)
        yield site / archive.name.removesuffix(".tar.gz")
