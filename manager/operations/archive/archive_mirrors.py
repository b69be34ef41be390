"""Report hosts that show what other hosts show."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.segments import segments
from manager.db.segments.segments import FileFilter
from manager.operations.archive.selection_files import SelectionSources
from manager.store.captures.mirrors import Mirror, find_mirrors
from shared.errors import FormatError

__all__ = ["Mirror", "mirrors"]

SEGMENTS_AT_MOST = 100_000


def mirrors(making: SelectionSources, share: float, limit: int) -> list[Mirror]:
    """Return pairs of hosts of which one has so large a share of its pages on the other.

    Reads all indexes of public segments: minutes in a large archive. Raises FormatError.
    """
    if not 0 < share <= 1:
        raise FormatError("archive.bad_share", value=share)
    db: Database = making.db
    with db.read() as tx:
        _, found = segments.public_segments(tx, FileFilter(), SEGMENTS_AT_MOST)
        excluded = segments.excluded_keys(tx)
    return find_mirrors(
        [making.layout.index_file(row.key) for row in found],
        sorted(excluded),
        share,
        limit,
        memory_bytes=making.memory_bytes,
        spill=making.layout.spool,
    )
