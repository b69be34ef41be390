"""Split a big host among agents, after a look at how it would be cut; and merge it again."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.access import Page
from manager.console.visit import Question, Visit, link
from manager.operations.host_views import host_detail
from manager.operations.merging import merge_host
from manager.operations.splitting import Piece, Split, split_host
from shared.errors import FormatError

__all__ = ["PAGES"]

UNITS_SHOWN: Final = 5


def split(visit: Visit) -> Response:
    """Cut a host into pieces; ask once, with the pieces shown."""
    key, confirmed = visit.form.get("host", ""), visit.is_confirmed
    made = split_host(
        visit.db,
        key,
        visit.actor,
        visit.now_ms,
        parts=_whole(visit, "pieces"),
        interval_s=_number(visit, "interval_s"),
        dry_run=not confirmed,
        policy=visit.policy,
    )
    if confirmed:
        done = f"{made.host} is split among {len(made.pieces)} agents."
        return visit.go(link("host", host=made.host), done=done)
    fields = {name: visit.form.get(name, "") for name in ("pieces", "interval_s")}
    return visit.ask(
        Question(
            f"Split {made.host} among {len(made.pieces)} agents?",
            (*map(_told, made.pieces), *_consequences(made)),
            "Split",
            "/console/host/split",
            link("host", host=made.host),
            {"host": made.host, **fields},
            danger=False,
        )
    )


def merge(visit: Visit) -> Response:
    """Make a split host one unit again; ask once."""
    key = visit.form.get("host", "")
    if not visit.is_confirmed:
        known = host_detail(visit.db, key).host
        return visit.ask(
            Question(
                f"Merge the pieces of {known.key}?",
                (
                    "The agent that has its top gets all of it, from the next round on.",
                    "Who had which directory stays in the history. It can be split again.",
                ),
                "Merge",
                "/console/host/merge",
                link("host", host=known.key),
                {"host": known.key},
                danger=False,
            )
        )
    merge_host(visit.db, key, visit.actor, visit.now_ms)
    return visit.go(link("host", host=key), done=f"{key} is one unit again.")


def _told(piece: Piece) -> str:
    more = len(piece.units) - UNITS_SHOWN
    units = ", ".join(piece.units[:UNITS_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{piece.agent}: {piece.share:.0%} of the work, {piece.pages:,} pages, in {units}"


def _consequences(made: Split) -> tuple[str, ...]:
    each_s = made.interval_s * len(made.pieces)
    rate = (
        f"Each of them waits {each_s:g} s between two requests, so that the host sees what one "
        f"agent with {made.interval_s:g} s would send."
    )
    return (rate, "It is finished in a round when nothing is left of any piece.")


def _number(visit: Visit, name: str) -> float | None:
    text = visit.form.get(name, "").strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise FormatError(f"{name} = {text[:40]!r}: must be a number, or nothing") from error


def _whole(visit: Visit, name: str) -> int | None:
    number = _number(visit, name)
    if number is None:
        return None
    if not number.is_integer():
        raise FormatError(f"{name} = {number:g}: must be a whole number, or nothing")
    return int(number)


PAGES: Final = (
    Page("POST", "/host/split", "operator", split),
    Page("POST", "/host/merge", "operator", merge),
)
