"""Two releases at the centre: one for all, one for the canaries; signed by people."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import httpx

from tools.demo.system import Manager
from tools.show_site.keys import People

__all__ = ["add_releases", "fail_to_update"]


def add_releases(manager: Manager, people: People) -> None:
    """Publish 1.0.0 for all and 1.1.0 for the canary. people: who sign them."""
    manager.run("release", "init", str(people.root), str(people.targets))
    for version, ring in (("1.0.0", "all"), ("1.1.0", "canary")):
        bundle = people.folder / f"prs-{version}.tar.gz"
        bundle.write_bytes(_archive(version))
        targets = people.sign(bundle, version)
        manager.run("release", "publish", str(bundle), str(targets))
        manager.run("release", "rollout", version, "--ring", ring)
    manager.run("release", "canary", "robot.region0.example")


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
