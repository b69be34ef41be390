"""Conditions of one manager's machine: folders, inodes, readable secrets, a damaged database.

A condition has a code and a subject; the sentence is made of both. `stops` says that nothing that
is sent can be kept: such a manager is not ready, and does not start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from manager.db.engine import Database
from manager.operations.trouble import Trouble
from manager.settings import ExposedSecret, Exposure
from manager.store.file_system import (
    FileSystem,
    FileSystemProblem,
    FileSystemState,
    free_inodes,
    problem_of,
)
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = ["Condition", "conditions_of", "trouble_of"]

FEW_INODES: Final = "few_inodes"
DAMAGED: Final = "database_damaged"


@frozen
class Condition:
    """Something that a person must mend at this machine. subject: a folder, a file.

    forbids_start: a manager could not even make the files that it needs to begin. is_alert: alerts
    tell it, too.
    """

    code: str
    subject: str
    text: str
    stops: bool
    forbids_start: bool = False
    is_alert: bool = True


_REAL: Final = FileSystem()

_OF_FOLDER: Final[dict[FileSystemState, tuple[str, str]]] = {
    FileSystemState.NO_INODES: (
        "has no free inodes: no file can be made, though bytes may be left",
        "remove many small files, or make a file system with more inodes (`df -i`)",
    ),
    FileSystemState.FULL: ("is full", "make room (`df`)"),
    FileSystemState.QUOTA: (
        "is at the quota of this user",
        "raise the quota, or make room (`quota`)",
    ),
    FileSystemState.READ_ONLY: (
        "is read-only",
        "see `dmesg` for errors of the disk, repair it, and mount it for writing",
    ),
    FileSystemState.NOT_PERMITTED: (
        "may not be written by this user",
        "give it to the user who runs the manager (chown, chmod)",
    ),
    FileSystemState.UNREACHABLE: (
        "cannot be reached",
        "mount it again, or see database.files and --data",
    ),
}

_MAY_START: Final = (FileSystemState.FULL, FileSystemState.QUOTA)
"""A manager without room still answers, and tells agents to come back."""

_OF_SECRET: Final[dict[Exposure, tuple[str, str]]] = {
    Exposure.SETTINGS_FILE: ("can be read by every user of this machine", "chmod 600 {place}"),
    Exposure.KEY_FILE: ("can be read by every user of this machine", "chmod 600 {place}"),
    Exposure.COMMAND_LINE: (
        "the command line can be read by every user of this machine (`ps`)",
        "write it into prsm.toml, readable by this user only",
    ),
}


def conditions_of(
    db: Database | None,
    folders: Iterable[Path],
    secrets: Iterable[ExposedSecret],
    least_inodes: int,
    system: FileSystem = _REAL,
) -> list[Condition]:
    """Return the conditions of this machine, those that stop the manager first.

    folders: in which files are made. least_inodes: below is a condition; 0: only none is.
    """
    found = list(_of_database(db))
    for folder in dict.fromkeys(folders):
        problem = problem_of(folder, system)
        if problem is not None:
            found.append(_of_folder(problem))
            continue
        left = free_inodes(folder, system)
        if left is not None and left < least_inodes:
            text = with_plurals(
                f"folder {folder}: {left:,} inodes are left, fewer than alerts.disk_inodes "
                f"({least_inodes:,}); remove many small files, or make a file system with more "
                "(`df -i`)"
            )
            found.append(Condition(FEW_INODES, str(folder), text, stops=False))
    found += [_of_secret(one) for one in secrets]
    return sorted(found, key=lambda one: not one.stops)


def trouble_of(condition: Condition) -> Trouble:
    """Return the trouble that alerts tell of a condition."""
    return Trouble(f"{condition.code}:{condition.subject}", condition.text)


def _of_database(db: Database | None) -> Iterator[Condition]:
    known = None if db is None else db.damage.known
    if known is not None:
        yield Condition(DAMAGED, known.file, str(known), stops=True)


def _of_folder(problem: FileSystemProblem) -> Condition:
    what, remedy = _OF_FOLDER[problem.state]
    text = f"folder {problem.folder}: the file system {what} ({problem.detail}); {remedy}"
    return Condition(
        problem.state.value,
        str(problem.folder),
        text,
        stops=True,
        forbids_start=problem.state not in _MAY_START,
    )


def _of_secret(one: ExposedSecret) -> Condition:
    what, remedy = _OF_SECRET[one.exposure]
    names = ", ".join(one.secrets)
    if one.place:
        text = f"file {one.place}, which holds {names}, {what}; {remedy.format(place=one.place)}"
    else:
        text = f"{names}: {what}; {remedy}"
    return Condition(
        one.exposure.value,
        one.place or "arguments",
        text,
        stops=False,
        is_alert=one.exposure is Exposure.SETTINGS_FILE,
    )
