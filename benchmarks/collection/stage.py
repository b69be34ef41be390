"""The stage: a manager's directory with agents that hold a host each, and their homes.

Made by the operations themselves before anything runs; what then runs are the shipped commands.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from manager.app.composition import layout_of
from manager.db.engine import Database
from manager.db.hosts.hosts import units_of_hosts
from manager.db.migrate import migrate
from manager.db.tables import holdings
from manager.operations.actor import Actor
from manager.operations.hosts.hosts import import_hosts
from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.settings import read_settings
from shared.archive.capture import Capture
from shared.archive.encode import SegmentInfo, encode_capture
from shared.archive.writer import SegmentWriter
from shared.wire.names import hash_of_key, new_key

__all__ = ["Home", "make_manager", "point_at", "seal_segments"]

LOCAL: Final = Actor("local", "benchmark")
INFO: Final = SegmentInfo(software="prsm", operator="benchmark", contact="mailto:b@example.org")
BODY_BYTES: Final = 1024**2
DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Home:
    """An agent's home: who it is, and what it holds."""

    path: Path
    name: str
    key: str
    host: str


def make_manager(data: Path, homes: Path, count: int) -> list[Home]:
    """Make a manager's database in which so many agents hold a host each."""
    settings = read_settings(data)
    layout = layout_of(settings)
    layout.create()
    now_ms = time.time_ns() // 1_000_000
    made = [
        Home(homes / f"a{number}", f"a{number}.example", new_key(), f"www{number}.example.jp")
        for number in range(count)
    ]
    db = Database(f"sqlite:///{layout.database}")
    try:
        migrate(db)
        import_hosts(db, enumerate((home.host for home in made), 1), LOCAL, now_ms)
        for home in made:
            token = issue_join_token(db, home.name, LOCAL, now_ms)
            agent = enrol(db, home.name, token.token, hash_of_key(home.key), now_ms, "sync").agent
            with db.write() as tx:
                units = units_of_hosts(tx, [f"http://{home.host}:80/"])
                held = [
                    {
                        "unit_id": unit.id,
                        "agent_id": agent.id,
                        "kind": "crawl",
                        "since_ms": now_ms - 30 * DAY_MS,
                        "until_ms": now_ms + 30 * DAY_MS,
                    }
                    for unit in units
                ]
                assert held, "the host was imported a moment ago"
                tx.insert(holdings, held)
    finally:
        db.close()
    return made


def point_at(home: Home, manager_url: str) -> None:
    """Write a home's key and settings: it is enrolled at a manager."""
    home.path.mkdir(parents=True, exist_ok=True)
    identity = {"manager": manager_url, "name": home.name, "key": home.key, "token_hash": ""}
    (home.path / "key.json").write_text(json.dumps(identity))
    (home.path / "key.json").chmod(0o600)
    (home.path / "prs.toml").write_text('[robot]\ncontact = "b@example.org"\n')


def seal_segments(home: Home, count: int, size_bytes: int) -> Iterator[str]:
    """Seal so many segments of about a size, of captures that compression does not shrink.

    Yields their SHA-256.
    """
    folder = home.path / "crawl" / "segments"
    folder.mkdir(parents=True)
    for number in range(count):
        writer = SegmentWriter(folder, prefix="PRS", agent=home.name, info=INFO)
        now_ms, left, page = time.time_ns() // 1_000_000, size_bytes, 0
        while left > 0:
            body = os.urandom(min(BODY_BYTES, left))
            head = (
                "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            capture = Capture(
                url=f"http://{home.host}/{number}/{page}",
                fetched_at_ms=now_ms,
                request=f"GET /{number}/{page} HTTP/1.1\r\nHost: {home.host}\r\n\r\n".encode(),
                response_header=head.encode(),
                body=body,
                ip="192.0.2.1",
            )
            writer.append(encode_capture(capture))
            left, page = left - len(body), page + 1
        sealed = writer.seal()
        assert sealed is not None, "it has captures"
        with sealed.path.open("rb") as file:
            yield hashlib.file_digest(file, "sha256").hexdigest()
