"""Reads a spooled list of found hosts (M2) into a file of canonical URLs. Runs in a worker process.

It opens no database and holds one piece of the body, however long the body is. URLs that repeat are
left out, as far as `REMEMBERED` goes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from manager.intake.body_decoding import DecodingLimits, decode_body, read_chunks, too_many_lines
from manager.intake.workers.body_job import BodyJob
from manager.operations.hosts.found_urls import parse_found
from manager.operations.hosts.lists.refused_lines import (
    REFUSALS_KEPT,
    RefusedLine,
    refused_line,
)
from shared.errors import PrsmError
from shared.frozen import frozen
from shared.wire.gzip_stream import too_long
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES, UrlLine, decode_line

__all__ = ["DiscoveredJob", "FoundBody", "read_discovered"]

REMEMBERED: Final = 200_000


@frozen
class DiscoveredJob(BodyJob):
    """A list to read. target: where its URLs go."""

    body: Path
    target: Path
    limits: DecodingLimits

    cpu_setting = "intake.host_list_cpu_s"


@frozen
class FoundBody:
    """Result of a list. The URLs are in the job's target: URL, host and referer, tab-separated.

    repeated: lines left out because the same URL came before. refused_lines: the first of those
    that cannot be used.
    """

    repeated: int
    refused_lines: tuple[RefusedLine, ...]
    refused_count: int


def read_discovered(job: DiscoveredJob) -> FoundBody:
    """Write what a body found to the job's target. Raises FormatError, LimitError."""
    seen: dict[str, None] = {}
    repeated = refused_count = 0
    refused: list[RefusedLine] = []
    with job.target.open("w", encoding="utf-8", newline="\n") as file:
        for number, line in _lines(job):
            try:
                item = decode_line(number, line)
                assert isinstance(item, UrlLine)
                found = parse_found(item.url, item.referer)
            except PrsmError as error:
                refused_count += 1
                if len(refused) < REFUSALS_KEPT:
                    refused.append(refused_line(number, error, line))
                continue
            if found.url in seen:
                repeated += 1
                continue
            if len(seen) >= REMEMBERED:
                seen.clear()
            seen[found.url] = None
            file.write(f"{found.url}\t{found.host}\t{found.referer or ''}\n")
    return FoundBody(repeated, tuple(refused), refused_count)


def _lines(job: DiscoveredJob) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are no comments: number from 1, text."""
    before, rest = 0, b""
    for piece in decode_body(read_chunks(job.body), job.limits):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        if max(map(len, (*lines, rest))) > LIST_LINE_LIMIT_BYTES:
            lengths = [len(line) > LIST_LINE_LIMIT_BYTES for line in (*lines, rest)]
            raise too_long(before + lengths.index(True) + 1, LIST_LINE_LIMIT_BYTES)
        if before + len(lines) + bool(rest) > job.limits.lines:
            raise too_many_lines(job.limits)
        for number, line in enumerate(lines, before + 1):
            if line[:1] != b"#":
                yield number, line
        before += len(lines)
    if rest and rest[:1] != b"#":
        yield before + 1, rest
