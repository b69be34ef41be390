"""The hosts that ended a crawl last, by the log of the simulated web: why it took so long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from simweb.judging.log_reader import read_log

__all__ = ["last_hosts"]

SHOWN: Final = 3


def last_hosts(log: Path, began_s: float) -> Iterator[str]:
    """Yield a line for each of the hosts whose last request of a crawl ended latest.

    began_s: when the crawl began, seconds since 1970. In seconds after it: its first request, the
    end of the last; how many there were, how many of them were cut, the longest answer and pause.
    """
    events: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in read_log(log):
        if one["event"] == "request" and one["time_start"] >= began_s:
            events[one["host"]].append(one)
    ends = {host: max(one["time_end"] for one in mine) for host, mine in events.items()}
    for host in sorted(ends, key=lambda one: -ends[one])[:SHOWN]:
        mine = sorted(events[host], key=lambda one: float(one["time_start"]))
        pauses = [after["time_start"] - before["time_end"] for before, after in pairwise(mine)]
        yield (
            f"  {host} by {mine[0]['client']}: {mine[0]['time_start'] - began_s:.1f} s to "
            f"{ends[host] - began_s:.1f} s, {len(mine)} requests, "
            f"{sum(bool(one.get('aborted')) for one in mine)} cut, longest answer "
            f"{max(one['time_end'] - one['time_start'] for one in mine):.1f} s, longest pause "
            f"{max(pauses, default=0.0):.1f} s"
        )
