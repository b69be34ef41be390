"""Reports for the manager, kept until it has them.

Units that are done, addresses of hosts and URLs of others are rows of the ledger's database: they
become durable with the commit that holds their cause, and go when the manager has answered. The
link is shown what is committed, so that it never tells what a crash could take back; what it
forgets is gone with the next commit, and shown until then.

Counters count from the start of the process. That a unit is quiet is not kept over a restart: a
new process has no request under way.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from agent.adapters.ledger.database import Database, Query
from agent.pipeline.messages.jobs import UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Outside, Processed
from agent.pipeline.messages.requests import FetchAnswer
from shared.frozen import frozen
from shared.host_failures import HostFailure, is_naming_failure
from shared.urls import host_of
from shared.wire.orders import OrderKind
from shared.wire.sync import FinishedUnit, HostAddresses

__all__ = ["CrawlTotals", "DurableReports", "OutsideBatch"]

MAX_ADDRESSES: Final = 64  # of one host; sync takes no more
MAX_REASON_CHARACTERS: Final = 1000

_ANSWERED: Final = frozenset(("answered", "truncated"))

_FINISHED: Final = Query[tuple[str, OrderKind, int, int, int, str, str]](
    "SELECT unit, kind, round, pages, response_bytes, reason, coalesce(failure, '') "
    "FROM finished LEFT JOIN failed USING (unit, kind, round) LIMIT ?"
)
_IS_FINISHED: Final = Query[tuple[int]]("SELECT 1 FROM finished WHERE unit = ?")
_FAILURES: Final = Query[tuple[str, int]](
    "SELECT failure, count(*) FROM failed JOIN jobs ON jobs.number = failed.job "
    "WHERE jobs.finished <> 0 GROUP BY failure ORDER BY count(*) DESC, failure"
)
_FAILURE: Final = Query[tuple[str]]("SELECT failure FROM failed WHERE unit = ? AND job = ?")
_DELAY: Final = Query[tuple[int]]("SELECT delay_ms FROM crawl_delays WHERE host = ?")
_IS_KNOWN: Final = Query[tuple[int]]("SELECT 1 FROM addresses WHERE host=? AND addresses=?")
_ADDRESSES: Final = Query[tuple[str, str]](
    "SELECT host, addresses FROM addresses WHERE told = 0 LIMIT ?"
)
_OUTSIDE: Final = Query[tuple[int, str, str | None]](
    "SELECT id, url, referer FROM outside ORDER BY id LIMIT ?"
)
_OLDEST_OUTSIDE: Final = Query[tuple[int | None]]("SELECT min(id) FROM outside")
_LAST_OUTSIDE: Final = Query[tuple[int]]("SELECT seq FROM sqlite_sequence WHERE name = 'outside'")


@frozen
class OutsideBatch:
    """Some URLs for M2, oldest first. `last` is where the batch ends, for `forget_outside`."""

    urls: tuple[Outside, ...]
    first: int
    last: int

    @property
    def key(self) -> str:
        """Return the name of the report that is made of it."""
        return f"hosts-{self.first}-{self.last}"


@dataclass(slots=True)
class CrawlTotals:
    """Numbers of events since the process started."""

    requests: int = 0
    pages: int = 0
    response_bytes: int = 0
    errors: int = 0
    discovered: int = 0


class DurableReports:
    """Fulfils `agent.pipeline.ports.Reports`, and lets the link take from it."""

    def __init__(self, database: Database) -> None:
        """database: the ledger's, whose commits make it all durable."""
        self._database = database
        self._totals = CrawlTotals()
        self._closed: list[int] = []
        self._at_start = self._last_outside()
        self._outside_before: dict[str, int] = {}  # by unit, when it was last done
        database.run(
            "DELETE FROM failed WHERE job NOT IN (SELECT number FROM jobs) "
            "AND (unit, kind, round) NOT IN (SELECT unit, kind, round FROM finished)"
        )

    # the report module's side

    def finished(self, unit: UnitFinished) -> None:
        """A unit is done; told to the manager until it answered."""
        self._outside_before[unit.unit] = self._last_outside()
        self._database.run(
            "INSERT OR REPLACE INTO finished (unit, kind, round, pages, response_bytes, reason) "
            "VALUES (?,?,?,?,?,?)",
            (
                *(unit.unit, unit.kind, unit.round, unit.pages, unit.response_bytes),
                unit.reason[:MAX_REASON_CHARACTERS],
            ),
        )
        if unit.crawl_delay_s is not None:
            self._keep_delay(unit.host, math.ceil(unit.crawl_delay_s * 1000))
        order = (unit.unit, unit.kind, unit.round)
        if unit.failure is None:
            self._database.run("DELETE FROM failed WHERE unit=? AND kind=? AND round=?", order)
            return
        self._database.run(
            "INSERT OR REPLACE INTO failed (unit, kind, round, job, failure) VALUES (?,?,?,?,?)",
            (*order, unit.job, unit.failure.value),
        )
        self._totals.errors += is_naming_failure(unit.failure)  # no request of it counts one

    def _keep_delay(self, host: str, delay_ms: int) -> None:
        """Keep the Crawl-delay of a host for the reports of all its units."""
        if delay_ms:
            self._database.run("INSERT OR REPLACE INTO crawl_delays VALUES (?,?)", (host, delay_ms))
        elif self._delay_ms(host):
            self._database.run("DELETE FROM crawl_delays WHERE host=?", (host,))

    def _delay_ms(self, host: str) -> int:
        rows = self._database.ask(_DELAY, (host,))
        return rows[0][0] if rows else 0

    def closed(self, unit: UnitClosed) -> None:
        """A unit that left the list is quiet."""
        self._closed.append(unit.job)

    def outside(self, urls: Sequence[Outside]) -> None:
        """URLs for M2; durable with the ledger's next commit."""
        self._database.run_many(
            "INSERT INTO outside (url, referer) VALUES (?,?)",
            [(one.url, one.referer) for one in urls],
        )
        self._totals.discovered += len(urls)

    def addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Record where a host answers from here; reported again only when it changes."""
        text = json.dumps(list(addresses)[:MAX_ADDRESSES])
        if not self._database.ask(_IS_KNOWN, (host, text)):
            self._database.run(
                "INSERT OR REPLACE INTO addresses (host, addresses, told) VALUES (?,?,0)",
                (host, text),
            )

    def requested(self, requests: Sequence[FetchAnswer]) -> None:
        """Requests that were sent, for the counters."""
        self._totals.requests += len(requests)
        for one in requests:
            self._totals.response_bytes += one.response_bytes
            self._totals.errors += one.outcome not in _ANSWERED

    def kept(self, pages: Sequence[Processed]) -> None:
        """Pages that lie in a segment, for the counters; a robots.txt is no page."""
        self._totals.pages += len([page for page in pages if page.job])

    # the link's side

    def pending_finished(self, limit: int) -> list[FinishedUnit]:
        """Return units that are done and not acknowledged, at most `limit`."""
        return [
            FinishedUnit(
                unit=unit,
                kind=kind,
                round=number,
                pages=pages,
                response_bytes=size_bytes,
                reason=reason,
                failure=failure,
                crawl_delay_ms=self._delay_ms(host_of(unit)) if pages else None,
            )
            for unit, kind, number, pages, size_bytes, reason, failure in (
                self._database.ask_committed(_FINISHED, (limit,))
            )
        ]

    def failures(self) -> dict[str, int]:
        """Return how many units that are held failed, by code, most first."""
        return dict(self._database.ask(_FAILURES))

    def failure_of(self, job: int, unit: str) -> HostFailure | None:
        """Return why a job failed, or None: it did not."""
        rows = self._database.ask(_FAILURE, (unit, job))
        return HostFailure(rows[0][0]) if rows else None

    def tells(self, unit: str) -> bool:
        """Return whether a unit is done and not acknowledged, committed or not."""
        return bool(self._database.ask(_IS_FINISHED, (unit,)))

    def forget_finished(self, units: Iterable[FinishedUnit]) -> None:
        """Forget units that the manager acknowledged exactly as reported."""
        units = list(units)
        for one in units:
            self._outside_before.pop(one.unit, None)
        self._database.run_many(
            "DELETE FROM finished WHERE unit=? AND kind=? AND round=? AND pages=? "
            "AND response_bytes=?",
            [(one.unit, one.kind, one.round, one.pages, one.response_bytes) for one in units],
        )

    def pending_addresses(self, limit: int) -> list[HostAddresses]:
        """Return hosts whose addresses the manager does not know, at most `limit`."""
        rows = self._database.ask_committed(_ADDRESSES, (limit,))
        return [HostAddresses(host=host, addresses=tuple(json.loads(text))) for host, text in rows]

    def forget_addresses(self, hosts: Iterable[HostAddresses]) -> None:
        """Note that the manager knows these addresses, where they are still the same."""
        self._database.run_many(
            "UPDATE addresses SET told = 1 WHERE host=? AND addresses=?",
            [(one.host, json.dumps(one.addresses)) for one in hosts],
        )

    def take_outside(self, limit: int) -> OutsideBatch | None:
        """Return the oldest URLs for M2, at most `limit`, without forgetting them."""
        rows = self._database.ask_committed(_OUTSIDE, (limit,))
        if not rows:
            return None
        urls = tuple(Outside(url, referer) for _, url, referer in rows)
        return OutsideBatch(urls, rows[0][0], rows[-1][0])

    def forget_outside(self, batch: OutsideBatch) -> None:
        """Forget a batch that another part keeps from now on."""
        self._database.run(
            "DELETE FROM outside WHERE id BETWEEN ? AND ?", (batch.first, batch.last)
        )

    def outside_before(self, unit: str) -> int:
        """Return the number of the last URL for M2 that was found before a unit was done."""
        return self._outside_before.get(unit, self._at_start)

    def oldest_outside(self) -> int | None:
        """Return the number of the oldest URL for M2 that is still here, or None."""
        [(oldest,)] = self._database.ask_committed(_OLDEST_OUTSIDE)
        return oldest

    def counters(self) -> CrawlTotals:
        """Return the counts so far."""
        return self._totals

    def closed_jobs(self) -> list[int]:
        """Return the jobs that became quiet since the last call."""
        closed, self._closed = self._closed, []
        return closed

    def _last_outside(self) -> int:
        rows = self._database.ask(_LAST_OUTSIDE)
        return rows[0][0] if rows else 0
