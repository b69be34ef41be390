"""Units of a server list, read from its lines.

Needs neither the ledger nor the loop: of a million lines it takes ten seconds, in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.modules.counts import StopCounts
from agent.pipeline.messages import Job, ServerList
from shared.errors import UrlError
from shared.units import UnitIndex, is_unit, unit_key
from shared.urls import canonical
from shared.wire.orders import Order

__all__ = ["Want", "Wanted", "wanted_of"]


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
            round_number,
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
