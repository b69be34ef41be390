"""Partners with plain agents, as they would join by hand: a token, a key, a question an hour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import httpx

from shared.wire.names import hash_of_key, new_key
from tools.demo.system import Manager, command

__all__ = ["add_partners", "place"]

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
        place(manager, name, north, east)
    manager.prsm("agents", "pause", "robot.region2.example")
    token = manager.prsm("agents", "token", COMING)["token"]
    return {"coming": COMING, "joining": hash_of_key(token)}


def place(manager: Manager, name: str, north: str, east: str) -> None:
    """Set the place of an agent."""
    words = ("prsm", "agents", "place", "--", name, north, east)
    command(*words, PRSM_DATA=str(manager.data))
