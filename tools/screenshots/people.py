"""Participants beside the crawling agents: partners with plain agents, colleagues, third parties.

Partners join as they would by hand: a token, a key, a question an hour.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx

from shared.wire.names import hash_of_key, new_key
from tools.demo.system import Manager, command

__all__ = ["add_partners", "add_people", "add_third_party"]

COMING: Final = "robot.coming.example.ac.jp"
PARTNERS: Final = (
    ("robot.library.example.ac.jp", "38.26", "140.87"),
    ("robot.physics.example.ac.jp", "33.59", "130.40"),
    ("robot.west.example.ac.uk", "51.75", "-1.25"),
    ("robot.north.example.fi", "60.19", "24.94"),
    ("robot.south.example.edu.au", "-37.80", "144.96"),
    ("robot.a-machine-with-quite-a-long-name.informatics.example.ac.jp", "35.71", "139.76"),
)


def add_partners(manager: Manager) -> Mapping[str, str]:
    """Join plain agents; all but the last call once. One is to join, one is paused.

    Returns who is to join, and the hash of its token.
    """
    for at, (name, north, east) in enumerate(PARTNERS):
        key, token = new_key(), manager.prsm("agents", "token", name)["token"]
        body = {"agent": name, "token": token, "key_hash": hash_of_key(key), "kind": "plain"}
        with httpx.Client(base_url=manager.url, timeout=60) as client:
            client.post("/api/v1/enrol", json=body).raise_for_status()
            if at < len(PARTNERS) - 1:
                bearer = {"Authorization": f"Bearer {key}"}
                for call in ("subscribe", "isrestart"):
                    path = f"/servlets/{call}?host={name}"
                    client.get(path, headers=bearer).raise_for_status()
        manager.run("agents", "place", "--", name, north, east)
    manager.prsm("agents", "pause", "robot.region2.example")
    token = manager.prsm("agents", "token", COMING)["token"]
    return {"coming": COMING, "joining": hash_of_key(token)}


def add_people(manager: Manager) -> None:
    """Add colleagues, and let everything that has a list have something in it."""
    for name, role in (("hana", "operator"), ("taro", "viewer")):
        manager.add_user(name, f"{name} of the stage", role)
    first, second, third = (
        one["key"] for one in manager.prsm("hosts", "list", "--limit", "3")["hosts"]
    )
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    # As long as people write: no table may grow as wide as that.
    asked = "its owner asked by mail: the machine is small, and is switched off on holidays"
    reason = ("--reason", asked)
    for words in (
        ("hosts", "exclude", third, *reason),
        ("hosts", "pin", first, "robot.region0.example", "--reason", "it is next door"),
        ("hosts", "ban", second, "robot.region1.example", *reason),
        ("fleet", "block", r"/calendar/\d{4}", "--reason", "never ends"),
        ("fleet", "limit", "--interval-s", "1"),
        ("rounds", "schedule", "add", "0 3 * * 1", "--zone", "Asia/Tokyo"),
        ("collect", "schedule", "set", "30 2 * * *", "--zone", "Asia/Tokyo"),
        ("collect", "limit", "robot.region1.example", "--bytes-per-s", "1000000",
         "--weekday", "22:00-07:00", "--zone", "Asia/Tokyo"),
        ("tokens", "add", "nightly", "--user", "hana"),
        ("probes", "order", "--host", second),
        ("alerts", "window", f"{day}T22:00", f"{day}T23:30", "--reason", "new disks"),
    ):  # fmt: skip
        manager.run(*words)


def add_third_party(manager: Manager, folder: Path) -> None:
    """Register a library and a search engine; the library takes what there is."""
    folder.mkdir()
    for name, contact in (("library", "archive@library.example"), ("search", "ops@search.example")):
        purpose = f"what a {name} does"
        manager.run("clients", "add", name, "--contact", contact, "--purpose", purpose)
    token = manager.prsm("clients", "token", "library", "--daily-bytes", "2000000000")["token"]
    theirs = {"PRS_GET_HOME": str(folder / "login"), "HOME": str(folder)}
    command("prs-get", "login", manager.url, typed=token + "\n", **theirs)
    command("prs-get", "get", "-o", str(folder / "taken"), **theirs)
