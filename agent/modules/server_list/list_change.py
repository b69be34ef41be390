"""A new list, read from its lines, beside the jobs that are held: what must change, in slices.

To read the lines needs neither the ledger nor the loop: of a million it takes ten seconds, in a
thread.

A unit that is there in the same round and kind continues as the same job (to fetch pages again: if
they are the same pages). So does one that was carried over from its job's round into another one,
unless it is finished already: then it is reported as what it was. A crawl that is done stays for
its round also when it left the list: the manager may send its unit again, with pages that others
found. So does a probe that ended as it should: the crawl of its unit in that round continues it,
where the list says that the probe counts (`#Probed=1`). Jobs that left the list or continue under
other orders come first, then jobs that begin again, then new ones; a job that continues unchanged
is not touched.

Invariant: each slice is whole by itself, and what follows of it is in the ledger with it. So a
process that ends between two of them has lost nothing: the next one compares the same list with
the jobs that it finds, and reaches the same result. While a list is taken, only `seed`
opens or drops jobs, and it does as the slices say.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Final

from agent.modules.counts import StopCounts
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.jobs import Job, ListSlice, ServerList
from shared.errors import UrlError
from shared.units import UnitIndex, is_unit, is_whole_host, unit_key
from shared.urls import canonical
from shared.wire.orders import Order

__all__ = ["CHANGES", "ListChange", "Want", "Wanted", "wanted_of"]

CHANGES: Final = 40
"""Jobs that begin, end or change in a slice: some 0.2 ms each, with all that follows."""


class ListChange:
    """One list that is being taken; uses up what it is given."""

    def __init__(self, ledger: Ledger, wanted: Wanted) -> None:
        self._ledger = ledger
        self._wanted = wanted
        self._slice = partial(ListSlice, shares_hosts=wanted.shares_hosts)
        self.finished = array("q")
        """Numbers of the jobs that continue though they are done: the manager does not know it."""

    def slices(self) -> Iterator[ListSlice]:
        """Yield what is to be changed; the next slice when the one before is carried out.

        Some say nothing: to look through some jobs takes as long as to change a few.
        """
        anew = array("q")
        for part in self._ledger.orders():
            yield from self._compared(part, anew)
        units = self._wanted.units
        for first in range(0, len(anew), CHANGES // 2):  # each is an end and a begin
            yield self._begun_anew(anew[first : first + CHANGES // 2])
        rest = iter(tuple(units))
        while some := tuple(islice(rest, CHANGES)):
            begun = []
            for unit in some:
                want = units.pop(unit)
                begun.append((want.job(unit, self._wanted.round), want.order.referer))
            yield self._slice(begun=tuple(begun))
        yield self._slice(last=True)

    def _compared(self, part: list[tuple[Job, bool]], anew: array[int]) -> Iterator[ListSlice]:
        units, round_number = self._wanted.units, self._wanted.round
        ended: list[int] = []
        altered: list[Job] = []
        for before, is_finished in part:
            want = units.get(before.unit)
            if want is None:
                if not (is_finished and self._may_return(before)):
                    ended.append(before.number)
                continue
            job = want.job(before.unit, round_number, before.number)
            was_probed = want.order.probed and is_finished and self._follows_probe(before, job)
            if not was_probed and not _goes_on(before, job, want.order.continues):
                anew.append(before.number)
                continue
            job = self._with_past(before, job, is_finished)
            del units[before.unit]
            if is_finished and not was_probed:
                self.finished.append(before.number)
            if job != before:
                altered.append(job)
        for first in range(0, len(ended), CHANGES):
            yield self._slice(ended=tuple(ended[first : first + CHANGES]))
        for first in range(0, len(altered), CHANGES):
            yield self._slice(altered=tuple(altered[first : first + CHANGES]))
        if not ended and not altered:
            yield self._slice()

    def _may_return(self, job: Job) -> bool:
        """Return whether a unit that is done may come back in its round, with more start pages.

        A directory may be a part of its host again, whose job then has its pages. A probe may
        become a crawl.
        """
        same_round = 0 < job.round == self._wanted.round
        if job.kind == "probe":
            return same_round and self._ledger.may_reopen(job.number)
        return same_round and job.kind == "crawl" and is_whole_host(job.unit) and not job.is_piece

    def _follows_probe(self, before: Job, job: Job) -> bool:
        """Return whether a crawl of a whole host begins where the probe before it ended."""
        return (
            (before.kind, job.kind, before.round) == ("probe", "crawl", job.round)
            and not job.is_piece
            and not job.excepted
            and self._ledger.may_reopen(before.number)
        )

    def _with_past(self, before: Job, job: Job, is_finished: bool) -> Job:
        """Return a job that continues, with what it fetched in the rounds before."""
        if job.round == before.round or is_finished:
            past = before.pages_before, before.bytes_before
            return replace(job, round=before.round, pages_before=past[0], bytes_before=past[1])
        row = self._ledger.job(before.number)
        if row is None:
            return job
        return replace(job, pages_before=row.pages, bytes_before=row.response_bytes)

    def _begun_anew(self, numbers: array[int]) -> ListSlice:
        begun = []
        for number in numbers:
            row = self._ledger.job(number)
            want = None if row is None else self._wanted.units.pop(row.job.unit, None)
            if row is not None and want is not None:
                unit = row.job.unit
                begun.append((want.job(unit, self._wanted.round), want.order.referer))
        return self._slice(ended=tuple(numbers), begun=tuple(begun))


def _goes_on(before: Job, job: Job, continues: int | None) -> bool:
    """Return whether a job of the new list equals the present one. A refetch compares its pages.

    continues: the oldest round whose job continues in another round.
    """
    first = job.round if continues is None else continues
    if before.kind != job.kind or not first <= before.round <= job.round:
        return False
    return job.kind != "refetch" or before.start_pages == job.start_pages


@dataclass(slots=True)
class Want:
    """Order of a list for one unit; its last line counts."""

    order: Order
    start_pages: list[tuple[str, str | None]] = field(default_factory=list)

    def job(self, unit: str, round_number: int, number: int = 0) -> Job:
        """Return the job that does this; number 0: it has none yet."""
        order = self.order
        return Job(
            number,
            unit,
            order.kind,
            round_number if order.round is None else order.round,
            order.max_transfer,
            order.interval_ms,
            order.excepted,
            tuple(self.start_pages),
            order.share,
        )


@dataclass(slots=True)
class Wanted:
    """A whole list, by unit, in its order. skipped: counts lines that mean nothing here."""

    round: int
    units: dict[str, Want] = field(default_factory=dict)
    skipped: StopCounts = field(default_factory=StopCounts)

    @property
    def shares_hosts(self) -> bool:
        """Return whether any unit is a piece of a split host."""
        return any(
            want.order.share > 0 and want.order.kind == "crawl" for want in self.units.values()
        )


def wanted_of(server_list: ServerList) -> Wanted:
    """Return what a list wants; a start page belongs to the longest unit that holds it."""
    wanted = Wanted(server_list.head.round or 0)
    pages: list[tuple[str, str | None]] = []
    for order in server_list.orders:
        try:
            url = canonical(order.url)
            if not is_unit(url):
                pages.append((url, order.referer))
                continue
            wanted.units[unit_key(url)] = Want(order)
            top = url[: url.index("/", 8)]
            pages += ((canonical(top + path), referer) for path, referer in order.starts)
            pages += ((canonical(top + path), None) for path in order.only)
        except UrlError as error:
            wanted.skipped.add("list: no URL to crawl", str(error))
    index = UnitIndex(wanted.units)
    for url, referer in pages:
        unit = index.unit_of(url)
        if unit is None:
            wanted.skipped.add("list: start page of no unit of the list", url)
        else:
            wanted.units[unit].start_pages.append((url, referer))
    return wanted
