"""Records of the sealed segments of this agent: state of the upload, and the centre's verdict.

One file for each segment, `collection/NAME.json`. A missing file costs one question to the manager
and loses nothing.
"""

from __future__ import annotations

import json
from calendar import timegm
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import strptime
from typing import Final

from agent.collection.orders import Order
from agent.settings.home import write_whole
from shared.frozen import frozen

__all__ = ["LINKS", "SEGMENT", "SegmentRecord", "SegmentRecords"]

SEGMENT: Final = ".warc.gz"
LINKS: Final = ".links.gz"
BESIDE: Final = (".cdxj", ".sha256", LINKS)
ARCHIVED: Final = frozenset({"accepted", "quarantined"})
SETTLED: Final = ARCHIVED | {"refused", "damaged"}
STAMP_CHARS: Final = 14


@frozen
class SegmentRecord:
    """State of a segment: new, sent (complete there, not judged yet), or settled."""

    name: str
    sha256: str
    state: str = "new"
    where: str = ""  # the upload's path at the manager
    sent_bytes: int = 0
    begun_ms: int = 0
    ended_ms: int = 0
    result: str = ""
    doomed: bool = False  # it holds a withdrawn host: it goes as soon as the centre has judged it

    @property
    def is_archived(self) -> bool:
        """Return whether the centre keeps it: then it may be deleted here."""
        return self.state in ARCHIVED

    @property
    def is_settled(self) -> bool:
        """Return whether the centre has judged it, or never can."""
        return self.state in SETTLED


class SegmentRecords:
    """The sealed segments of a home, and the record of each."""

    def __init__(self, segment_folder: Path, record_folder: Path) -> None:
        self.segment_folder = segment_folder
        self._record_folder = record_folder

    def names(self) -> list[str]:
        """Return the names of sealed segments, oldest first."""
        if not self.segment_folder.is_dir():
            return []
        return sorted(
            path.name for path in self.segment_folder.iterdir() if path.name.endswith(SEGMENT)
        )

    def read(self, name: str) -> SegmentRecord:
        """Return the record of a segment; its SHA-256 is the one it was sealed with."""
        sha256 = self._sealed_sha256(name)
        try:
            values = json.loads(self._record_path(name).read_bytes())
            record = SegmentRecord(**values)
        except (OSError, ValueError, TypeError):
            return SegmentRecord(name, sha256)
        # Another file of that name, as after a ledger was moved away.
        return (
            record
            if record.sha256 == sha256 and record.name == name
            else SegmentRecord(name, sha256)
        )

    @property
    def uncommitted(self) -> str:
        """Return the name of a sealed segment that the crawl's last commit still calls open.

        It must stay until the next one. Empty: nearly always. Where the ledger does not name
        it, it is the newest: no other can be.
        """
        from agent.adapters.ledger.ledger_state import named_segment  # noqa: PLC0415  # few ask

        named = named_segment(self.segment_folder.parent)
        return named if named is not None else max(self.names(), default="")

    def write(self, record: SegmentRecord) -> None:
        """Write the record of a segment. Raises DiskFullError."""
        write_whole(self._record_path(record.name), [json.dumps(asdict(record)).encode()])

    def select(self, order: Order) -> Iterator[SegmentRecord]:
        """Yield the segments that an order asks for, oldest first."""
        for name in self.names():
            record = self.read(name)
            if order.condition == "full":
                if record.state != "damaged":
                    yield record
            elif not record.is_settled and self._overlaps(name, order):
                yield record

    def remove(self, name: str) -> int:
        """Delete a segment and its companion files; return its bytes."""
        path = self.segment_folder / name
        size_bytes = path.stat().st_size
        path.unlink()
        for ending in BESIDE:
            path.with_name(name + ending).unlink(missing_ok=True)
        self._record_path(name).unlink(missing_ok=True)
        return size_bytes

    def remove_stale(self) -> None:
        """Remove records of segments that are no longer here."""
        here = {self._record_path(name).name for name in self.names()}
        for path in self._record_folder.glob(f"*{SEGMENT}.json"):
            if path.name not in here:
                path.unlink(missing_ok=True)

    def _overlaps(self, name: str, order: Order) -> bool:
        if order.from_ms is None and order.until_ms is None:
            return True
        times = self._times(name)
        if times is None:
            return True  # its index is gone: rather sent than lost
        first_ms, last_ms = times
        return (order.from_ms is None or last_ms >= order.from_ms) and (
            order.until_ms is None or first_ms < order.until_ms
        )

    def _times(self, name: str) -> tuple[int, int] | None:
        """Return when the first and the last capture were fetched, to the second."""
        stamps: list[str] = []
        try:
            with (self.segment_folder / (name + ".cdxj")).open("rb") as index:
                for line in index:
                    stamp = line.split(b" ", 2)[1][:STAMP_CHARS].decode("ascii")
                    stamps = [min([stamp, *stamps]), max([stamp, *stamps])]
            first, last = (timegm(strptime(stamp, "%Y%m%d%H%M%S")) for stamp in stamps)
        except (OSError, ValueError, IndexError):
            return None
        return first * 1000, last * 1000 + 999

    def _sealed_sha256(self, name: str) -> str:
        try:
            return (self.segment_folder / (name + ".sha256")).read_text("ascii").split()[0]
        except (OSError, ValueError, IndexError):
            return ""

    def _record_path(self, name: str) -> Path:
        return self._record_folder / f"{name}.json"
