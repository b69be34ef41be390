"""Split a host that is too big for one agent into directories.

Invariants: every page of the host lies in exactly one unit before and after, and every unit that
may be crawled has one owner. A host is split or merged only while no agent has a right to any of it
and nothing of it was fetched in the present round: so no page is left out, and none is fetched by
two. A merged directory keeps its history.
`manager.balancing.pieces` decides where to cut, the tick decides who fetches when.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from manager.balancing.pieces import Cut, cut
from manager.db.engine import Database, Transaction
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import directories, host_shares, hosts, pieces, start_pages
from manager.db.hosts.hosts import HostRow, UnitRow
from manager.db.measurement import measurements
from manager.db.ownership import assignments, pins
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.hosts.idle_hosts import check_idle, host_and_units
from manager.operations.ownership.reassignment import members
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message
from shared.units import UnitIndex

__all__ = ["Piece", "Split", "split_host", "takers_of"]

INTERVAL_MOST_S: Final = 86_400
MOST_PIECES: Final = 64
USUAL_PIECES: Final = 8
WORTHLESS: Final = 0.9
"""Share of the work: if one agent had as much, a split would be of no use."""
LONGEST_PATH: Final = 500
SPLIT: Final = Message("ownership.host_split")


@frozen
class Piece:
    """An agent's part of a split host. share: of the work, between 0 and 1."""

    agent: str
    units: tuple[str, ...]
    pages: int
    size_bytes: int
    share: float


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
    to the host, whoever sends them; None: the policy's. Raises NotFoundError, UrlError, FormatError
    for numbers out of range, ConflictError with the reason why it cannot be split now.
    """
    interval_s = policy.split_interval_s if interval_s is None else interval_s
    if not 0 <= interval_s <= INTERVAL_MOST_S:
        raise FormatError("hosts.interval_range", value=interval_s, most=INTERVAL_MOST_S).about(
            "interval_s"
        )
    if parts is not None and not 2 <= parts <= MOST_PIECES:
        raise FormatError("hosts.pieces_range", value=parts, most=MOST_PIECES).about("pieces")
    with db.write() as tx:
        host, units = host_and_units(tx, key)
        if len(units) > 1:
            raise ConflictError("hosts.already_split", host=host.key)
        check_idle(tx, host, units, alone=True)
        taking = takers_of(tx, host, units[0].id)
        if parts is not None and parts > len(taking):
            raise ConflictError("hosts.too_many_pieces", value=parts, agents=len(taking)).about(
                "pieces"
            )
        sizes, number = _directories(tx, host, interval_s)
        made = cut(
            {path: size.work for path, size in sizes.items()},
            parts or min(len(taking), USUAL_PIECES),
        )
        if max(made.weights) > WORTHLESS * sum(made.weights):
            raise ConflictError("hosts.one_large_directory", host=host.key, round=number)
        split = _described(host, made, sizes, number, interval_s, taking)
        if dry_run:
            return split
        _carry_out(tx, host, units[0], made, sizes, taking, interval_s, now_ms, policy)
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
    return replace(split, applied=True)


@dataclass(slots=True)
class _Size:
    """Size of a directory by the newest crawl. work: ms of waiting and transfer."""

    pages: int = 0
    size_bytes: int = 0
    work: float = 0.0


def takers_of(tx: Transaction, host: HostRow, top: int) -> list[AgentRow]:
    """Return who could take a piece: the owner first, then the nearest."""
    groups = [] if host.group_id is None else [host.group_id]
    banned = {ban.agent_id for ban in pins.bans_of_hosts(tx, group_ids=groups)}
    taking = [row for row in members(tx) if not row.is_plain and row.id not in banned]
    if len(taking) < 2:
        raise ConflictError("hosts.too_few_agents", host=host.key, agents=len(taking))
    owner = assignments.owners_of(tx, [top]).get(top)
    far = {row.agent_id: row.ms_per_kb for row in measurements.distances_of_units(tx, [top])}

    def order(row: AgentRow) -> tuple[bool, bool, float, float, int]:
        distance = far.get(row.id)
        return row.id != owner, distance is None, distance or 0.0, row.load_ms, row.id

    return sorted(taking, key=order)


def _directories(tx: Transaction, host: HostRow, interval_s: float) -> tuple[dict[str, _Size], int]:
    """Return what the newest crawl said of each directory, and which round that was."""
    number = directories.newest_round(tx, host.id)
    if number is None:
        raise ConflictError("hosts.directories_unknown", host=host.key)
    sizes: dict[str, _Size] = defaultdict(_Size)
    rows = directories.crawled_in(tx, host.id, number)
    whole = measurements.crawled_of_host(tx, host.id, number)
    # Of a host that became big by its third log, the first two are in no directory: the others
    # stand for them.
    times = max(1.0, whole.requests / max(1, sum(row.requests for row in rows)))
    for row in rows:
        # A path with two slashes in a row, or an endless one, is no directory to give away.
        good = "//" not in row.path and len(row.path) <= LONGEST_PATH
        size = sizes[row.path if good else "/"]
        size.pages += round(row.pages * times)
        size.size_bytes += round(row.response_bytes * times)
        size.work += (row.requests * interval_s * 1000 + row.ms) * times
    _ = sizes["/"]  # of which there is always a unit
    return dict(sizes), number


def _described(
    host: HostRow,
    made: Cut,
    sizes: Mapping[str, _Size],
    number: int,
    interval_s: float,
    taking: list[AgentRow],
) -> Split:
    part_of = _part_of(made, host, sizes)
    pages, bytes_of = [0] * len(made.parts), [0] * len(made.parts)
    for path, size in sizes.items():
        pages[part_of[path]] += size.pages
        bytes_of[part_of[path]] += size.size_bytes
    total = sum(made.weights) or 1.0
    found = tuple(
        Piece(
            taking[part].name,
            tuple(sorted(units)),
            pages[part],
            bytes_of[part],
            made.weights[part] / total,
        )
        for part, units in enumerate(made.parts)
    )
    return Split(host.key, number, interval_s, found, made.unevenness, applied=False)


def _part_of(made: Cut, host: HostRow, paths: Iterable[str]) -> dict[str, int]:
    """Return which part each directory lies in."""
    prefix = host.key[:-1]
    part_of = {prefix + unit: part for part, units in enumerate(made.parts) for unit in units}
    index = UnitIndex(part_of)
    found = {}
    for path in paths:
        unit = index.unit_of(prefix + path)
        assert unit is not None, "`/` holds everything"
        found[path] = part_of[unit]
    return found


def _carry_out(
    tx: Transaction,
    host: HostRow,
    top: UnitRow,
    made: Cut,
    sizes: Mapping[str, _Size],
    taking: list[AgentRow],
    interval_s: float,
    now_ms: int,
    policy: Policy,
) -> None:
    prefix = host.key[:-1]
    keys = {unit: prefix + unit for part in made.parts for unit in part if unit != "/"}
    ids = pieces.add_units(tx, host.id, keys, top.state)
    ids = {path: unit for path, unit in ids.items() if path == "/" or path in keys}
    host_shares.begin(tx, host.id, round(interval_s * 1000))
    if top.state == "placed":
        owners = {
            ids[unit]: taking[part].id for part, units in enumerate(made.parts) for unit in units
        }
        assignments.place(tx, owners, now_ms, SPLIT)
        for current in rounds.open_rounds(tx):
            if current.state == "crawling" and current.carried_ms is None:
                round_units.enter(tx, current.number, owners)
                round_units.hand_over(tx, current.number, owners)
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
