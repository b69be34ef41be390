"""Pages and bytes a second over time, for the overview."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.drawing import Drawing, Instant, svg_download
from manager.console.drawings.series import Line, draw_series
from manager.console.language import _
from manager.console.messages.sentences import word
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import FIGURE, MOMENT
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.errors import NotFoundError
from manager.operations.logs.activity import Rate, rates
from shared.frozen import frozen

__all__ = ["PAGES", "RANGES", "RATES", "Activity", "activity_of"]

RANGES: Final = {"24h": (24, 1), "30d": (120, 6)}
"""How many steps of how many hours."""
HOUR_MS: Final = 3_600_000
SIZES: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))


@frozen
class Activity:
    """range: one of RANGES. last: the last whole hour; None: no log speaks of it yet."""

    range: str
    last: Rate | None
    pages: Drawing
    bytes: Drawing


def activity_of(visit: Visit) -> Activity | None:
    """Return the fetched amounts over the period in the URL; None: nothing was ever fetched."""
    chosen = visit.query.get("range", "")
    chosen = chosen if chosen in RANGES else "24h"
    steps, hours = RANGES[chosen]
    found = rates(visit.db, visit.now_ms, steps=steps, hours=hours)
    if all(one.pages_per_s is None for one in found):
        return None
    last = rates(visit.db, visit.now_ms, steps=2, hours=1)[0]
    known = last if last.pages_per_s is not None else None
    return Activity(chosen, known, _pages(found, hours), _bytes(found, hours))


def _greatest(numbers: Sequence[float | None]) -> float:
    return max((number for number in numbers if number is not None), default=0.0)


def _moments(found: Sequence[Rate], hours: int) -> list[Instant]:
    form, pattern = ("time", "%H:%M") if hours == 1 else ("day", "%m-%d")
    return [
        Instant(
            figures.iso(one.from_ms),
            f"{datetime.fromtimestamp(one.from_ms / 1000, UTC):{pattern}}",
            form,
        )
        for one in found
    ]


def _pages(found: Sequence[Rate], hours: int) -> Drawing:
    greatest = figures.rate(_greatest([one.pages_per_s for one in found]), _("pages/s"))
    lines = [
        Line(_("pages/s"), "busy", [one.pages_per_s for one in found], filled=True),
        Line(_("errors/s"), "bad", [one.errors_per_s for one in found], dash="4 3"),
    ]
    return _draw("pages-over-time", _("Pages per second"), found, hours, greatest, lines)


def _bytes(found: Sequence[Rate], hours: int) -> Drawing:
    greatest = _greatest([one.bytes_per_s for one in found])
    size, unit = next((pair for pair in SIZES if greatest >= pair[0]), SIZES[-1])
    numbers = [None if one.bytes_per_s is None else one.bytes_per_s / size for one in found]
    lines = [Line(f"{unit}/{word('s')}", "good", numbers, filled=True)]
    title, most = _("Bytes per second"), figures.speed(greatest)
    return _draw("bytes-over-time", title, found, hours, most, lines)


def _draw(
    name: str, title: str, found: Sequence[Rate], hours: int, most: str, lines: Sequence[Line]
) -> Drawing:
    moments = _moments(found, hours)
    return draw_series(
        name,
        title,
        _(
            "From received logs, one value per %(time)s. Maximum %(most)s. Periods without a log "
            "are left out.",
            time=figures.duration(hours * HOUR_MS),
            most=most,
        ),
        [moment.said for moment in moments],
        lines,
        lambda number: f"{number:g}",
        moments=moments,
        runs_on=_("so far"),
    )


def file(visit: Visit) -> Response:
    """Send one of the drawings."""
    seen = activity_of(visit)
    if seen is None:
        raise NotFoundError("console.nothing_to_draw")
    which = visit.request.path_params["which"]
    drawing = {"pages": seen.pages, "bytes": seen.bytes}.get(which)
    if drawing is None:
        raise NotFoundError("console.unknown_drawing", path=visit.here)
    return svg_download(drawing, f"{which}-{seen.range}")


def _rates(visit: Visit) -> list[Rate]:
    steps, hours = RANGES.get(visit.query.get("range", ""), RANGES["24h"])
    return rates(visit.db, visit.now_ms, steps=steps, hours=hours)


RATES: Final[Table[Rate]] = Table(
    "/activity",
    "Fetched pages and bytes over time",
    InMemory(_rates),
    (
        Column("from", lambda one: one.from_ms, kind=MOMENT),
        Column("pages_per_s", lambda one: one.pages_per_s, kind=FIGURE, file="pages/s"),
        Column("bytes_per_s", lambda one: one.bytes_per_s, kind=FIGURE, file="bytes/s"),
        Column("errors_per_s", lambda one: one.errors_per_s, kind=FIGURE, file="errors/s"),
    ),
    parameters=("range",),
)
PAGES: Final = (
    *RATES.file_pages(),
    Page("GET", "/activity/{which}.svg", "viewer", file, query=("range",)),
)
