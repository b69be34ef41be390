"""Rehearsal of a release's launcher before it is used: an update that changes nothing.

It reads the state here and asks the manager as every night, but keeps the answers in a separate
folder that is removed. So a release whose launcher starts, but could not be replaced later, is
found out by the one that works, before the switch (docs/adr/0122).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from launcher.errors import BrokenError
from launcher.installation import Installation
from launcher.manager import Manager, read_site
from launcher.signed_releases import SignedReleases
from launcher.state import read_state

__all__ = ["rehearse"]


def rehearse(installation: Installation) -> None:
    """Read the state, verify all signed files again, and ask which release is to run here.

    Raises OfflineError: the manager was not reached; LauncherError and its kinds.
    """
    read_state(installation.own / "state.json")
    installation.scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=installation.scratch) as folder:
        stage = Installation(Path(folder), installation.data)
        stage.scratch.mkdir(parents=True)
        for path in (installation.root, installation.own / "metadata"):
            if path.is_dir():
                shutil.copytree(path, stage.own / path.name, symlinks=True)
            elif path.exists():
                shutil.copyfile(path, stage.own / path.name)
        manager = Manager(read_site(installation.data))
        if not SignedReleases(stage, manager).releases:
            raise BrokenError("no release is found in the signed files")
        manager.offer(installation.running())
