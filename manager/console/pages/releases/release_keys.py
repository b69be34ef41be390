"""Expiry of signed metadata: a table of the page of releases."""

from __future__ import annotations

from typing import Final

from manager.console.language import lazy
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import ID, MOMENT, NUMBER, STATE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.releases.release_views import WARN_MS, MetadataAge, list_releases
from shared.frozen import frozen

__all__ = ["KEYS", "PAGES", "KeyLine", "key_line"]

DAY_MS: Final = 86_400_000


@frozen
class KeyLine:
    """The newest signed file of a role. state: good, soon or ended."""

    age: MetadataAge
    days: int
    state: str


def key_line(age: MetadataAge, now_ms: int) -> KeyLine:
    """Return how the newest signed file of a role is now."""
    left_ms = age.expires_ms - now_ms
    state = "ended" if left_ms <= 0 else "soon" if left_ms < WARN_MS[age.role] else "good"
    return KeyLine(age, left_ms // DAY_MS, state)


def _lines(visit: Visit) -> list[KeyLine]:
    return [key_line(age, visit.now_ms) for age in list_releases(visit.db).metadata]


KEYS: Final[Table[KeyLine]] = Table(
    "release-keys",
    "/releases/keys",
    "Expiry of the signed files of releases",
    InMemory(_lines),
    (
        Column("key", lambda line: line.age.role, lazy("Key"), about="role of the key"),
        Column("version", lambda line: line.age.version, kind=ID, about="of the file"),
        Column("state", lambda line: line.state, lazy("State"), STATE),
        Column("days_left", lambda line: line.days, lazy("Days left"), NUMBER),
        Column("until", lambda line: line.age.expires_ms, lazy("Until"), MOMENT),
        Column("renewed_by", None, lazy("Renewed by"), style="quiet"),
    ),
)
PAGES: Final = KEYS.files()
