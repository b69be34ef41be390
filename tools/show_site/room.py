"""A machine within this one: its own users, homes, crontabs and cron, gone when the process ends.

Linux namespaces: mounts are private to this process and its children. Needs root; the user that is
made inside has no rights at all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PARTNER", "Cron", "enter", "furnish", "why_not"]

PARTNER = "partner"
_INSIDE = "PRS_SHOW_SITE_INSIDE"


def why_not() -> str:
    """Return why there can be no such machine here; empty: there can."""
    if os.geteuid() != 0:
        return "needs root, to make a user and to start cron"
    for name in ("unshare", "mount", "useradd", "su", "cron", "crontab"):
        if shutil.which(name) is None:
            return f"no command {name}: tools/test_packages.sh installs cron on Debian"
    words = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/home"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        return "this kernel lets nobody mount in a namespace"
    return ""


def enter() -> None:
    """Go on in a namespace of mounts; returns there, the second time it is called."""
    if os.environ.get(_INSIDE):
        return
    words = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private"]
    words += ["--kill-child", "--"]
    python = [sys.executable, "-m", "tools.show_site", *sys.argv[1:]]
    os.execvpe("unshare", [*words, *python], {**os.environ, _INSIDE: "1"})  # noqa: S606


def furnish(folder: Path) -> None:
    """Make homes, users and crontabs of our own in a folder, and a partner without rights."""
    for name in ("home", "etc", "crontabs", "run"):
        (folder / name).mkdir(mode=0o755)
    _run("cp", "-a", "/etc/.", str(folder / "etc"))
    for name in ("crontab", "cron.d", "cron.hourly", "cron.daily", "cron.weekly", "cron.monthly"):
        _run("rm", "-rf", str(folder / "etc" / name))  # what else this machine does at some hours
    for name, place in (
        ("home", "/home"),
        ("etc", "/etc"),
        ("crontabs", "/var/spool/cron/crontabs"),
        ("run", "/run"),
    ):
        _run("mount", "--bind", str(folder / name), place)
    _run("chown", "root:crontab", "/var/spool/cron/crontabs")
    _run("chmod", "1730", "/var/spool/cron/crontabs")
    _run("useradd", "--create-home", "--shell", "/bin/bash", PARTNER)


class Cron:
    """Debian's cron, as the start of the machine starts it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(["cron", "-f"], stdin=subprocess.DEVNULL)

    def stop(self) -> None:
        """End it; what it started goes on."""
        self._process.terminate()
        self._process.wait()


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
