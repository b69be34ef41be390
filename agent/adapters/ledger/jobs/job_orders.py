"""Orders of the list in force, read from their rows: those that need no state in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.adapters.ledger.database import Database, Query
from agent.pipeline.messages.jobs import Job

__all__ = ["JobOrders", "order_text", "read_order", "row_slices"]

ROWS_AT_A_TIME: Final = 10_000

ORDERS_AT_A_TIME: Final = 1000
"""Orders that are read in one moment: 5 us each."""

SEARCHED_ROWS: Final = 4096
"""Rows of one search for a few."""

_ORDERS: Final = Query[tuple[int, str, int]](
    "SELECT number, job, finished FROM jobs WHERE number > ? ORDER BY number LIMIT ?"
)
# Most orders are passed over without being parsed.
_SHARED: Final = Query[tuple[int]](
    "SELECT 1 FROM jobs WHERE instr(job, '\"share\":0') = 0 "
    "AND json_extract(job, '$.share') > 0 LIMIT 1"
)
_UNITS: Final = Query[tuple[int, str, int]](
    "SELECT number, json_extract(job, '$.unit'), finished FROM jobs "
    "WHERE number > ? ORDER BY number LIMIT ?"
)
_UNPLACED: Final = Query[tuple[int | None, str]](
    "SELECT max(number), json_group_array(number) FILTER (WHERE address = '') FROM "
    "(SELECT number, address FROM jobs WHERE number > ? AND finished = 0 "
    "ORDER BY number LIMIT ?)"
)
_LIVE: Final = Query[tuple[int]](
    "SELECT number FROM jobs WHERE finished IN (0, 2, 3) ORDER BY number LIMIT ?"
)
_ENTERED: Final = Query[tuple[float]]("SELECT total(met) FROM jobs WHERE finished IN (0, 2, 3)")
_QUEUED: Final = Query[tuple[float]]("SELECT total(queued) FROM jobs WHERE finished = 0")

NumberedRow = TypeVar("NumberedRow", bound="tuple[int, *tuple[Any, ...]]")


class JobOrders:
    """Orders of all jobs, by number."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Iterator[list[tuple[Job, bool]]]:
        """Yield orders, and whether they are finished, by number, some at a time."""
        for rows in row_slices(self._database, _ORDERS, at_a_time=ORDERS_AT_A_TIME):
            yield [(read_order(order), finished != 0) for _, order, finished in rows]

    def share_hosts(self) -> bool:
        """Return whether any job is a piece of a split host."""
        return bool(self._database.ask(_SHARED))

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield numbers, units, and whether they are finished, by number."""
        for rows in row_slices(self._database, _UNITS):
            for number, unit, finished in rows:
                yield number, unit, finished != 0

    def unplaced(self) -> Iterator[list[int]]:
        """Yield the numbers of the jobs neither finished nor placed, of some rows at a time."""
        last: int | None = -1
        while True:
            [(last, found)] = self._database.ask(_UNPLACED, (last, SEARCHED_ROWS))
            if last is None:
                return
            yield json.loads(found)

    def live_numbers(self, limit: int) -> NDArray[np.uint32]:
        """Return the numbers of jobs that take URLs, now or again, in order, at most `limit`."""
        return np.array([number for (number,) in self._database.ask(_LIVE, (limit,))], np.uint32)

    def entered(self) -> int:
        """Return how many URLs entered the queues of jobs that take URLs, as far as saved."""
        return int(self._database.ask(_ENTERED)[0][0])

    def queued(self) -> int:
        """Return how many URLs are in the queues of all jobs that take any, as far as saved."""
        return int(self._database.ask(_QUEUED)[0][0])


def row_slices(
    database: Database, query: Query[NumberedRow], last: int = -1, at_a_time: int = ROWS_AT_A_TIME
) -> Iterator[list[NumberedRow]]:
    """Yield the rows of a query behind a number, some at a time; the number comes first."""
    while rows := database.ask(query, (last, at_a_time)):
        last = rows[-1][0]
        yield rows


def order_text(job: Job) -> str:
    """Return an order as its row holds it; a version without rounds of units can read most."""
    fields = asdict(job)
    for name in ("pages_before", "bytes_before"):
        if not fields[name]:
            del fields[name]
    return json.dumps(fields, separators=(",", ":"))


def read_order(text: str) -> Job:
    """Return the order of a row."""
    fields = json.loads(text)
    fields["excepted"] = tuple(fields["excepted"])
    fields["kind"] = sys.intern(fields["kind"])
    fields["start_pages"] = tuple((url, referer) for url, referer in fields["start_pages"])
    return Job(**fields)
