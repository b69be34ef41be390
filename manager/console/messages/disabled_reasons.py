"""Reasons for disabled buttons, each with the next step, in the words of the page."""

from __future__ import annotations

from typing import Final

from manager.console.language import Words, lazy
from manager.operations.hosts.preconditions import Unready
from shared.frozen import frozen

__all__ = ["Unable", "unable_of"]


@frozen
class Unable:
    """A reason in words, and the next step: an address and its name; empty: there is none."""

    reason: Words
    url: str = ""
    step: Words = ""

    def __bool__(self) -> bool:
        return bool(str(self.reason))


_NONE: Final = Unable("")
_WHY: Final[dict[str, Unable]] = {
    "": _NONE,
    "round-open": Unable(
        lazy("A round goes on: the next one can begin when it is over or cancelled."),
        "/console/rounds",
        lazy("Rounds"),
    ),
    "no-agent": Unable(
        lazy("No agent has called yet."), "/console/new-agent", lazy("Let an agent join")
    ),
    "no-host": Unable(
        lazy("No host has an address yet: add hosts, or wait until their names were looked up."),
        "/console/add-hosts",
        lazy("Add hosts"),
    ),
}


def unable_of(code: Unready) -> Unable:
    """Return the words of a precondition that does not hold; false where it does."""
    return _WHY[code]
