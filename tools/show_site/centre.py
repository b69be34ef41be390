"""The coordinating institute: people with keys, the signing process, a manager, a web to crawl."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from simweb.launcher import SimulatedWeb
from tools.demo.system import CommandError, Manager, wait_for
from tools.show_site.keys import Signing
from tools.show_site.partner import LONG_S, StoryError

__all__ = ["AGENT", "Centre"]

AGENT = "robot.example.jp"

SETTINGS = """\
[policy]
tick_s = 0.3
sync_interval_s = 1.0
pending_sync_interval_s = 0.2
[dns]
servers = ["127.0.0.1:{dns_port}"]
allowed_networks = ["127.0.0.0/8"]
[releases]
signer = "{socket}"
"""


class Centre:
    """The centre, in one folder; the stack ends all processes."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        folder.mkdir()
        self._signing = Signing(stack, folder)
        self.people = self._signing.people
        self.web = stack.enter_context(
            SimulatedWeb(folder / "web", hosts=4, regions=1, pages_mean=6.0, trouble_scale=0.0)
        )
        settings = SETTINGS.format(dns_port=self.web.dns_port, socket=self._signing.socket)
        self.manager = Manager(folder / "manager", settings)
        stack.callback(self.manager.stop)

    def open(self) -> None:
        """Start signing process and manager, and begin with releases and hosts."""
        self._signing.start()
        self.manager.start()
        self.prsm("release", "init", str(self.people.root), str(self.people.targets))
        self.prsm("hosts", "import", str(self.folder / "web" / "seeds.txt"))

    def prsm(self, *words: str, show: bool = False, most: int = 12) -> str:
        """Run a `prsm` command; show: as the administrator sees it."""
        said = self.manager.run(*words)
        if show:
            print(f"centre$ prsm {' '.join(words)}")
            for line in said.rstrip().splitlines()[-most:]:
                print(f"    {line}")
        return said

    def refused(self, *words: str) -> str:
        """Run a `prsm` command that must be refused; show and return what it said."""
        print(f"centre$ prsm {' '.join(words)}")
        try:
            self.prsm(*words)
        except CommandError as error:
            said = str(error).partition("Error: ")[2].strip()
            print(f"    Error: {said}")
            return said
        raise StoryError(f"prsm {' '.join(words)} was not refused")

    def publish(self, bundle: Path, version: str) -> None:
        """Sign a release as people do, serve it, and offer it to all."""
        self.people.sign(bundle, version)
        self.prsm("release", "publish", str(bundle), str(self.people.targets))
        self.prsm("release", "rollout", version, "--ring", "all")
        print(f"centre$ prsm release publish {bundle.name}; rollout {version} --ring all")

    def forge(self, bundle: Path, version: str) -> str:
        """Sign a release as a stranger, and try to publish it; return what the centre says."""
        self.people.do("key", "stranger.pem")
        forged = self.people.sign(bundle, version, key="stranger.pem", output="forged.json")
        return self.refused("release", "publish", str(bundle), str(forged))

    def tamper(self, version: str) -> None:
        """Change one byte of a release's file, as whoever owns the manager can."""
        sha256 = self.row("SELECT sha256 FROM releases WHERE version = ?", version)[0]
        (path,) = self.manager.data.rglob(str(sha256))
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        print(f"thief$ one byte of {version} on the manager's disk is another now")

    def invent(self, version: str) -> None:
        """Offer an unsigned release, as whoever owns the manager can: a row in its database."""
        self.change(
            "INSERT INTO releases (version, target, sha256, size_bytes, published_by, published_ms,"
            " ring) VALUES (?, 'x.tar.gz', ?, 1, 'thief', 1, 'all')",
            version,
            "0" * 64,
        )
        print(f"thief$ the manager's database offers {version}, which is not signed")

    def forget(self, version: str) -> None:
        """Undo `invent`."""
        self.change("DELETE FROM releases WHERE version = ?", version)

    def agent(self) -> dict[str, Any]:
        """Return what the manager knows of the site."""
        found: dict[str, Any] = self.manager.prsm("agents", "show", AGENT)
        return found

    def wait_for_sync(self, version: str) -> None:
        """Wait until the agent of a version has completed a sync. Raises TimeoutError."""
        wait_for(
            f"a sync of {version}",
            lambda: self.agent()["agent"]["version"] == version,
            seconds=LONG_S,
            every_s=1.0,
        )

    def row(self, query: str, *values: object) -> tuple[Any, ...]:
        """Return a row of the manager's database."""
        with closing(sqlite3.connect(self.manager.data / "prsm.sqlite")) as database:
            found: tuple[Any, ...] = database.execute(query, values).fetchone()
            return found

    def change(self, statement: str, *values: object) -> None:
        """Change the manager's database behind its back."""
        with closing(sqlite3.connect(self.manager.data / "prsm.sqlite", timeout=30)) as database:
            database.execute(statement, values)
            database.commit()
