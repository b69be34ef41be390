"""A machine within this one: its own users, homes, crontabs and cron, gone when the process ends.

Linux namespaces: mounts are private to this process and its children. Needs root; the user that is
made inside has no rights at all. The machine's system is this one's, or another one that lies in a
folder, also of another processor where the kernel knows who emulates it (binfmt_misc).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["HERE", "PARTNER", "Cron", "enter", "furnish", "inside", "shortage"]

HERE: Final = Path("/")
"""The system of this machine."""

PARTNER = "partner"
_INSIDE = "PRS_SHOW_SITE_INSIDE"
_PROGRAMS: Final = ("useradd", "su", "cron", "crontab", "pkill")


def shortage(system: Path) -> str:
    """Return why there can be no such machine here; empty: there can."""
    if os.geteuid() != 0:
        return "needs root, to make a user and to start cron"
    for name in ("unshare", "mount"):
        if shutil.which(name) is None:
            return f"no command {name}: Debian's packages util-linux and mount have it"
    words = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/home"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        return "this kernel forbids mounts in a namespace"
    if not _runs(inside(system, "true")):
        return f"nothing of {system} can be run: tools/debian_root.sh makes a system that can"
    for name in _PROGRAMS:
        if not _runs(inside(system, "sh", "-c", f"command -v {name}")):
            return f"no command {name}: `make test-packages` installs cron on Debian"
    return ""


def inside(system: Path, *words: str) -> list[str]:
    """Return the words that run a command in a system."""
    return [*words] if system == HERE else ["chroot", str(system), *words]


def enter() -> None:
    """Continue in a namespace of mounts; returns there, the second time it is called."""
    if os.environ.get(_INSIDE):
        return
    words = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private"]
    words += ["--kill-child", "--"]
    python = [sys.executable, "-m", "tools.show_site", *sys.argv[1:]]
    os.execvpe("unshare", [*words, *python], {**os.environ, _INSIDE: "1"})  # noqa: S606


def furnish(folder: Path, system: Path) -> None:
    """Make homes, users and crontabs of our own in a folder, and a partner without rights."""
    if system != HERE:
        _run("mount", "-t", "proc", "proc", str(system / "proc"))
        _run("mount", "--rbind", "/dev", str(system / "dev"))
        _run("mount", "-t", "tmpfs", "tmpfs", str(system / "tmp"))
    for name in ("home", "etc", "crontabs", "run"):
        (folder / name).mkdir(mode=0o755)
    _run("cp", "-a", f"{system}/etc/.", str(folder / "etc"))
    for name in ("crontab", "cron.d", "cron.hourly", "cron.daily", "cron.weekly", "cron.monthly"):
        _run("rm", "-rf", str(folder / "etc" / name))  # what else this machine does at some hours
    for name, place in (
        ("home", "home"),
        ("etc", "etc"),
        ("crontabs", "var/spool/cron/crontabs"),
        ("run", "run"),
    ):
        _run("mount", "--bind", str(folder / name), str(system / place))
    _run(*inside(system, "chown", "root:crontab", "/var/spool/cron/crontabs"))
    # Debian's crontab has its group's rights there; an emulated process has only the user's.
    mode = "1730" if system == HERE else "1777"
    _run(*inside(system, "chmod", mode, "/var/spool/cron/crontabs"))
    _run(*inside(system, "useradd", "--create-home", "--shell", "/bin/bash", PARTNER))


class Cron:
    """Debian's cron, as the start of the machine starts it."""

    def __init__(self, system: Path) -> None:
        words = inside(system, "cron", "-f")
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL)

    def stop(self) -> None:
        """End it; processes that it started continue."""
        self._process.terminate()
        self._process.wait()


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def _runs(words: list[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
