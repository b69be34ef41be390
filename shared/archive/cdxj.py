"""The index beside a segment: CDXJ, as pywb and other replay tools read it.

A line is `key timestamp {json}`, the key being that of `surt_key.py`; the file is sorted by bytes,
so that a look-up can bisect it. The JSON is byte for byte that of cdxj-indexer 1.5: numbers are
strings, and what is not known is left out.

Invariant: sorting takes bounded memory: runs of `RUN_LINES` lines are spilled to unnamed files and
merged at the end.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Final

from shared.archive.http_block import UNKNOWN_TYPE
from shared.archive.record import warc_date
from shared.frozen import frozen

__all__ = ["REVISIT_TYPE", "CdxjSorter", "IndexEntry", "cdxj_line"]

REVISIT_TYPE: Final = "warc/revisit"
RUN_LINES: Final = 20_000

_json: Final = json.encoder.encode_basestring_ascii


@frozen
class IndexEntry:
    """Index entry of one response or revisit record.

    urlkey    reversed-host key of the URL, for our own indexes
    surt      key of replay tools, for the CDXJ
    mime      media type of the response, `warc/revisit` for a revisit
    digest    of the payload, with its label; "" where a revisit has none
    offset    of the record's gzip member; in an encoded capture from its first byte
    length    of the member
    """

    urlkey: str
    surt: str
    url: str
    fetched_at_ms: int
    mime: str
    status: int | None
    digest: str
    offset: int
    length: int


def cdxj_line(entry: IndexEntry, offset: int, filename: str) -> bytes:
    """Return the line of an entry whose record begins at `offset` of `filename`."""
    # What json.dumps would give, without the way there: it is a line for each page.
    mime = "" if entry.mime in ("", UNKNOWN_TYPE) else f'"mime": {_json(entry.mime)}, '
    status = "" if entry.status is None else f'"status": "{entry.status}", '
    digest = f'"digest": {_json(entry.digest)}, ' if entry.digest else ""
    moment = _timestamp(entry.fetched_at_ms // 1000)
    return (
        f'{entry.surt} {moment} {{"url": {_json(entry.url)}, {mime}{status}{digest}'
        f'"length": "{entry.length}", "offset": "{offset}", "filename": {_json(filename)}}}\n'
    ).encode()


@lru_cache(maxsize=64)
def _timestamp(seconds: int) -> str:
    """Return seconds since 1970 as an index has them: `20260102030405`."""
    date = warc_date(seconds * 1000)
    return date[:4] + date[5:7] + date[8:10] + date[11:13] + date[14:16] + date[17:19]


class CdxjSorter:
    """Collects the lines of a segment in any order and gives them back sorted."""

    def __init__(self, directory: Path, run_lines: int = RUN_LINES) -> None:
        self._directory = directory
        self._run_lines = run_lines
        self._spill_at = run_lines
        self._lines: list[bytes] = []
        self._runs: list[IO[bytes]] = []

    def add(self, line: bytes) -> None:
        """Take one line; a run that cannot be spilled, as on a full disk, stays in memory."""
        self._lines.append(line)
        if len(self._lines) >= self._spill_at:
            self._spill_at = self._run_lines
            with suppress(OSError):
                self._spill()
            self._spill_at += len(self._lines)

    def __iter__(self) -> Iterator[bytes]:
        """Give all lines, sorted by bytes; may be asked again."""
        for run in self._runs:
            run.seek(0)
        return heapq.merge(sorted(self._lines), *self._runs)

    def close(self) -> None:
        """Give up the spilled runs."""
        for run in self._runs:
            with suppress(OSError):
                run.close()
        self._runs.clear()
        self._lines.clear()

    def _spill(self) -> None:
        import tempfile  # noqa: PLC0415  # brings every compression of `shutil`

        run = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 - lives until close()
        try:
            run.writelines(sorted(self._lines))
            run.flush()
        except OSError:
            with suppress(OSError):
                run.close()
            raise
        self._runs.append(run)
        self._lines = []
