"""Traffic of the exchange of foreign pages, from what the agents' logs say of M2 and M1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

__all__ = ["lines_sent", "mean_line_bytes"]

_REPORTED: Final = re.compile(r"(\d+) URLs of other hosts are ready to be sent")
_LISTED: Final = re.compile(r"list \d+ of round \d+: (\d+) lines")


def lines_sent(logs: Iterable[Path]) -> tuple[int, int]:
    """Return how many lines of M2 agents sent, and how many lines of M1 they were sent."""
    reported = listed = 0
    for log in logs:
        text = log.read_text(errors="replace")
        reported += sum(map(int, _REPORTED.findall(text)))
        listed += sum(map(int, _LISTED.findall(text)))
    return reported, listed


def mean_line_bytes(urls: Iterable[str]) -> float:
    """Return the bytes of a line with a URL, a referer and their separators, as text."""
    lengths = [len(url) for url in urls]
    return 2 * sum(lengths) / max(1, len(lengths)) + 2
