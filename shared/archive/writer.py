"""Names segments, opens them, and seals them when they are full.

A name is `PREFIX-14digitUTC-SERIAL-AGENT.warc.gz` (WARC/1.1, annex C). The serial follows the
greatest in the directory, so that a name is not given twice even where clocks jump.

Invariant: at most one segment of the writer is open; the caller groups commits.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from shared.archive.encode import EncodedCapture, SegmentInfo, encode_warcinfo
from shared.archive.segment import Location, OpenFile, OpenSegment, SealedSegment
from shared.errors import SettingError

__all__ = ["DEFAULT_MAX_BYTES", "SegmentWriter", "segment_name"]

DEFAULT_MAX_BYTES: Final = 1_000_000_000

_PREFIX: Final = re.compile(r"[A-Za-z0-9._]{1,32}")
_AGENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,179}")
_NAME: Final = re.compile(
    r"[A-Za-z0-9._]{1,32}-[0-9]{14}-([0-9]{5,})-[A-Za-z0-9.-]{1,180}\.warc\.gz(?:\.[a-z0-9]+)?"
)


def segment_name(prefix: str, created_at_ms: int, serial: int, agent: str) -> str:
    """Return the sealed name of a segment; raises SettingError for a prefix or agent unfit."""
    if not _PREFIX.fullmatch(prefix):
        raise SettingError("archive_files.segment_prefix", prefix=prefix[:60])
    if not _AGENT.fullmatch(agent):
        raise SettingError("archive_files.segment_agent", agent=agent[:60])
    timestamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(created_at_ms // 1000))
    return f"{prefix}-{timestamp}-{serial:05d}-{agent}.warc.gz"


class SegmentWriter:
    """Appends captures to the open segment of one agent in one directory."""

    def __init__(
        self,
        directory: Path,
        *,
        prefix: str,
        agent: str,
        info: SegmentInfo,
        max_bytes: int = DEFAULT_MAX_BYTES,
        first_serial: int = 0,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        open_file: OpenFile = io.FileIO,
    ) -> None:
        """Make ready; the first append opens a segment.

        max_bytes: a segment is sealed before an append that would make it larger; a single
        capture that is larger gets a separate segment.
        """
        segment_name(prefix, 0, 0, agent)
        if max_bytes < 1:
            raise SettingError(
                "archive_files.segment_size", value=max_bytes, default=DEFAULT_MAX_BYTES
            )
        self._directory = directory
        self._prefix = prefix
        self._agent = agent
        self._info = info
        self._max_bytes = max_bytes
        self._now_ms = now_ms
        self._open_file = open_file
        self._open: OpenSegment | None = None
        serials = (_NAME.fullmatch(entry.name) for entry in directory.iterdir())
        self._serial = max([first_serial, *(int(found[1]) + 1 for found in serials if found)])

    @property
    def open_segment(self) -> OpenSegment | None:
        """The segment that grows, None before the first append and after sealing."""
        return self._open

    @property
    def next_serial(self) -> int:
        """The serial of the next segment; keep it where the directory may be emptied."""
        return self._serial

    def append(self, encoded: EncodedCapture) -> Location:
        """Write one capture; it is safe after the next `commit`.

        Raises DiskFullError: this capture was not written, whatever happened before it; try the
        same call again when there is room. SegmentBrokenError: close the writer and recover.
        """
        return self._with_room_for(len(encoded.data)).append(encoded)

    def append_all(self, captures: Sequence[EncodedCapture]) -> list[bytes]:
        """Write captures into one segment by one write; the same errors hold for all of them.

        Return their lines of its index.
        """
        if not captures:
            return []
        size_bytes = sum(len(encoded.data) for encoded in captures)
        return self._with_room_for(size_bytes).append_all(captures)

    def commit(self) -> None:
        """Make every appended capture survive a loss of power; one call for many appends."""
        if self._open is not None:
            self._open.commit()

    def seal(self) -> SealedSegment | None:
        """Seal the open segment now, as before a transfer; None: an empty one is removed."""
        return self._seal_open()

    def adopt(self, segment: OpenSegment) -> None:
        """Continue a recovered segment; seals the one that is open."""
        self._seal_open()
        self._open = segment

    def close(self) -> None:
        """Commit and let go; the open segment stays `.open` for the next start to recover."""
        if self._open is not None:
            segment, self._open = self._open, None
            segment.close()

    def _with_room_for(self, size_bytes: int) -> OpenSegment:
        segment = self._open
        if segment is not None and segment.size_bytes + size_bytes > self._max_bytes:
            self._seal_open()
            segment = None
        if segment is None:
            segment = self._open = self._create()
        return segment

    def _seal_open(self) -> SealedSegment | None:
        segment, sealed = self._open, None
        if segment is None:
            return None
        if segment.captures == 0:
            segment.discard()
        else:
            sealed = segment.seal()
        self._open = None
        return sealed

    def _create(self) -> OpenSegment:
        while True:
            created_at_ms = self._now_ms()
            name = segment_name(self._prefix, created_at_ms, self._serial, self._agent)
            warcinfo = encode_warcinfo(self._info, name, created_at_ms)
            try:
                segment = OpenSegment.create(self._directory / name, warcinfo, self._open_file)
            except FileExistsError:
                self._serial += 1
                continue
            self._serial += 1
            return segment
