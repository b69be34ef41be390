"""Distances of hosts from clients: delay to the first byte and bandwidth, by region.

Regions lie on a square; delay grows and bandwidth falls with the distance between client and
host region, a host has its own factors, and each pair of client region and host a small one. The
default spread gives ratios between the fastest and the slowest region of a host (5 to 600, with
a median of 30 to 60, by seed) like those of design 4 (2 to 710, median 48). Nothing is random at
run time unless jitter is asked for.
"""

from __future__ import annotations

import math
import random

from shared.frozen import frozen
from simweb.sites.chance import draw, normal
from simweb.sites.options import WorldOptions

__all__ = ["AGENT_NETWORK", "HOST_NETWORK", "Distances", "Pace", "region_of"]

AGENT_NETWORK = (127, 10)  # an agent of region R binds 127.10.R.N
HOST_NETWORK = 20  # a host of region R has 127.(20+R).x.y

_HOST_SIGMA = 0.5
_PAIR_SIGMA = 0.6
_PIECE_S = 0.02  # a body is sent in pieces of at least so many seconds ...
_PIECE_BYTES = 1_460  # ... and of at least one Ethernet segment


@frozen
class Pace:
    """The speed at which one client gets one host's answers."""

    delay_s: float
    bytes_per_s: float  # inf: no limit

    def schedule(self, size: int) -> list[tuple[float, int]]:
        """Return (seconds after the request, bytes) of each piece; the pieces add up to `size`.

        The last piece leaves after delay + size / bandwidth.
        """
        if math.isinf(self.bytes_per_s):
            return [(self.delay_s, size)]
        piece = max(_PIECE_BYTES, int(self.bytes_per_s * _PIECE_S))
        ends = [*range(piece, size, piece), size]
        starts = [0, *ends[:-1]]
        return [
            (self.delay_s + end / self.bytes_per_s, end - start)
            for start, end in zip(starts, ends, strict=True)
        ]

    def transfer_s(self, size: int) -> float:
        """Return the seconds from request to last byte."""
        return self.delay_s + size / self.bytes_per_s


def region_of(client: str, regions: int) -> int:
    """Return the region of a client address; 0 for one outside 127.10.0.0/16."""
    parts = client.split(".")
    if len(parts) != 4 or tuple(map(int, parts[:2])) != AGENT_NETWORK:
        return 0
    region = int(parts[2])
    return region if region < regions else 0


class Distances:
    """Paces of every (client region, host) of a world."""

    def __init__(self, options: WorldOptions) -> None:
        self._options = options
        seed = options.seed
        places = [
            (draw(seed, "place-x", region), draw(seed, "place-y", region))
            for region in range(options.regions)
        ]
        apart = [[math.dist(one, other) for other in places] for one in places]
        farthest = max(map(max, apart)) or 1.0
        self.apart = [[length / farthest for length in row] for row in apart]

    def pace(self, client_region: int, host_region: int, host: int) -> Pace:
        """Return the pace without jitter. Source of the shape: design 4, the evaluation."""
        options, apart = self._options, self.apart[client_region][host_region]
        # Own region a tenth of the mean delay, the farthest about twice the mean.
        delay_s = options.delay_ms / 1_000 * (0.1 + 1.9 * apart)
        delay_s *= math.exp(_HOST_SIGMA * normal(options.seed, "host-delay", host))
        if not options.bandwidth_kb_s:
            return Pace(delay_s, math.inf)
        noise = _HOST_SIGMA * normal(options.seed, "host-bandwidth", host)
        noise += _PAIR_SIGMA * normal(options.seed, "pair", client_region, host)
        speed = options.bandwidth_kb_s * 1_000 * options.spread**-apart * math.exp(noise)
        return Pace(delay_s, speed)

    def jittered(self, pace: Pace) -> Pace:
        """Return the pace of one request: the same, unless --jitter is set."""
        if not self._options.jitter:
            return pace
        factor = 1 + self._options.jitter * random.random()  # noqa: S311 - no secret hangs on it
        return Pace(pace.delay_s * factor, pace.bytes_per_s / factor)
