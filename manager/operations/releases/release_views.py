"""Releases as people and sites look at them: what there is, how long signatures last, the files."""

from __future__ import annotations

import re
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.releases import releases
from manager.db.releases.releases import AgentReleaseRow, ReleaseRow
from manager.errors import NotFoundError
from manager.releases.metadata import ROLES
from shared.frozen import frozen

__all__ = [
    "AgentRelease",
    "MetadataAge",
    "Releases",
    "list_releases",
    "metadata_file",
    "release_of_file",
    "running_out",
]

DAY_MS: Final = 86_400_000
WARN_MS: Final = {
    "root": 30 * DAY_MS,
    "targets": 30 * DAY_MS,
    "snapshot": 5 * DAY_MS,
    "timestamp": 3 * DAY_MS,
}
"""People need weeks to gather around keys; the signer signs again each day, and half-monthly."""

_NAME: Final = re.compile(r"(?:([1-9][0-9]{0,9})\.)?(root|targets|snapshot|timestamp)\.json")


@frozen
class MetadataAge:
    """The newest signed file of a role, and when it is over."""

    role: str
    version: int
    expires_ms: int


@frozen
class AgentRelease:
    """An agent that is a canary, has a pin, or has reported an update."""

    agent: str
    running: str
    told: AgentReleaseRow


@frozen
class Releases:
    """Everything about releases. in_use: agents by the version they said they run."""

    releases: list[ReleaseRow]
    metadata: list[MetadataAge]
    in_use: dict[str, int]
    agents: list[AgentRelease]
    minimum: str


def list_releases(db: Database) -> Releases:
    """Return all releases, the newest first, and what belongs to them."""
    with db.read() as tx:
        rows = releases.all_releases(tx)
        ages = _ages(tx)
        in_use = releases.versions_in_use(tx)
        told = releases.agent_releases_of_all(tx)
        known = agents.by_ids(tx, told).values()
        minimum = releases.minimum(tx)
    return Releases(
        rows[::-1],
        ages,
        in_use,
        [
            AgentRelease(row.name, row.version, told[row.id])
            for row in sorted(known, key=lambda row: row.name)
            if row.retired_ms is None
        ],
        minimum,
    )


def _ages(tx: Transaction) -> list[MetadataAge]:
    newest = [row for role in ROLES if (row := releases.newest(tx, role)) is not None]
    return [MetadataAge(row.role, row.version, row.expires_ms) for row in newest]


def running_out(db: Database, now_ms: int) -> list[MetadataAge]:
    """Return the signed files that are over soon, or already; sites stop updating then."""
    with db.read() as tx:
        ages = _ages(tx)
    return [one for one in ages if one.expires_ms - now_ms < WARN_MS[one.role]]


def metadata_file(db: Database, name: str) -> bytes:
    """Return a signed file as TUF names it: `3.snapshot.json`; without a number the newest.

    Raises NotFoundError.
    """
    named = _NAME.fullmatch(name)
    row = None
    if named is not None:
        with db.read() as tx:
            number, role = named.groups()
            row = (
                releases.newest(tx, role)
                if number is None
                else releases.metadata_of(tx, role, int(number))
            )
    if row is None:
        raise NotFoundError("releases.metadata_unknown", name=name[:80])
    return row.body.encode()


def release_of_file(db: Database, name: str) -> ReleaseRow:
    """Return the release of a file as TUF names it: `SHA256.NAME`. Raises NotFoundError."""
    sha256, _, target = name.partition(".")
    with db.read() as tx:
        row = releases.by_sha256(tx, sha256)
    if row is None or row.target != target:
        raise NotFoundError("releases.file_unknown", file=name[:120])
    return row
