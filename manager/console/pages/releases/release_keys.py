"""Expiry of signed metadata, for the page of releases and as CSV."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.releases.release_views import WARN_MS, MetadataAge, list_releases
from shared.frozen import frozen

__all__ = ["PAGES", "KeyLine", "key_line"]

DAY_MS: Final = 86_400_000
HEADER: Final = ("key", "version", "state", "days left", "until (UTC)")


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


def export(visit: Visit) -> Response:
    """Send until when each role's newest file holds as CSV."""
    lines = (key_line(age, visit.now_ms) for age in list_releases(visit.db).metadata)
    return csv_response("release-keys", HEADER, map(_cells, lines))


def _cells(line: KeyLine) -> list[Cell]:
    age = line.age
    return [age.role, age.version, line.state, line.days, figures.iso(age.expires_ms)]


PAGES: Final = (Page("GET", "/releases/keys.csv", "viewer", export),)
