"""Programs of the system that some tests call; `tools/test_packages.sh` installs them."""

from __future__ import annotations

import shutil

import pytest

__all__ = ["program"]


def program(name: str) -> str:
    """Return the path of a command; skip the calling test where the system has none."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no command {name}: tools/test_packages.sh installs it on Debian, as root")
    return found
