"""Enter the hosts that an agent found (M2) from its spooled body.

Invariant: a body that is not gzip, is cut short or decodes to too much is refused before anything
of it is entered: it is read twice, first to its end. A single malformed line is refused by its
number and keeps nobody else out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from manager.db import Database
from manager.operations.discovered import Recorded, record_discovered
from manager.operations.enrolment import AgentIdentity
from manager.operations.policy import Policy
from shared.errors import LineError
from shared.wire.gzip_stream import decompress, split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES, UrlLine, decode_line

__all__ = ["enter_discovered"]

READ_BYTES: Final = 256 * 1024
REFUSALS_KEPT: Final = 1_000


def enter_discovered(
    db: Database,
    agent: AgentIdentity,
    body: Path,
    now_ms: int,
    policy: Policy,
    *,
    decoded_limit_bytes: int,
) -> Recorded:
    """Record the hosts of a body and say what became of its lines.

    Blocks; memory is bounded whatever the body's length. Raises FormatError, LimitError.
    """
    for _ in _lines(body, decoded_limit_bytes):
        pass
    reading = _Reading(body, decoded_limit_bytes)
    recorded = record_discovered(db, agent, reading.urls(), now_ms, policy)
    refused = sorted([*reading.refused, *recorded.refused])[:REFUSALS_KEPT]
    return replace(
        recorded, refused=refused, refused_count=recorded.refused_count + reading.refused_count
    )


@dataclass
class _Reading:
    """The second pass: URLs with their line numbers, and the lines that are none."""

    body: Path
    limit_bytes: int

    def __post_init__(self) -> None:
        self.refused: list[tuple[int, str]] = []
        self.refused_count = 0

    def urls(self) -> Iterator[tuple[int, str, str | None]]:
        """Yield line number, URL and referer."""
        for number, line in _lines(self.body, self.limit_bytes):
            try:
                item = decode_line(number, line)
            except LineError as error:
                self.refused_count += 1
                if len(self.refused) < REFUSALS_KEPT:
                    self.refused.append((number, error.problem))
                continue
            if isinstance(item, UrlLine):
                yield number, item.url, item.referer


def _lines(body: Path, limit_bytes: int) -> Iterator[tuple[int, bytes]]:
    plain = decompress(_chunks(body), limit_bytes=limit_bytes)
    return split_lines(plain, limit_bytes=LIST_LINE_LIMIT_BYTES)


def _chunks(body: Path) -> Iterator[bytes]:
    with body.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            yield chunk
