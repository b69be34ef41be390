"""Journal of transfers: the record of each segment, and a line of the log once it is settled."""

from __future__ import annotations

from contextlib import suppress

from agent.collection.orders import Order
from agent.collection.segment_records import SegmentRecord, SegmentRecords
from agent.control.robot_log import LineLogger
from shared.archive.errors import DiskFullError
from shared.week_log import TransferLine, WeekLog

__all__ = ["TransferJournal"]


class TransferJournal:
    """Writes what is known of a segment to the disk."""

    def __init__(
        self, records: SegmentRecords, log: WeekLog, agent: str, log_line: LineLogger
    ) -> None:
        self._records = records
        self._log = log
        self._agent = agent
        self._log_line = log_line

    def note(self, segment: SegmentRecord, order: Order) -> None:
        """Write the record of a segment, and a line of the log when it is settled."""
        # On a full disk nothing is known of it next time, which costs a question.
        with suppress(DiskFullError):
            self._records.write(segment)
        if not segment.is_settled:
            return
        result = f"{segment.state}: {segment.result}" if segment.result else segment.state
        self._log_line(f"{segment.name}: {result}")
        with suppress(OSError):
            path = self._records.segment_folder / segment.name
            size_bytes = path.stat().st_size if path.exists() else 0
            self._log.add(
                TransferLine(
                    segment.begun_ms,
                    segment.ended_ms,
                    self._agent,
                    segment.name,
                    size_bytes,
                    segment.sent_bytes,
                    order.way,
                    result,
                )
            )
