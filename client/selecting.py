"""Get a selection: a job at the centre, waited for, fetched, verified, unpacked.

Invariant: the job's name is kept beside what is fetched, so that the same command goes on with it
after whatever ended the first one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from client.errors import RefusedError
from client.fetching import RemoteFile, Told, fetch
from client.server import Server
from client.unpacking import unpack

__all__ = ["Got", "Wanted", "get"]

POLL_S: Final = 2.0
STATE: Final = ".prs-get"
FUNCTIONS: Final = {"zip": "extract-zip", "warc": "extract-warc"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A selection. form: zip or warc."""

    form: str
    host: str
    url: str = ""
    since: str = ""
    until: str = ""
    updated_since: str = ""
    one_of_each: bool = False

    @property
    def params(self) -> dict[str, str]:
        """Return it as the centre's parameters."""
        given = {
            "host": self.host,
            "url": self.url,
            "since": self.since,
            "until": self.until,
            "updated_since": self.updated_since,
            "one_of_each": "true" if self.one_of_each else "",
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class Got:
    """What came of it."""

    files: list[Path]
    size_bytes: int
    new_bytes: int


def get(
    server: Server,
    wanted: Wanted,
    folder: Path,
    at_once: int,
    making: Callable[[int, int], None],
    coming: Callable[[int], Told],
    sleep: Callable[[float], None],
) -> Got:
    """Get a selection into a folder.

    making: is told captures done and in all; coming: of the file's size, and gives who is told of
    its bytes.
    """
    state = _State(folder, wanted)
    job = _job(server, wanted, state)
    while job["state"] in ("queued", "running"):
        making(int(job["done"]), int(job["total"]))
        sleep(POLL_S)
        job = server.get(f"/wasapi/v1/jobs/{job['jobtoken']}")
    if job["state"] != "complete":
        state.forget()
        raise RefusedError(f"the selection {job['state']}: {job['problem'] or 'submit it again'}")
    (listed,) = server.get(f"/wasapi/v1/jobs/{job['jobtoken']}/result")["files"]
    file = RemoteFile(
        str(listed["filename"]),
        str(listed["locations"][0]),
        int(listed["size"]),
        str(listed["checksums"]["sha256"]),
    )
    fetched = fetch(server, file, state.result, at_once, coming(file.size_bytes))
    if wanted.form == "zip":
        files = unpack(fetched.path, folder)
        fetched.path.unlink()
    else:
        files = [folder / f"pages-{file.sha256[:16]}.warc.gz"]
        fetched.path.replace(files[0])
    state.forget()
    return Got(files, file.size_bytes, fetched.new_bytes)


def _job(server: Server, wanted: Wanted, state: _State) -> dict[str, Any]:
    """Return the job of a command that ended before, or a new one."""
    token = state.job()
    if token:
        try:
            job: dict[str, Any] = server.get(f"/wasapi/v1/jobs/{token}")
        except RefusedError as error:
            if error.status != 404:
                raise
        else:
            if job["state"] in ("queued", "running", "complete"):
                return job
    body = {"function": FUNCTIONS[wanted.form], "query": urlencode(wanted.params)}
    made: dict[str, Any] = server.post("/wasapi/v1/jobs", body)
    state.keep(str(made["jobtoken"]))
    return made


class _State:
    """What a command must know to go on."""

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        said = json.dumps([wanted.form, wanted.params], sort_keys=True)
        name = hashlib.sha256(said.encode()).hexdigest()[:16]
        place = folder / STATE
        place.mkdir(parents=True, exist_ok=True)
        self._file = place / f"{name}.json"
        self.result = place / f"{name}.result"

    def job(self) -> str:
        try:
            return str(json.loads(self._file.read_text())["job"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def keep(self, token: str) -> None:
        self._file.write_text(json.dumps({"job": token}))

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)
