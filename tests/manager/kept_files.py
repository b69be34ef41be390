"""A manager with files of each kind, and what is left of them."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from manager.app.composition import open_manager
from manager.operations.planning.planners import InProcessPlanner
from manager.settings import read_settings
from tests.manager.archived import collected, hold, page
from tests.manager.running import RESERVES, START_MS, Running, read_here

__all__ = ["HOSTS", "age", "contents", "fill_archive", "sqlite_of", "start", "unmark"]

HOSTS = ("http://www.example.jp:80/", "http://other.example:80/")
TWO_DAYS_S = 2 * 86_400
KEPT = ("archive", "uploads", "incoming", "logs", "releases")


def fill_archive(prsm: Running, segments: int = 2) -> None:
    """Let an agent's segments come, each with a page of two hosts."""
    agent = prsm.agent()
    hold(prsm, agent, *HOSTS)
    for number in range(segments):
        captures = [page(f"{host}{number}", b"<p>%d" % number) for host in HOSTS]
        collected(prsm, agent, captures, f"x-20261122000000-{number:05d}-a.example.warc.gz")


def start(folder: Path, *overrides: str) -> None:
    """Open a manager as `prsm serve` does, and end it."""
    settings = read_settings(folder, overrides=[*RESERVES, *overrides])
    open_manager(settings, read_here, InProcessPlanner(), lambda: START_MS).close()


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that a manager keeps, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for kept in KEPT
        for path in sorted((folder / kept).rglob("*"))
        if path.is_file() and "daily" not in path.parts
    }


def age(folder: Path, by_s: float = TWO_DAYS_S) -> None:
    """Let all files that a manager keeps be two days old, as far as a program may say so."""
    moment = time.time() - by_s
    for name in contents(folder):
        os.utime(folder / name, (moment, moment))


def unmark(folder: Path) -> None:
    """Leave the files as a version before the ids had them."""
    (folder / ".prsm-installation").unlink()


def sqlite_of(folder: Path, statement: str) -> list[tuple[object, ...]]:
    """Run a statement on a manager's database that nobody serves."""
    with closing(sqlite3.connect(folder / "prsm.sqlite")) as database, database:
        return database.execute(statement).fetchall()
