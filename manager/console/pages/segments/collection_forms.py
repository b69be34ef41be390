"""Form fields that choose segments, for collection orders and schedules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from manager.console.language import lazy, ngettext
from manager.console.listing import is_whole
from manager.console.requests.visit import Visit
from manager.operations.fleet.agents import named_agents
from manager.operations.segments.collection_orders import CONDITIONS, NewCollection
from shared.errors import FormatError

__all__ = ["CONDITION_WORDS", "HERE", "asked_of", "asked_words", "day_of", "names_that_hear"]

MS_DIGITS: Final = 14
HERE: Final = "/console/collection"
CONDITION_WORDS: Final = {
    "difference": lazy("captures that the manager has not accepted"),
    "full": lazy("all captures that the agent keeps"),
    "since": lazy("captures since a day"),
    "period": lazy("captures of a period"),
}
assert set(CONDITION_WORDS) == set(CONDITIONS)


def names_that_hear(visit: Visit) -> list[str]:
    """Return the names of the agents that can be asked to send, in order."""
    return [one.name for one in named_agents(visit.db) if not (one.is_plain or one.is_retired)]


def asked_of(visit: Visit) -> NewCollection:
    """Return what a form asks for. Raises FormatError: a day that is none."""
    return NewCollection(
        visit.form.get("condition", "difference"),
        "pull" if visit.form.get("pull") == "yes" else "push",
        _day(visit, "first"),
        _day(visit, "end"),
    )


def asked_words(agents: int) -> str:
    """Flash how many agents are asked to send."""
    return ngettext(
        "%(num)s agent is asked to send; it receives the order with its next sync.",
        "%(num)s agents are asked to send; they receive the order with their next syncs.",
        agents,
    )


def _day(visit: Visit, name: str) -> int | None:
    """Return the epoch milliseconds of a day's first moment, UTC; none for nothing.

    The moment that stood there may be a later one of that day: it stays with its day.
    """
    text, was = visit.form.get(name, ""), visit.form.get(f"{name}_ms", "")
    if not text:
        return None
    if is_whole(was, MS_DIGITS) and day_of(int(was)) == text:
        return int(was)
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise FormatError("console.day", value=text[:20]).about(name) from error
    return round(day.timestamp() * 1000)


def day_of(at_ms: int | None) -> str:
    """Return the day of a moment, UTC, as a form has it; none: an empty text."""
    return "" if at_ms is None else f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"
