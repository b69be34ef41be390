"""Comparison of refetched pages: which captures agree, and which agent is contradicted.

It compares what honest agents see alike from anywhere: an answer or none, its status, its size. A
page that has changed since is no lie: the second agent sees it changed, and so does the third, but
an agent whose claims on many pages stand alone invents them. So a third agent decides a difference:
of three, no agent is contradicted by one alone, and none if the two others differ as well.
Momentary statuses are not compared: 304, 429, and 500 and above.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.frozen import frozen
from shared.messages import Message
from shared.wire.orders import OrderKind

__all__ = [
    "JUDGED_FROM",
    "SUSPECT_SHARE",
    "DrawnPage",
    "Refetched",
    "Seen",
    "Tally",
    "Verdict",
    "is_comparable",
    "judge",
    "needs_another",
    "pages_to_draw",
    "same",
]

SIZE_SHARE: Final = 0.1
SIZE_BYTES: Final = 1_000
"""Header fields, dates and advertisements differ by so much from one visit to the next."""

SUSPECT_SHARE: Final = 0.2
"""Pages that change between visits, or answer by country, are a few; who invents, invents most."""

JUDGED_FROM: Final = 10
"""Pages below which a share says nothing."""

Verdict = bool | None
"""True: others agree. False: contradicted. None: undecided."""


@frozen
class Seen:
    """An agent's log of a page. status None: no answer. response_bytes: with the header."""

    status: int | None
    response_bytes: int


@frozen
class DrawnPage:
    """A page of an agent's log that others may fetch again, if its rank is among the lowest."""

    round: int
    unit: str  # unit key
    url: str
    rank: int
    status: int | None  # None: no answer
    response_bytes: int
    kind: OrderKind = "crawl"  # of its line; one of a probe counts where its crawl continued it


@frozen
class Refetched:
    """An agent's log of a page that it fetched again. status None: no answer."""

    url: str
    status: int | None
    response_bytes: int


@frozen
class Tally:
    """Outcome of an agent's refetched pages: agreed or contradicted."""

    compared: int
    contradicted: int

    @property
    def is_suspect(self) -> bool:
        """Return whether an administrator should look."""
        return self.compared >= JUDGED_FROM and self.contradicted > SUSPECT_SHARE * self.compared

    @property
    def reason(self) -> Message:
        """Return how many pages were contradicted."""
        return Message(
            "assignment.refetched_otherwise",
            compared=self.compared,
            contradicted=self.contradicted,
        )


def is_comparable(status: int | None) -> bool:
    """Return whether an answer says something that holds at another moment, too."""
    return status is None or not (status in (304, 429) or status >= 500)


def same(one: Seen, other: Seen) -> bool:
    """Return whether two agents saw the same, as far as two visits can."""
    if one.status != other.status:
        return False
    if one.status is None:
        return True
    apart = abs(one.response_bytes - other.response_bytes)
    return apart <= SIZE_BYTES + SIZE_SHARE * max(one.response_bytes, other.response_bytes)


def judge(seen: Mapping[int, Seen]) -> dict[int, Verdict]:
    """Return the verdict on each agent's visit to one page, by the visits of the others."""
    return {agent: _judged(agent, seen) for agent in seen}


def _judged(agent: int, seen: Mapping[int, Seen]) -> Verdict:
    others = [one for other, one in seen.items() if other != agent]
    if any(same(seen[agent], one) for one in others):
        return True
    together = len(others) > 1 and all(same(others[0], one) for one in others[1:])
    return False if together else None


def needs_another(seen: Mapping[int, Seen]) -> bool:
    """Return whether a further agent should fetch the page: none did, or two of two differ."""
    if len(seen) < 2:
        return True
    return len(seen) == 2 and not any(judge(seen).values())


def pages_to_draw(requests: int, share: float, least: int, most: int) -> int:
    """Return how many pages of an agent are fetched again, of so many requests in a round."""
    return 0 if share <= 0 else min(most, max(least, round(share * requests)))
