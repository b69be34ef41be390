"""Measured pairs of agent and unit: a page of them, or all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.measurement import distance_pairs
from manager.db.measurement.distance_pairs import PairRow, PairWanted
from manager.db.sorted_rows import check_sort
from manager.db.transaction import chunks
from manager.errors import NotFoundError
from manager.operations.identity.enrolment import agent_named
from manager.operations.planning.requested_probes import DAYS_MOST
from shared.errors import FormatError, check_choice
from shared.frozen import frozen
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = ["PAIR_SORTS", "REACHED", "PairFilter", "PairRow", "every_pair", "pairs"]

PAIR_SORTS: Final = ("age", "distance")
REACHED: Final = {"": None, "reached": True, "unreachable": False}
PAGE_MOST: Final = 1000
ROWS_AT_ONCE: Final = 500
DAY_MS: Final = 86_400_000


@frozen
class PairFilter:
    """agent: a name. host: its key or any URL on it. older_days: measured longer ago. reached: one
    of REACHED."""

    agent: str = ""
    host: str = ""
    older_days: float | None = None
    reached: str = ""


def pairs(
    db: Database,
    where: PairFilter,
    now_ms: int,
    *,
    sort: str = "age",
    limit: int = 50,
    offset: int = 0,
) -> list[PairRow]:
    """Return a page of measurements. sort: age (the oldest first) or distance, `-` reverses it.

    By distance only those of an agent or a host. Raises FormatError for another sort or filter,
    NotFoundError for an unknown agent or host.
    """
    _check(where, sort)
    with db.read() as tx:
        wanted = _wanted(tx, where, now_ms)
        return distance_pairs.pairs_page(
            tx, wanted, sort, max(1, min(limit, PAGE_MOST)), max(0, offset)
        )


def every_pair(
    db: Database, where: PairFilter, now_ms: int, *, sort: str = "age"
) -> Iterator[PairRow]:
    """Yield all pairs that match, each once, read when its turn comes.

    Those of an agent or a host are in the order of `pairs`; others come agent by agent, in that
    order each. Only the numbers of an agent's pairs are held, so a reader may be slow. Raises
    what `pairs` does, before the first.
    """
    _check(where, sort)
    with db.read() as tx:
        wanted = _wanted(tx, where, now_ms)
        parts = [wanted]
        if wanted.agent_id is None and wanted.unit_ids is None:
            parts = [replace(wanted, agent_id=agent.id) for agent in agents.named(tx)]
    return _every_pair(db, parts, sort)


def _every_pair(db: Database, parts: list[PairWanted], sort: str) -> Iterator[PairRow]:
    for wanted in parts:
        with db.read() as tx:
            keys = zip(*distance_pairs.pair_keys(tx, wanted, sort), strict=True)
        for some in chunks(keys, ROWS_AT_ONCE):
            with db.read() as tx:
                rows = distance_pairs.pairs_of(tx, some)
            yield from rows


def _check(where: PairFilter, sort: str) -> None:
    check_sort(sort, PAIR_SORTS)
    if sort.endswith("distance") and not (where.agent or where.host):
        raise FormatError("planning.distance_sort_too_wide")
    if where.reached:
        check_choice("reached", where.reached, list(filter(None, REACHED)))
    older = where.older_days
    if older is not None and not 0 <= older <= DAYS_MOST:
        raise FormatError("planning.bad_age", days=older, most=DAYS_MOST)


def _wanted(tx: Transaction, where: PairFilter, now_ms: int) -> PairWanted:
    older = where.older_days
    return PairWanted(
        agent_named(tx, where.agent).id if where.agent else None,
        _units(tx, where.host),
        None if older is None else now_ms - round(older * DAY_MS),
        REACHED[where.reached],
    )


def _units(tx: Transaction, host: str) -> list[int] | None:
    if not host:
        return None
    key = host_key(complete_line(host))
    found = [unit.id for unit in hosts.units_of_hosts(tx, [key], merged=True)]
    if not found:
        raise NotFoundError("hosts.unknown", host=key)
    return found
