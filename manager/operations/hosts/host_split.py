"""Split a host that is too big for one agent into directories.

Invariants: every page of the host lies in exactly one unit before and after, and every unit that
may be crawled has one owner. A host is split or merged only while no agent has a right to any of
it, and a round that is open has all of it before or all of it behind it: so no page is left out,
and none is fetched by two. A merged directory keeps its history.
`manager.balancing.pieces` decides where to cut, the tick decides who fetches when.
Whether a split pays is asked in `splits.proposals`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from manager.balancing.pieces import Cut
from manager.db.engine import Database, Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import host_shares, hosts, start_pages
from manager.db.hosts import pieces as units_of_pieces
from manager.db.hosts.hosts import HostRow, UnitRow
from manager.db.measurement import measurements
from manager.db.ownership import assignments
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.hosts.crawl_scope import close_outside
from manager.operations.hosts.idle_hosts import check_idle, host_and_units
from manager.operations.hosts.splits.changes import FIGURE, record_change
from manager.operations.hosts.splits.pieces import (
    INTERVAL_MOST_S,
    MOST_PIECES,
    USUAL_PIECES,
    DirectorySize,
    Piece,
    cut_host,
    directories_of,
    is_by_robots,
    pause_of,
    pieces_of,
    takers_of,
)
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message
from shared.units import UnitIndex

__all__ = ["Split", "split_host"]

SPLIT: Final = Message("ownership.host_split")


@frozen
class Split:
    """A split of a host, by the newest crawl. unevenness: the longest piece over the mean.

    interval_s: of the host; each agent keeps as many of them as there are pieces. applied: False
    for a preview.
    """

    host: str
    round: int
    interval_s: float
    pieces: tuple[Piece, ...]
    unevenness: float
    applied: bool


def split_host(
    db: Database,
    key: str,
    actor: Actor,
    now_ms: int,
    *,
    parts: int | None = None,
    interval_s: float | None = None,
    dry_run: bool = False,
    policy: Policy = DEFAULT_POLICY,
) -> Split:
    """Cut a host into pieces for several agents by what its newest crawl said of its directories.

    parts: agents at once; None: all that could, eight at most. interval_s: between two requests
    to the host, whoever sends them; None: as its owner keeps it alone (`pause_of`).
    Raises NotFoundError, UrlError, FormatError for numbers out of range, ConflictError with the
    reason why it cannot be split now.
    """
    if interval_s is not None and not 0 <= interval_s <= INTERVAL_MOST_S:
        raise FormatError("hosts.interval_range", value=interval_s, most=INTERVAL_MOST_S).about(
            "interval_s"
        )
    if parts is not None and not 2 <= parts <= MOST_PIECES:
        raise FormatError("hosts.pieces_range", value=parts, most=MOST_PIECES).about("pieces")
    with db.write() as tx:
        host, units = host_and_units(tx, key)
        if len(units) > 1:
            raise ConflictError("hosts.already_split", host=host.key)
        check_idle(tx, host, units, policy, now_ms, alone=True)
        taking = takers_of(tx, host, units[0].id)
        if parts is not None and parts > len(taking):
            raise ConflictError("hosts.too_many_pieces", value=parts, agents=len(taking)).about(
                "pieces"
            )
        found = directories_of(tx, host)
        if interval_s is None:
            interval_s = pause_of(tx, host.id, units[0].id, found, policy) / 1000
        made = cut_host(host, found, parts or min(len(taking), USUAL_PIECES), interval_s * 1000)
        pieces = pieces_of(host, made, found, taking)
        split = Split(host.key, found.round, interval_s, pieces, made.unevenness, applied=False)
        if dry_run:
            return split
        _carry_out(tx, host, units[0], made, found.sizes, taking, interval_s, now_ms)
        by_robots = is_by_robots(tx, host.id, units[0].id, found, policy, interval_s * 1000)
        record_change(tx, host.id, actor, now_ms, by_robots=by_robots)
        note(
            tx,
            now_ms,
            actor,
            "host.split",
            host.key,
            pieces=len(made.parts),
            units=made.units,
            interval_s=interval_s,
            agents=[piece.agent for piece in split.pieces],
        )
    db.figures.forget(FIGURE)
    return replace(split, applied=True)


def _carry_out(
    tx: Transaction,
    host: HostRow,
    top: UnitRow,
    made: Cut,
    sizes: Mapping[str, DirectorySize],
    taking: list[AgentRow],
    interval_s: float,
    now_ms: int,
) -> None:
    prefix = host.key[:-1]
    keys = {unit: prefix + unit for part in made.parts for unit in part if unit != "/"}
    ids = units_of_pieces.add_units(tx, host.id, keys, top.state)
    ids = {path: unit for path, unit in ids.items() if path == "/" or path in keys}
    host_shares.begin(tx, host.id, round(interval_s * 1000))
    if top.state == "placed":
        owners = {
            ids[unit]: taking[part].id for part, units in enumerate(made.parts) for unit in units
        }
        assignments.place(tx, owners, now_ms, SPLIT)
        _enter(tx, top.id, owners)
    close_outside(tx, list(ids.values()), now_ms)  # a crawl before the scope named them
    index = UnitIndex(prefix + path for path in ids)
    moves = {}
    for page in start_pages.start_pages_of(tx, [ids["/"]]):
        unit = index.unit_of(page.url)
        if unit is not None and unit != host.key:
            moves[page.id] = ids[unit[len(prefix) :]]
    start_pages.move_start_pages(tx, moves)
    volumes: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for path, size in sizes.items():
        unit = index.unit_of(prefix + path)
        assert unit is not None, "`/` holds everything"
        volume = volumes[unit[len(prefix) :]]
        volume[0] += size.size_bytes / 1000
        volume[1] += size.pages
    for path, (volume_kb, pages) in volumes.items():
        hosts.set_volume(tx, ids[path], volume_kb, round(pages))
    distances = measurements.distances_of_units(tx, [ids["/"]])
    measurements.set_distances(
        tx,
        [
            replace(row, unit_id=unit)
            for row in distances
            for path, unit in ids.items()
            if path != "/"
        ],
    )


def _enter(tx: Transaction, top: int, owners: Mapping[int, int]) -> None:
    """Enter the pieces into the open rounds: to be crawled, or crawled where the host is."""
    for current in rounds.open_rounds(tx):
        behind = round_units.ended_among(tx, current.number, [top])
        if behind:
            [(_, agent, ended_ms)] = behind
            pieces = [unit for unit in owners if unit != top]
            round_units.enter_ended(tx, current.number, pieces, agent, ended_ms)
        elif current.state == "crawling" and current.carried_ms is None:
            round_units.enter(tx, current.number, owners)
            round_units.hand_over(tx, current.number, owners)
