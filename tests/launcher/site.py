"""A site and its manager: real files, real signatures, real HTTP; the releases are tiny.

A release here is an archive as docs/adr/0116 lays it out, whose `install.py` makes two programs of
a few lines: an interpreter that says `launcher works`, and a `prs` that syncs as the test wishes.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from launcher.installation import Installation, Journal
from launcher.state import State, read_state
from launcher.update import update
from tests.ceremony import Ceremony, version_of

__all__ = ["Centre", "Site", "archive", "archive_of", "serving"]

KEY = "the agent's key"
DAY_MS = 86_400_000

INSTALL = """\
import pathlib, shutil, sys
here, home = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
assert sys.argv[2:] == ["--stage"]
if (here / "broken").exists():
    sys.exit("install: this archive is broken")
version = (here / "VERSION").read_text()
release = home / "versions" / version
shutil.rmtree(release, ignore_errors=True)
(release / "venv" / "bin").mkdir(parents=True)
for name in ("python", "prs"):
    shutil.copy(here / name, release / "venv" / "bin" / name)
    (release / "venv" / "bin" / name).chmod(0o755)
(release / "complete").write_text(version)
"""
PYTHON = "#!/bin/sh\necho launcher works\n"
PRS = f"""\
#!{sys.executable} -IS
import fcntl, json, os, pathlib, signal, sys
home = pathlib.Path(sys.argv[sys.argv.index("--home") + 1])
lock = (home / "lock").open("a+")
if "run" in sys.argv:
    fcntl.flock(lock, fcntl.LOCK_EX)
    (home / "lock").write_text(json.dumps({{"pid": os.getpid(), "started": 0}}))
    (home / "ran").write_text("VERSION")
    signal.pause()
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit("an agent works here")
if (home / "offline").exists():
    sys.exit("no route to the manager")
with (home / "called").open("a") as file:
    file.write("VERSION\\n")
sys.exit(WISH)
"""


def archive(version: str, wish: str = "0", *, said: str = "", broken: bool = False) -> bytes:
    """Return a release. wish: what `prs sync` ends with; said: another version in it."""
    prs = PRS.replace("VERSION", version).replace("WISH", wish)
    files = {"VERSION": said or version, "python": PYTHON, "prs": prs}
    if broken:
        files["broken"] = ""
    return archive_of(version, files)


def archive_of(version: str, programs: dict[str, str]) -> bytes:
    """Return a release with these programs."""
    files = {"VERSION": version, "install.py": INSTALL, **programs}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        for name, text in files.items():
            member = tarfile.TarInfo(f"prs-{version}/{name}")
            member.size = len(text.encode())
            opened.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


@dataclass
class Centre:
    """What the manager serves; tests change it as an attacker would."""

    folder: Path
    now_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    files: dict[str, bytes] = field(default_factory=dict)
    offered: dict[str, str] = field(default_factory=dict)
    reports: list[dict[str, str | int]] = field(default_factory=list)
    deaf: bool = False  # takes no report
    refuses: str = "none"  # will not take reports of this version, ever
    front: int = 0  # the status by which something in front of it refuses all; 0: nothing does
    why: str = "a test"  # it offers what it offers
    url: str = ""
    downloads: int = 0
    drips: str = "-"  # what begins so is answered byte by byte, and never to its end
    dripping: int = 0  # answers so far that were given so

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.keys = Ceremony(self.folder, lambda: self.now_ms)
        self.roots = [self.keys.root.to_bytes()]
        self.signer = self.keys.signer()
        self.serve(self.keys.targets.to_bytes())

    def serve(self, targets: bytes) -> None:
        """Have targets covered, and serve all of it."""
        signed = self.signer.sign(self.roots, targets)
        for role, data in (
            ("targets", targets),
            ("snapshot", signed.snapshot),
            ("timestamp", signed.timestamp),
        ):
            self.files[f"metadata/{version_of(data)}.{role}.json"] = data
        self.files["metadata/timestamp.json"] = signed.timestamp
        for data in self.roots:
            self.files[f"metadata/{version_of(data)}.root.json"] = data

    def publish(self, version: str, body: bytes = b"") -> None:
        """Sign a release, serve and offer it."""
        body = body or archive(version)
        name = f"prs-{version}.tar.gz"
        self.files[f"targets/{hashlib.sha256(body).hexdigest()}.{name}"] = body
        self.serve(self.keys.with_release(version, body, name))
        self.offer(version)

    def offer(self, version: str) -> None:
        """Offer a version, signed or not; empty: none."""
        self.offered = {"version": version, "target": f"prs-{version}.tar.gz" if version else ""}

    def answer(self, path: str) -> bytes | None:
        """Return what a GET gets; None: 404."""
        if path.startswith("offer"):
            return json.dumps({**self.offered, "minimum": "", "why": self.why}).encode()
        self.downloads += path.startswith("targets/")
        return self.files.get(path)


@contextmanager
def serving(centre: Centre) -> Iterator[Centre]:
    """Serve a centre on loopback while the block runs."""
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.removeprefix("/api/v1/update/")
            known = self.headers.get("Authorization") == f"Bearer {KEY}"
            body = centre.answer(path) if known else b'{"detail": "unknown key"}'
            code = 200 if known and body is not None else 404 if known else 401
            self.send_response(centre.front or code)
            if not centre.front:
                self.send_header("X-Request-Id", "0123456789abcdef")
            # A 404 is over with its headers: its reader would not wait for the body.
            long = code == 200 and path.startswith(centre.drips)
            self.send_header("Content-Length", str(99_999 if long else len(body or b"")))
            self.end_headers()
            if long:
                self.drip()
            else:
                self.wfile.write(body or b"")

        def drip(self) -> None:
            centre.dripping += 1
            with suppress(OSError):  # until nobody takes it any more
                while not stopped.wait(0.01):
                    self.wfile.write(b" ")

        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            code = 503 if centre.deaf else 422 if said["version"] == centre.refuses else 204
            if code == 204 and not centre.front:
                centre.reports.append(said)
            self.send_response(centre.front or code)
            if not centre.front:
                self.send_header("X-Request-Id", "0123456789abcdef")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    centre.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield centre
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


class Site:
    """An installation that was made from release 1.0, or from none."""

    def __init__(self, folder: Path, centre: Centre, installed: str = "1.0") -> None:
        self.installation = Installation(folder, folder / "data")
        self.installation.data.mkdir(parents=True)
        self.installation.own.mkdir()
        self.installation.versions.mkdir()
        self.installation.root.write_bytes(centre.roots[0])
        self.trust_key(centre.url)
        if installed:
            bin_folder = self.installation.release(installed) / "venv" / "bin"
            bin_folder.mkdir(parents=True)
            prs = PRS.replace("VERSION", installed).replace("WISH", "0")
            for name, text in (("python", PYTHON), ("prs", prs)):
                (bin_folder / name).write_text(text)
                (bin_folder / name).chmod(0o755)
            (self.installation.release(installed) / "complete").write_text(installed)
            self.installation.point_at(installed)

    def trust_key(self, url: str, key: str = KEY) -> None:
        """Enrol at a manager."""
        said = {"manager": url, "name": "a.example", "key": key, "token_hash": ""}
        (self.installation.data / "key.json").write_text(json.dumps(said))

    def update(self, *, again: bool = False, patience_s: float = 20) -> int:
        """Run the launcher once."""
        journal = Journal(self.installation, quiet=True)
        return update(self.installation, journal, again=again, patience_s=patience_s)

    @property
    def running(self) -> str:
        """Return the version that `current` leads to."""
        return self.installation.running()

    @property
    def state(self) -> State:
        """Return what the launcher remembers."""
        return read_state(self.installation.own / "state.json")

    @property
    def log(self) -> str:
        """Return what the launcher wrote."""
        return (self.installation.own / "update.log").read_text()
