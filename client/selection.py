"""Pages of hosts: a job at the server makes one file of them, which is taken like any other.

The job is noted in the folder before it is waited for, so a killed run continues with it, and the
server makes it once. When its file has been taken the note goes: the next run asks again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final, Literal
from urllib.parse import urlencode

from client.errors import DamagedError, GoneError, LaterError, RefusedError
from client.file_list import Listed, files_of_page
from client.folder import Folder
from client.names import plain, segment_place
from client.retry import RetryPolicy
from client.server import Server
from shared.frozen import frozen

__all__ = [
    "SELECTED",
    "Format",
    "HeldHost",
    "Job",
    "Selection",
    "finished",
    "held_hosts",
    "job_for",
    "job_parts",
    "note_part",
    "result_of",
    "selected_place",
    "size_of",
    "wait_for",
    "with_any_port",
]

Format = Literal["zip", "warc"]

JOBS: Final = "wasapi/v1/jobs"
PAGES: Final = "api/v1/pages"
NOTE: Final = "job-"
SELECTED: Final = "pages-"
"""How the names of files begin that hold the pages of a selection, here as at the server."""
POLL_S: Final = 1.0
POLL_MOST_S: Final = 15.0

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")


@frozen
class Selection:
    """A selection request, as the texts that the server reads.

    host: RE2 of all of `name:port`, or of the name alone; the others may be empty. asked: what a
    person gave for it, where that is another text.
    """

    host: str
    url: str = ""
    since: str = ""
    until: str = ""
    updated_since: str = ""
    one_of_each: bool = False
    asked: str = ""

    @property
    def label(self) -> str:
        """Return a label for people: the requested hosts."""
        return plain(self.asked or self.host)[:60]

    @property
    def query(self) -> list[tuple[str, str]]:
        """Return it as the query of a request."""
        asked = [
            ("host", with_any_port(self.host)),
            ("url", self.url),
            ("since", self.since),
            ("until", self.until),
            ("updated_since", self.updated_since),
            ("one_of_each", "true" if self.one_of_each else ""),
        ]
        return [(name, value) for name, value in asked if value]


def with_any_port(expression: str) -> str:
    """Return an expression that matches `name:port` where the given one matches all or the name."""
    return f"(?:{expression})(?::[0-9]+)?" if expression != ".*" else expression


@frozen
class Job:
    """A job that the server has for us; note: how the folder calls it."""

    token: str
    note: str


@frozen
class HeldHost:
    """A host that the server has. bytes: of its records; times: of its first and last capture."""

    host: str
    captures: int
    bytes: int
    first_ms: int
    last_ms: int


def size_of(server: Server, selection: Selection) -> tuple[int, int]:
    """Return how many hosts match and how many captures they have at most; raises ClientError."""
    answer = server.json(PAGES, selection.query)
    try:
        return int(answer["hosts"]), int(answer["captures"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError("the size of a selection is none: is this a PRSM manager?") from error


def held_hosts(server: Server, selection: Selection) -> Iterator[HeldHost]:
    """Give the hosts that match, with what the server has of each; raises ClientError."""
    after: int | None = 0
    while after is not None:
        answer = server.json(f"{PAGES}/hosts", [*selection.query, ("after", str(after))])
        try:
            page = [_held(each) for each in answer["hosts"]]
            following = answer["next"]
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedError("the list of hosts is none: is this a PRSM manager?") from error
        yield from page
        if following is not None and not (isinstance(following, int) and following > after):
            raise DamagedError("the list of hosts does not end: its next page is not behind this")
        after = following


def _held(each: dict[str, Any]) -> HeldHost:
    return HeldHost(
        plain(str(each["host"]))[:300],
        int(each["captures"]),
        int(each["bytes"]),
        int(each["first_ms"]),
        int(each["last_ms"]),
    )


def job_for(server: Server, folder: Folder, form: Format, selection: Selection) -> Job:
    """Return the job that was noted for this selection, or submit one; raises ClientError."""
    query = urlencode(selection.query)
    note = NOTE + hashlib.sha256(f"{server.url} {form} {query}".encode()).hexdigest()[:16]
    noted = folder.noted(note)
    if isinstance(noted, dict) and _TOKEN.fullmatch(str(noted.get("jobtoken"))):
        return Job(noted["jobtoken"], note)
    token = _submit(server, {"function": f"extract-{form}", "query": query})
    folder.note(note, {"jobtoken": token, "format": form, "query": query, "server": server.url})
    return Job(token, note)


def selected_place(job: Job) -> PurePosixPath:
    """Return where the WARC file of a selection lies: one place for one question."""
    return segment_place(f"{SELECTED}{job.note.removeprefix(NOTE)}.warc.gz")


def wait_for(server: Server, job: Job, look: Callable[[int, int], None]) -> bool:
    """Wait until a job is complete; False: it is gone, and another is needed. Raises ClientError.

    look: receives the number of captures done, and the most that there can be.
    """
    pause_s = POLL_S
    while True:
        try:
            answer = server.json(f"{JOBS}/{job.token}")
        except RefusedError as error:
            if error.status in (404, 410):
                return False
            raise
        state = answer.get("state") if isinstance(answer, dict) else None
        if state == "complete":
            return True
        if state == "gone":
            return False
        if state not in ("queued", "running"):
            problem = plain(str(answer.get("problem") if isinstance(answer, dict) else answer))
            raise RefusedError(200, f"the server could not make it: {problem[:500]}")
        look(_count(answer.get("done")), _count(answer.get("total")))
        server.patience.pause(pause_s * server.patience.scale)
        pause_s = min(POLL_MOST_S, pause_s * 1.5)


def result_of(server: Server, job: Job) -> Listed | None:
    """Return the file of a complete job; None: it is gone. Raises ClientError."""
    try:
        answer = server.json(f"{JOBS}/{job.token}/result")
    except GoneError:
        return None
    files = files_of_page(answer, lambda _: f"api/v1/results/{job.token}")
    if len(files) != 1:
        raise DamagedError(f"a job has {len(files)} files; one was promised")
    return files[0]


def finished(folder: Folder, job: Job) -> None:
    """Forget a job whose file was taken, or that is gone, and the parts of its file."""
    noted = folder.noted(job.note)
    folder.note(job.note, None)
    if isinstance(noted, dict) and "sha256" in noted:
        folder.drop_part(str(noted["sha256"]))


def note_part(folder: Folder, job: Job, listed: Listed) -> None:
    """Note what the file of a job must be, so that its part is known for one."""
    noted = folder.noted(job.note)
    if isinstance(noted, dict) and noted.get("sha256") != listed.sha256:
        folder.note(job.note, {**noted, "sha256": listed.sha256})


def job_parts(folder: Folder) -> set[str]:
    """Return the SHA-256 of the files of all jobs that are noted."""
    noted = (folder.noted(name) for name in folder.notes(NOTE))
    return {str(each["sha256"]) for each in noted if isinstance(each, dict) and "sha256" in each}


def _submit(server: Server, body: dict[str, str]) -> str:
    retrying = RetryPolicy(server.patience, "job")
    while True:
        try:
            answer = server.json(JOBS, body=body)
        except RefusedError as error:
            if error.status != 409:
                raise
            # Too many of ours wait: one more try when the server had time for some.
            retrying.failed(LaterError(str(error), None))
            continue
        token = answer.get("jobtoken") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise DamagedError("the server's job has no name: is this a PRSM manager?")
        return token


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
