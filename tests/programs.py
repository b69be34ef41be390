"""Programs of the system that some tests call, and the Debian packages that bring them.

A test that lacks one is skipped with the reason and the command that installs it. Where CI=true,
`tests/conftest.py` turns such a skip into a failure: `make test-packages` has installed them all.
"""

from __future__ import annotations

import os
import shutil
from typing import Final, NoReturn

import pytest

__all__ = ["NOT_INSTALLED", "PACKAGES", "program", "skip_without"]

NOT_INSTALLED: Final = "not installed: "
"""The begin of the reason of each skip for a missing program."""

PACKAGES: Final = {
    "caddy": "caddy",
    "chromium": "chromium",
    "crontab": "cron",
    "curl": "curl",
    "git": "git",
    "ip": "iproute2",
    "java": "default-jre-headless",
    "mount": "mount",
    "nft": "nftables",
    "nginx": "nginx-light",
    "node": "nodejs",
    "npm": "npm",
    "openssl": "openssl",
    "strace": "strace",
    "systemctl": "systemd",
    "systemd-analyze": "systemd",
    "unshare": "util-linux",
    "unzip": "unzip",
    "wget": "wget",
}
"""The Debian package of each command."""


def program(name: str) -> str:
    """Return the path of a command; skip the calling test where the system has none."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        skip_without(name, PACKAGES[name])
    return found


def skip_without(what: str, package: str) -> NoReturn:
    """Skip the calling test: `what` is not there, and this Debian package brings it."""
    pytest.skip(
        f"{NOT_INSTALLED}{what}; to run this test:"
        f" sudo apt-get install --no-install-recommends {package}"
    )
