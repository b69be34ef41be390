"""A run: whole segments, or pages of hosts, into a folder.

A run may be ended at any moment. Finished files stay under their names, begun ones stay as parts,
and the next run continues with both.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, Literal, Protocol

from client.crew import work_off
from client.downloads import download
from client.errors import DamagedError, GoneError, RefusedError
from client.file_list import Listed, list_segments
from client.folder import Folder
from client.names import plain, segment_place
from client.partial_file import PartialFile
from client.selection import (
    Format,
    Job,
    Selection,
    finished,
    job_for,
    job_parts,
    note_part,
    result_of,
    selected_place,
    size_of,
    wait_for,
)
from client.server import Server
from client.unzip import unpack
from shared.frozen import frozen
from shared.plurals import with_plurals

__all__ = [
    "Report",
    "Run",
    "Taken",
    "Watch",
    "matching_selections",
    "missing_segments",
]

JOBS_MOST: Final = 3
FIRST_BYTES: Final = 100_000

State = Literal["taken", "had", "withdrawn", "failed", "unmatched"]


@frozen
class Taken:
    """Result of one file. place: in the folder, where it has one; problem: why it failed."""

    place: str
    state: State
    size_bytes: int
    problem: str = ""


@dataclass
class Report:
    """Result of all files; any thread may append one, which Python does at once."""

    files: list[Taken] = field(default_factory=list)

    def count(self, state: State) -> int:
        """Return how many files are in a state."""
        return sum(each.state == state for each in self.files)


class Watch(Protocol):
    """Whoever shows how it goes; called from any thread."""

    def expect(self, files: int, size_bytes: int) -> None:
        """Learn that so much more is to come."""

    def received(self, name: str, count: int) -> None:
        """Learn that bytes of a file came; negative: they were thrown away."""

    def finished(self, taken: Taken) -> None:
        """Learn the result of a file."""

    def job_progress(self, name: str, done: int, total: int) -> None:
        """Learn how far the server is with a job."""

    def redraw(self) -> None:
        """Show it; called several times a second by the main thread."""


def missing_segments(
    server: Server, folder: Folder, report: Report
) -> list[tuple[Listed, PurePosixPath]]:
    """Return the public segments that are not here; what is here or cannot be is reported."""
    missing: dict[PurePosixPath, Listed] = {}
    for listed in list_segments(server):
        try:
            place = segment_place(listed.name)
        except DamagedError as error:
            report.files.append(Taken(plain(listed.name)[:100], "failed", 0, str(error)))
            continue
        if folder.has(place, listed.size_bytes):
            report.files.append(Taken(str(place), "had", listed.size_bytes))
        else:
            missing[place] = listed
    return [(listed, place) for place, listed in missing.items()]


def matching_selections(
    server: Server, selections: Iterable[Selection], report: Report
) -> list[Selection]:
    """Return the selections of which the server has a capture; the others are reported."""
    matching = []
    for selection in selections:
        hosts, captures = size_of(server, selection)
        if hosts and captures:
            matching.append(selection)
        else:
            report.files.append(
                Taken(selection.label, "unmatched", 0, with_plurals(f"{hosts} hosts, 0 captures"))
            )
    return matching


@frozen
class Run:
    """A run into one folder: several files at a time, the result of each for report and watch."""

    server: Server
    folder: Folder
    at_once: int
    watch: Watch
    report: Report

    def get_segments(self, files: Sequence[tuple[Listed, PurePosixPath]]) -> None:
        """Take whole segments; raises ClientError for what ends the run."""
        self.watch.expect(len(files), sum(listed.size_bytes for listed, _ in files))
        alike: dict[str, list[tuple[Listed, PurePosixPath]]] = {}
        for listed, place in files:  # the same bytes under two names share a part
            alike.setdefault(listed.sha256, []).append((listed, place))
        self.folder.tidy({*alike, *job_parts(self.folder)})

        def task(same: list[tuple[Listed, PurePosixPath]]) -> None:
            for listed, place in same:
                self._finish(self._segment(listed, place))

        self._work_off(partial(task, same) for same in alike.values())

    def get_selections(self, form: Format, selections: Iterable[Selection]) -> None:
        """Take pages of hosts, a job for each selection; raises ClientError."""
        alike = dict.fromkeys(selections)
        self._work_off(partial(self._selection, form, selection) for selection in alike)

    def _work_off(self, tasks: Iterable[Callable[[], None]]) -> None:
        work_off(tasks, self.at_once, self.server.patience, self.watch.redraw)

    def _finish(self, taken: Taken) -> None:
        self.report.files.append(taken)
        self.watch.finished(taken)

    def _segment(self, listed: Listed, place: PurePosixPath) -> Taken:
        try:
            with PartialFile(self.folder.parts, listed.sha256, listed.size_bytes) as part:
                self._download(part, listed, listed.name)
                self.folder.keep(part.path, place)
                part.forget()
            return Taken(str(place), "taken", listed.size_bytes)
        except GoneError as error:
            self.folder.remove(place)
            self.folder.drop_part(listed.sha256)
            return Taken(str(place), "withdrawn", 0, str(error))
        except (RefusedError, DamagedError) as error:
            return Taken(str(place), "failed", 0, str(error))

    def _download(self, part: PartialFile, listed: Listed, name: str) -> None:
        self.watch.expect(0, -part.size)  # is here from the run before
        download(self.server, part, listed, lambda count: self.watch.received(name, count))

    def _selection(self, form: Format, selection: Selection) -> None:
        problem = f"the server removed what it made for us {JOBS_MOST} times; run this again later"
        try:
            for _ in range(JOBS_MOST):
                if self._made(form, selection):
                    return
        except (RefusedError, DamagedError) as error:
            problem = str(error)
        self._finish(Taken(selection.label, "failed", 0, problem))

    def _made(self, form: Format, selection: Selection) -> bool:
        """Take the result of a job; False: it is gone, as when a host of it was excluded."""
        server, folder, name = self.server, self.folder, selection.label
        job = job_for(server, folder, form, selection)
        try:
            there = wait_for(server, job, partial(self.watch.job_progress, name))
            listed = result_of(server, job) if there else None
        except RefusedError:
            finished(folder, job)
            raise
        if listed is None:
            finished(folder, job)
            return False
        note_part(folder, job, listed)
        self.watch.expect(1, listed.size_bytes)
        with PartialFile(folder.parts, listed.sha256, listed.size_bytes) as part:
            try:
                self._download(part, listed, name)
                places = _laid_out(server, folder, form, job, part)
            except GoneError:
                part.forget()
                finished(folder, job)
                return False
            except (RefusedError, DamagedError):
                part.forget()
                finished(folder, job)
                raise
            part.forget()
        finished(folder, job)
        if not places:
            self.report.files.append(
                Taken(name, "unmatched", 0, "no capture fits the dates and the URL")
            )
        for place in places:
            self._finish(Taken(str(place), "taken", folder.at(place).stat().st_size))
        return True


def _laid_out(
    server: Server, folder: Folder, form: Format, job: Job, part: PartialFile
) -> list[PurePosixPath]:
    if form == "zip":
        return list(unpack(folder, part.path, server.patience.check))
    place = selected_place(job)  # a later run with the same question replaces the file
    if not _holds_captures(part.path):
        return []
    folder.keep(part.path, place)
    return [place]


def _holds_captures(path: Path) -> bool:
    """Return whether a WARC file has more than its first record, which is about the file."""
    with gzip.open(path) as file:
        return re.search(rb"WARC-Type: (?!warcinfo)", file.read(FIRST_BYTES)) is not None
