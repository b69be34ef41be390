"""The jobs of the list in force: in memory to be asked and counted, on disk at each commit.

An agent holds some thousand units, a row takes half a kilobyte, and counters change with each
page; so rows live here and those that changed are written together.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from agent.adapters.ledger.database import Database, Value
from agent.pipeline.messages import Job
from agent.pipeline.ports import JobRow

__all__ = ["Jobs"]


@dataclass(slots=True)
class _Entry:
    row: JobRow
    order: str  # the job, as it is stored
    queued: int = 0


class Jobs:
    """All jobs, by number."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._entries = {entry.row.job.number: entry for entry in _stored(database)}
        self._changed: set[int] = set()

    @property
    def changed(self) -> bool:
        """Tell whether counters wait to be flushed."""
        return bool(self._changed)

    def rows(self) -> list[JobRow]:
        """Return all, by number."""
        return [self._entries[number].row for number in sorted(self._entries)]

    def get(self, number: int) -> JobRow | None:
        """Return one, or None."""
        entry = self._entries.get(number)
        return None if entry is None else entry.row

    def takes_urls(self, number: int) -> bool:
        """Tell whether a job is there and not finished."""
        entry = self._entries.get(number)
        return entry is not None and not entry.row.finished

    def open(self, job: Job) -> None:
        """Remember a job; of a known one the order is replaced."""
        entry = self._entries.get(job.number)
        if entry is not None:
            entry.order = _order(job)
            self._change(job.number, replace(entry.row, job=job))
            return
        row = JobRow(job, host="", address="", pages=0, kept=0, response_bytes=0, finished=False)
        self._entries[job.number] = _Entry(row, _order(job))
        self._changed.add(job.number)

    def place(self, number: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""
        entry = self._entries.get(number)
        if entry is not None:
            self._change(number, replace(entry.row, host=host, address=address))

    def count(self, number: int, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""
        entry = self._entries.get(number)
        if entry is not None:
            row = entry.row
            self._change(
                number,
                replace(
                    row,
                    pages=row.pages + pages,
                    kept=row.kept + kept,
                    response_bytes=row.response_bytes + response_bytes,
                ),
            )

    def finish(self, number: int) -> bool:
        """Mark a job as done; tell whether it was not before."""
        entry = self._entries.get(number)
        if entry is None or entry.row.finished:
            return False
        entry.queued = 0
        self._change(number, replace(entry.row, finished=True))
        return True

    def drop(self, number: int) -> bool:
        """Forget a job; tell whether it was there."""
        if self._entries.pop(number, None) is None:
            return False
        self._changed.discard(number)
        self._database.run("DELETE FROM jobs WHERE number = ?", (number,))
        return True

    def queued(self, number: int) -> int:
        """Return how many URLs of a job are in its queue."""
        entry = self._entries.get(number)
        return 0 if entry is None else entry.queued

    def add_queued(self, number: int, count: int) -> None:
        """Count URLs that entered a queue, or left it."""
        entry = self._entries.get(number)
        if entry is not None and count:
            entry.queued += count
            self._changed.add(number)

    def flush(self) -> None:
        """Hand what changed to the open transaction."""
        rows = [_values(self._entries[number]) for number in sorted(self._changed)]
        self._database.run_many("INSERT OR REPLACE INTO jobs VALUES (?,?,?,?,?,?,?,?,?)", rows)
        self._changed.clear()

    def _change(self, number: int, row: JobRow) -> None:
        self._entries[number].row = row
        self._changed.add(number)


def _values(entry: _Entry) -> tuple[Value, ...]:
    row = entry.row
    return (
        *(row.job.number, entry.order, row.host, row.address),
        *(row.pages, row.kept, row.response_bytes, entry.queued, int(row.finished)),
    )


def _stored(database: Database) -> list[_Entry]:
    entries = []
    for order, host, address, *numbers in database.ask(
        "SELECT job, host, address, pages, kept, response_bytes, queued, finished FROM jobs"
    ):
        pages, kept, response_bytes, queued, finished = (int(str(number)) for number in numbers)
        row = JobRow(
            _job(str(order)), str(host), str(address), pages, kept, response_bytes, bool(finished)
        )
        entries.append(_Entry(row, str(order), queued))
    return entries


def _order(job: Job) -> str:
    return json.dumps(asdict(job), separators=(",", ":"))


def _job(order: str) -> Job:
    fields = json.loads(order)
    fields["excepted"] = tuple(fields["excepted"])
    fields["start_pages"] = tuple((url, referer) for url, referer in fields["start_pages"])
    return Job(**fields)
