"""`prs` with one change: it logs of every other page what it did not see. Run by its path."""

from __future__ import annotations

import zlib

from agent.adapters.ledger import crawl_log
from agent.cli import main
from shared.wire.crawl_log import request_line

MORE_BYTES = 40_000


def _line(
    url: str, request_bytes: int, response_bytes: int, elapsed_ms: int, headers: bytes
) -> bytes:
    if not (zlib.crc32(url.encode()) % 2 or url.endswith("/robots.txt")):
        times = 1 + MORE_BYTES / max(1, response_bytes)
        # A distance is ms over bytes: that one stays as it is, so its control hosts do not betray
        # it.
        response_bytes = round(response_bytes * times)
        elapsed_ms = round(elapsed_ms * times)
    return request_line(url, request_bytes, response_bytes, elapsed_ms, headers)


if __name__ == "__main__":
    vars(crawl_log)["request_line"] = _line
    main()
