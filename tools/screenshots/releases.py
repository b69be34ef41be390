"""Two releases at the centre: one for all, one for the canaries; signed by people."""

from __future__ import annotations

import io
import json
import tarfile
from contextlib import ExitStack
from pathlib import Path

import httpx

from tools.demo.system import Manager, Program, command, wait_for
from tools.show_site.keys import People

__all__ = ["Signing", "add_releases", "fail_to_update"]


class Signing:
    """People with keys, and the signing process; the stack ends it."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.people = People(folder / "keys")
        self.socket = folder / "sign.sock"
        self._program = Program(
            [
                *("prsm", "release", "signer", "--keys", str(self.people.signer)),
                *("--socket", str(self.socket), "--root", str(self.people.root)),
            ],
            folder / "signer.log",
        )
        stack.callback(self._program.stop)

    def begin(self) -> None:
        """Make the keys, start the process."""
        self.people.meet()
        self._program.start()
        wait_for("the signing process", self.socket.exists, seconds=60)


def add_releases(manager: Manager, signing: Signing) -> None:
    """Publish 1.0.0 for all and 1.1.0 for the canary."""
    people, data = signing.people, {"PRSM_DATA": str(manager.data)}
    command("prsm", "release", "init", str(people.root), str(people.targets), **data)
    for version, ring in (("1.0.0", "all"), ("1.1.0", "canary")):
        bundle = people.folder / f"prs-{version}.tar.gz"
        bundle.write_bytes(_archive(version))
        targets = people.sign(bundle, version)
        command("prsm", "release", "publish", str(bundle), str(targets), **data)
        command("prsm", "release", "rollout", version, "--ring", ring, **data)
    command("prsm", "release", "canary", "robot.region0.example", **data)


def fail_to_update(manager: Manager, home: Path) -> None:
    """Report for a site, with its own key as its launcher does, that it went back from 1.0.0."""
    key = json.loads((home / "key.json").read_text())["key"]
    said = {
        "version": "1.0.0",
        "outcome": "went-back",
        "step": "sync",
        "detail": "no page came within 60 s",
    }
    bearer = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=manager.url, timeout=60, headers=bearer) as client:
        client.post("/api/v1/update/report", json=said).raise_for_status()


def _archive(version: str) -> bytes:
    """Return an archive of the right shape; it is never installed here."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as opened:
        member = tarfile.TarInfo(f"prs-{version}/VERSION")
        member.size = len(version)
        opened.addfile(member, io.BytesIO(version.encode()))
    return made.getvalue()
