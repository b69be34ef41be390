"""A stream of links as a breadth-first crawl meets them: few new, most of them popular or near.

Each link is new with the source's share (538,137,220 hosts of 4,155,528,923 links), or repeats an
earlier one: one from nearby, as pages link to what their neighbours link to (distances with a
log-uniform law), or any, each with the same chance. Repeating any earlier one makes what is popular
more popular: Simon (1955); the popularity of targets follows a power law with an exponent of
1 + 1 / (1 - new share), 2.15 here; the web's in-links have 2.1 (Broder et al., 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.bloom import mixed

__all__ = ["SOURCE_LINKS", "Stream", "make_stream"]

SOURCE_LINKS: Final = 4_155_528_923
SOURCE_TARGETS: Final = 538_137_220
NEAR_SHARE: Final = 0.8
NEAR_REACH: Final = 4096  # links: some forty pages of a hundred


@dataclass(frozen=True)
class Stream:
    """Links in order: a 64-bit key each, and whether it is the first with this key."""

    keys: NDArray[np.int64]
    is_new: NDArray[np.bool_]

    @property
    def distinct(self) -> int:
        """Return the number of different keys."""
        return int(self.is_new.sum())


def make_stream(links: int, seed: int) -> Stream:
    """Return a stream; the same for the same arguments."""
    random = np.random.default_rng(seed)
    numbers = np.arange(links, dtype=np.int64)
    earlier = numbers.copy()
    repeats = random.random(links) >= SOURCE_TARGETS / SOURCE_LINKS
    repeats[0] = False
    near = random.random(links) < NEAR_SHARE
    where = np.flatnonzero(repeats & ~near)
    earlier[where] = (random.random(where.size) * where).astype(np.int64)
    where = np.flatnonzero(repeats & near)
    distance = np.exp(random.random(where.size) * np.log(NEAR_REACH)).astype(np.int64)
    earlier[where] = np.maximum(where - distance, 0)
    # A link that repeats one that repeats another: to the first, in doubled steps.
    while True:
        further = earlier[earlier]
        if np.array_equal(further, earlier):
            break
        earlier = further
    keys = mixed((earlier + (seed << 40)).astype(np.uint64)).view(np.int64)
    return Stream(keys, earlier == numbers)
