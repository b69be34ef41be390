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
from launcher.manager import Manager, read_site
from launcher.place import Place
from launcher.state import read_state
from launcher.trusted import Trusted

__all__ = ["rehearse"]


def rehearse(place: Place) -> None:
    """Read the state, verify all signed files again, and ask which release is to run here.

    Raises OfflineError: the manager was not reached; LauncherError and its kinds.
    """
    read_state(place.own / "state.json")
    place.scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.scratch) as folder:
        stage = Place(Path(folder), place.data)
        stage.scratch.mkdir(parents=True)
        for path in (place.root, place.own / "metadata"):
            if path.is_dir():
                shutil.copytree(path, stage.own / path.name, symlinks=True)
            elif path.exists():
                shutil.copyfile(path, stage.own / path.name)
        manager = Manager(read_site(place.data))
        if not Trusted(stage, manager).releases:
            raise BrokenError("no release is found in the signed files")
        manager.offer(place.running())
