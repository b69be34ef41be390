"""Conditions of one manager's machine: folders, inodes, readable secrets, a damaged database.

A condition has a code and a subject. `stops` says that nothing that
is sent can be kept: such a manager is not ready, and does not start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from manager.db.engine import Database
from manager.operations.alert import Alert
from manager.settings import ExposedSecret, Exposure
from manager.store.file_system import (
    FileSystem,
    FileSystemProblem,
    FileSystemState,
    free_inodes,
    problem_of,
)
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Condition", "alert_of", "conditions_of"]

FEW_INODES: Final = "few_inodes"
DAMAGED: Final = "database_damaged"


@frozen
class Condition:
    """Something that a person must mend at this machine. subject: a folder, a file.

    forbids_start: a manager could not even make the files that it needs to begin. is_alert: alerts
    report it, too.
    """

    code: str
    subject: str
    message: Message
    stops: bool
    forbids_start: bool = False
    is_alert: bool = True


_REAL: Final = FileSystem()

_MAY_START: Final = (FileSystemState.FULL, FileSystemState.QUOTA)
"""A manager without room still answers, and tells agents to come back."""


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
            few = Message(
                "alerts.folder_few_inodes", path=str(folder), free=left, least=least_inodes
            )
            found.append(Condition(FEW_INODES, str(folder), few, stops=False))
    found += [_of_secret(one) for one in secrets]
    return sorted(found, key=lambda one: not one.stops)


def alert_of(condition: Condition) -> Alert:
    """Return the alert that alerts tell of a condition."""
    return Alert(f"{condition.code}:{condition.subject}", condition.message)


def _of_database(db: Database | None) -> Iterator[Condition]:
    known = None if db is None else db.damage.known
    if known is not None:
        yield Condition(DAMAGED, known.file, known.message, stops=True)


def _of_folder(problem: FileSystemProblem) -> Condition:
    path, state = str(problem.folder), problem.state
    return Condition(
        state.value,
        path,
        Message(f"alerts.folder_{state.name.lower()}", path=path, detail=problem.detail),
        stops=True,
        forbids_start=state not in _MAY_START,
    )


def _of_secret(one: ExposedSecret) -> Condition:
    if one.exposure is Exposure.COMMAND_LINE:
        message = Message("alerts.secrets_on_command_line", secrets=one.secrets)
    else:
        message = Message("alerts.file_readable", path=str(one.place), secrets=one.secrets)
    return Condition(
        one.exposure.value,
        one.place or "arguments",
        message,
        stops=False,
        is_alert=one.exposure is Exposure.SETTINGS_FILE,
    )
