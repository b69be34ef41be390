"""Journal of queues and counters between two commits, as one compressed row.

Each entry is a line. Replayed in order, from any commit on, entries give the same state however
often: a URL and its end name their position, counters are sums so far. So jobs can be saved one
after the other while the journal continues, and entries that are older than the saved state do no
harm.

    + JOB POSITION RECORD          a URL entered a queue
    - JOB POSITION                 it is gone
    = JOB PAGES KEPT BYTES         counters of a job

A record is `DEPTH REDIRECTS ATTEMPTS URL`, and `TAB REFERER` where there is one: canonical URLs
hold neither tabs nor line ends. REDIRECTS has the kind of the link in it, above its lowest ten
bits, so that a version that knows no kinds still reads the record. Of a URL that is tried again
later it is `ATTEMPTS@DUE_MS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from isal import isal_zlib

from agent.pipeline.ledger import QueuedUrl

__all__ = ["BLOCK_URLS", "block_id", "pack", "record", "unpack", "url_of"]

BLOCK_URLS: Final = 256
"""Records that are packed together in a queue, at most."""

KIND_SHIFT: Final = 10
"""Bits of the number of redirects, which `limits.redirects` keeps far below it."""

LEVEL: Final = 1


def block_id(job: int, level: int, position: int) -> int:
    """Return the name of the block that ends at a position of a queue: all sort by it."""
    return job << 32 | level << 30 | position


def record(item: QueuedUrl, attempts: int, due_ms: int = 0) -> bytes:
    """Return a queued URL as its queue holds it; the place gives job and position."""
    url, referer = item.url, item.referer
    hops = item.redirects | item.link_kind << KIND_SHIFT
    numbers = f"{item.depth} {hops} {attempts}"
    if due_ms:
        numbers = f"{numbers}@{due_ms}"
    text = f"{numbers} {url}"
    if referer is not None:
        text = f"{text}\t{referer}"
    if "\n" in text or "\t" in url or text.count("\t") > 1:
        text = _without_control(item, numbers)
    if item.chain:
        text = f"{text}\t{item.chain}" if "\t" in text else f"{text}\t\t{item.chain}"
    return text.encode("utf-8", "surrogatepass")


def url_of(data: bytes, job: int, position: int, level: int) -> QueuedUrl:
    """Return the URL of a record."""
    text, tab, referer = data.decode("utf-8", "surrogatepass").partition("\t")
    referer, is_chained, chain = referer.partition("\t")
    depth, hops_text, attempts, url = text.split(" ", 3)
    hops = int(hops_text)
    attempts, _, due_ms = attempts.partition("@")
    return QueuedUrl(
        position,
        url,
        job,
        int(depth),
        hops & (1 << KIND_SHIFT) - 1,
        referer if tab and (referer or not is_chained) else None,
        int(attempts),
        level,
        int(due_ms or 0),
        chain,
        hops >> KIND_SHIFT,
    )


def pack(lines: Iterable[bytes]) -> bytes:
    """Return lines as one compressed value."""
    return bytes(isal_zlib.compress(b"\n".join(lines), LEVEL))


def unpack(data: bytes) -> list[bytes]:
    """Return the lines of a packed value."""
    return bytes(isal_zlib.decompress(data)).split(b"\n")


def _without_control(item: QueuedUrl, numbers: str) -> str:
    """Return a record of a URL that no parser of ours made: as such a parser would see it."""
    url, referer = (
        "".join(one for one in text if one not in "\t\r\n")
        for text in (item.url, item.referer or "")
    )
    return f"{numbers} {url}" + (f"\t{referer}" if referer else "")
