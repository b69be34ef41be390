"""Lines of a server list become hosts and start pages; for imports and for M2 alike.

Invariant: memory is bounded by a batch, whatever the number of lines; each batch is one
transaction, and reading the same lines again changes nothing. Directives and comments mean
nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from manager.db.engine import Transaction
from manager.db.hosts import host_shares, hosts, pieces, start_page_news
from manager.db.hosts import start_pages as starting
from manager.db.hosts.hosts import NewHost
from manager.db.hosts.start_pages import NewStartPage
from manager.db.rounds import rounds
from manager.db.transaction import chunks
from manager.operations.hosts.crawl_scope import deciding_rule
from manager.operations.hosts.found_urls import FoundUrl, parse_found
from manager.operations.hosts.lists.refused_lines import REFUSALS_KEPT, RefusedLine, refused_line
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.errors import ConflictError, PrsmError
from shared.frozen import frozen
from shared.messages import Message
from shared.units import UnitIndex
from shared.urls import reversed_host_key

__all__ = ["Imported", "Tally", "batches", "parsed", "store"]

BATCH: Final = 1_000
IN_RESERVE: Final = 2  # times the start pages that are sent are kept
PAGES_OF_A_PIECE: Final = 100_000  # as many as an agent fetches of a unit


@frozen
class Imported:
    """The outcome of each kind of line.

    refused_lines: the first 1,000 that cannot be used; refused: number and reason of these.
    """

    new: int
    start_pages: int
    known: int
    refused: list[tuple[int, Message]]
    refused_count: int
    refused_lines: list[RefusedLine]


@dataclass(slots=True)
class Tally:
    """Outcome of lines. new: hosts; start_pages: new ones; known: lines without news.

    inside: start pages that one piece of a split host had for another, which no day's limit counts.
    refused: the first 1,000 lines that cannot be used; refused_count: all of them.
    """

    new: int = 0
    start_pages: int = 0
    inside: int = 0
    known: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    refused_count: int = 0

    def refuse(self, line: int, error: PrsmError, text: str) -> None:
        """Count a line that cannot be used."""
        self.refused_count += 1
        if len(self.refused) < REFUSALS_KEPT:
            self.refused.append(refused_line(line, error, text))

    def outcome(self) -> Imported:
        """Return the outcome as people see it."""
        return Imported(
            new=self.new,
            start_pages=self.start_pages + self.inside,
            known=self.known,
            refused=[(one.line, one.reason) for one in self.refused],
            refused_count=self.refused_count,
            refused_lines=self.refused,
        )


def parsed(
    lines: Iterable[tuple[int, str, str | None]], tally: Tally, rules: ScopeRules = EVERYTHING
) -> Iterable[FoundUrl]:
    """Yield what lines (number, URL, referer) name; those that name nothing are tallied.

    rules: of the scope of the crawl; lines outside are tallied, too.
    """
    for number, text, referer in lines:
        try:
            found = parse_found(text, referer)
            _check_scope(found, rules)
            yield found
        except PrsmError as error:
            tally.refuse(number, error, text)


def _check_scope(found: FoundUrl, rules: ScopeRules) -> None:
    rule = deciding_rule(rules, found)
    if not rule.includes:
        raise ConflictError("scope.outside_line", url=found.url, rule=str(rule))


def store(
    tx: Transaction,
    batch: list[FoundUrl],
    found_by: int | None,
    room: int,
    start_pages_limit: int,
    now_ms: int,
    tally: Tally,
) -> int:
    """Store one batch, at most `room` new hosts and start pages; return how many were left out."""
    first: dict[str, FoundUrl] = {}
    for found in batch:
        first.setdefault(found.host, found)
    there = {unit.key for unit in hosts.units_of_hosts(tx, first)}
    new = [found for key, found in first.items() if key not in there]
    left_out = max(0, len(new) - room)
    new = new[: max(0, room)]
    added = hosts.add_hosts(
        tx,
        [
            NewHost(found.host, reversed_host_key(found.host), found_by, found.referer)
            for found in new
        ],
        now_ms,
    )
    pages = _start_pages(tx, batch, found_by)
    inside = [page for page in pages if page.round is not None]
    pages = [page for page in pages if page.round is None]
    room -= added
    left_out += max(0, len(pages) - max(0, room))
    limit = IN_RESERVE * start_pages_limit
    started = starting.add_start_pages(tx, pages[: max(0, room)], limit, now_ms)
    tally.new += added
    tally.start_pages += len(started)
    inside = starting.add_start_pages(tx, inside, PAGES_OF_A_PIECE, now_ms)
    tally.inside += len(inside)
    started += inside
    at_rest = pieces.hosts_of_units(tx, {page.unit_id for page in started})
    pieces.wake(tx, sorted(at_rest))
    start_page_news.add(tx, {page.unit_id for page in started} - at_rest.keys(), now_ms)
    brought = {first[found.host].url for found in new} | {page.url for page in started}
    tally.known += max(0, len(batch) - len(brought) - left_out)
    return left_out


def _start_pages(
    tx: Transaction, batch: list[FoundUrl], found_by: int | None
) -> list[NewStartPage]:
    """Return the pages of a batch, each with the longest unit that holds it.

    A directory's own page is one too. What an agent found in a split host that has a piece of it
    counts for this round only: the next one finds it again, if it is still linked.
    """
    wanted = {found.url: found for found in batch if found.url != found.host}
    if not wanted:
        return []
    units = {
        unit.key: unit
        for unit in hosts.units_of_hosts(tx, {found.host for found in wanted.values()})
        if unit.state != "excluded"
    }
    split = {unit.host_id for unit in units.values() if unit.path != "/"}
    shared = host_shares.hosts_held(tx, found_by, split) if found_by is not None else set()
    number = rounds.last_number(tx) if shared else 0
    index = UnitIndex(units)
    made = []
    for url, found in wanted.items():
        key = index.unit_of(url)
        if key is None:
            continue
        unit = units[key]
        of_round = number if unit.host_id in shared else None
        made.append(NewStartPage(unit.id, url, found.referer, of_round, found_by))
    return made


def batches(found: Iterable[FoundUrl]) -> Iterable[list[FoundUrl]]:
    """Yield lists that one transaction each stores."""
    return chunks(found, BATCH)
