"""Read captures of segments at their offsets, with a few segments kept open."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import BinaryIO, Final

from manager.store.errors import StoreError
from manager.store.segments.segment_store import SegmentStore
from shared.archive.capture import Capture
from shared.archive.reader import read_capture

__all__ = ["PageReader"]

OPEN_FILES: Final = 8
READ_BYTES: Final = 256 * 1024


class PageReader:
    """Reads from the segments of one selection. keys: where each lies, by name. Close it."""

    def __init__(self, store: SegmentStore) -> None:
        self._store = store
        self._keys: dict[str, str] = {}
        self._open: OrderedDict[str, BinaryIO] = OrderedDict()

    def know(self, keys: Mapping[str, str]) -> None:
        """Take where more segments lie."""
        self._keys.update(keys)

    def capture(self, segment: str, offset: int) -> Capture:
        """Return the capture at an offset."""
        return read_capture(self._file(segment), offset)

    def records(self, segment: str, offset: int, length: int) -> bytes:
        """Return the bytes of a capture's records; they are within the limits of a capture."""
        file = self._file(segment)
        file.seek(offset)
        data = file.read(length)
        if len(data) < length:
            raise StoreError("segments.shorter_than_index", segment=segment)
        return data

    def close(self) -> None:
        """Close what is open."""
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _file(self, segment: str) -> BinaryIO:
        file = self._open.get(segment)
        if file is None:
            file = self._open[segment] = self._store.open(self._keys[segment])
            if len(self._open) > OPEN_FILES:
                _, oldest = self._open.popitem(last=False)
                oldest.close()
        self._open.move_to_end(segment)
        return file
