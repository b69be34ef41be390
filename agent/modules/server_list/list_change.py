"""A new list beside the jobs that are held: what must change, a slice at a time.

A unit that is there in the same round and kind continues as the same job (to fetch pages again: if
they are the same pages). Jobs that left the list or continue under other orders come first, then
jobs that begin again, then new ones; a job that continues unchanged is not touched.

Invariant: each slice is whole by itself, and what follows of it is in the ledger with it. So a
process that ends between two of them has lost nothing: the next one compares the same list with
the jobs that it finds, and reaches the same result. While a list is taken, only `seed`
opens or drops jobs, and it does as the slices say.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import islice
from typing import Final

from agent.modules.server_list.list_units import Wanted
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.jobs import Job, ListSlice

__all__ = ["CHANGES", "ListChange"]

CHANGES: Final = 40
"""Jobs that begin, end or change in a slice: some 0.2 ms each, with all that follows."""


class ListChange:
    """One list that is being taken; uses up what it is given."""

    def __init__(self, ledger: Ledger, wanted: Wanted) -> None:
        self._ledger = ledger
        self._wanted = wanted
        self._shares_hosts = wanted.shares_hosts
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
                ended.append(before.number)
                continue
            job = want.job(before.unit, round_number, before.number)
            if not _goes_on(before, job):
                anew.append(before.number)
                continue
            del units[before.unit]
            if is_finished:
                self.finished.append(before.number)
            if job != before:
                altered.append(job)
        for first in range(0, len(ended), CHANGES):
            yield self._slice(ended=tuple(ended[first : first + CHANGES]))
        for first in range(0, len(altered), CHANGES):
            yield self._slice(altered=tuple(altered[first : first + CHANGES]))
        if not ended and not altered:
            yield self._slice()

    def _begun_anew(self, numbers: array[int]) -> ListSlice:
        begun = []
        for number in numbers:
            row = self._ledger.job(number)
            want = None if row is None else self._wanted.units.pop(row.job.unit, None)
            if row is not None and want is not None:
                unit = row.job.unit
                begun.append((want.job(unit, self._wanted.round), want.order.referer))
        return self._slice(ended=tuple(numbers), begun=tuple(begun))

    def _slice(
        self,
        *,
        ended: tuple[int, ...] = (),
        altered: tuple[Job, ...] = (),
        begun: tuple[tuple[Job, str | None], ...] = (),
        last: bool = False,
    ) -> ListSlice:
        return ListSlice(ended, altered, begun, self._shares_hosts, last)


def _goes_on(before: Job, job: Job) -> bool:
    """Return whether a job of the new list equals the present one. A refetch compares its pages."""
    if (before.round, before.kind) != (job.round, job.kind):
        return False
    return job.kind != "refetch" or before.start_pages == job.start_pages
