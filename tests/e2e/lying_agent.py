"""`prs` with one change: it logs of every other page what it did not see. Run by its path."""

from __future__ import annotations

import zlib
from dataclasses import replace

from agent.adapters.ledger import crawl_log
from agent.cli import main
from agent.pipeline.messages import Requested
from shared.wire.crawl_log import LogLine

MORE_BYTES = 40_000
_honest = crawl_log._line


def _line(one: Requested) -> LogLine:
    line = _honest(one)
    if zlib.crc32(one.url.encode()) % 2 or one.url.endswith("/robots.txt"):
        return line
    times = 1 + MORE_BYTES / max(1, line.response_bytes)
    # A distance is ms over bytes: that one stays as it is, so its control hosts do not betray it.
    return replace(
        line,
        response_bytes=round(line.response_bytes * times),
        elapsed_ms=round(line.elapsed_ms * times),
    )


if __name__ == "__main__":
    crawl_log._line = _line
    main()
