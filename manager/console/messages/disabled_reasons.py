"""Reasons for disabled buttons, each with the next step, in the words of the page."""

from __future__ import annotations

from typing import Final

from manager.console.language import Words, lazy
from manager.operations.hosts.preconditions import ObstacleCode
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


_WHY: Final[dict[str, Unable]] = {
    "": Unable(""),
    "round-open": Unable(
        lazy("A round is being probed: wait until it crawls, or cancel it."),
        "/console/rounds",
        lazy("Rounds"),
    ),
    "no-agent": Unable(
        lazy("No agent has contacted the manager yet."), "/console/new-agent", lazy("Add an agent")
    ),
    "no-host": Unable(
        lazy("No host has an address yet: add hosts, or wait for the name lookup."),
        "/console/add-hosts",
        lazy("Add hosts"),
    ),
}


def unable_of(code: ObstacleCode) -> Unable:
    """Return the words of a precondition that does not hold; false where it does."""
    return _WHY[code]
