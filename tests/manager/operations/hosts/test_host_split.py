"""A big host is split by its directories among agents, crawled at one rate, and merged again."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.assignment.host_shares import share_ms
from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.ownership import assignments as placing
from manager.db.ownership import rights
from manager.db.rounds import round_units, rounds
from manager.db.tables import assignments, start_pages, unit_rounds, units
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.server_lists import current_list
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.addresses import record_addresses
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host, import_hosts, include_host
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from shared.errors import FormatError
from shared.messages import Message
from shared.units import UnitIndex
from shared.wire.orders import Order, orders
from shared.wire.sync import FinishedUnit, HostRest
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

HOST = "http://big.example.jp:80/"
OTHER = "http://small.example.jp:80/"
NAMES = ("a", "b", "c")


@kept_world
def crawled(db: Database, *names: str, sizes: dict[str, int] | None = None) -> World:
    """Return a world after a round whose logs said what the big host's directories hold."""
    world = World(db)
    world.join(*(names or NAMES))
    world.hosts("big.example.jp", "small.example.jp")
    start_round(db, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    owner = world.agents[owners(world)[HOST]].identity.id
    know_directories(db, HOST, owner, sizes)
    return world


def owners(world: World) -> dict[str, str]:
    """Return who owns which unit of the big host."""
    detail = host_detail(world.db, HOST)
    key = {unit.id: unit.key for unit in detail.units}
    return {
        key[row.unit_id]: detail.agents[row.agent_id]
        for row in detail.owners
        if row.until_ms is None
    }


def listed(world: World, name: str) -> list[Order]:
    version = current_list(world.db, world.agents[name].identity, world.now_ms, world.policy)
    return [
        one for one in orders(version.lines) if isinstance(one, Order) and one.url.startswith(HOST)
    ]


def begin_crawl(world: World) -> None:
    """Start a round without probes and let every agent take its list."""
    start_round(world.db, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in world.agents:
            world.call(name)
    world.check_exclusive()


def found(world: World, name: str, *urls: str) -> None:
    """Let an agent send pages that it found outside its units."""
    lines = [(number, url, HOST) for number, url in enumerate(urls, 1)]
    record_discovered(world.db, world.agents[name].identity, lines, world.now_ms, world.policy)


def test_a_preview_changes_nothing(database: Database) -> None:
    """What is cut is shown first: pieces, agents, pages, shares that add up to the whole."""
    world = crawled(database)
    before = owners(world)
    made = split_host(database, HOST, ADMIN, world.now_ms, dry_run=True)
    assert not made.applied
    assert len(made.pieces) == 3
    assert {piece.agent for piece in made.pieces} == set(NAMES)
    assert sum(piece.share for piece in made.pieces) == pytest.approx(1.0)
    assert sum(piece.pages for piece in made.pieces) == 1200
    assert "/" in made.pieces[0].units
    assert made.pieces[0].agent == before[HOST]
    assert made.unevenness < 1.2
    assert owners(world) == before


def test_each_piece_has_one_owner_and_the_history_goes_on(database: Database) -> None:
    """Splitting opens assignments of the directories; every page lies in exactly one unit."""
    world = crawled(database)
    before = owners(world)
    made = split_host(database, HOST, ADMIN, world.now_ms)
    after = owners(world)
    assert set(after) == {HOST[:-1] + unit for piece in made.pieces for unit in piece.units}
    assert after[HOST] == before[HOST]
    assert set(after.values()) == set(NAMES)
    assert check(database) == []
    [entry] = audit_page(database, action="host.split")
    assert (entry.subject, entry.actor_name) == (HOST, ADMIN.name)
    index = UnitIndex(after)
    assert index.unit_of(HOST + "news/x.html") != index.unit_of(HOST + "docs/x.html")


def test_pieces_are_crawled_at_once_at_the_hosts_rate(database: Database) -> None:
    """Each owner keeps as many intervals as there are owners, and is told what others own."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms, interval_s=7)
    begin_crawl(world)
    mine = owners(world)
    for name in NAMES:
        lines = listed(world, name)
        assert {one.url for one in lines} == {unit for unit, owner in mine.items() if owner == name}
        assert {one.interval_ms for one in lines} == {share_ms(7_000, 3)}
        assert {one.share for one in lines} == {3}
        for one in lines:
            inside = {
                unit.removeprefix(HOST[:-1])
                for unit, owner in mine.items()
                if owner != name and unit.startswith(one.url) and unit != one.url
            }
            assert set(one.excepted) == inside
    assert check(database) == []


def test_a_host_is_done_when_nothing_is_left_of_any_piece(database: Database) -> None:
    """A piece of which nothing is left waits for the others: they may find more of it."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    mine = owners(world)
    first, *others = NAMES
    for unit in [unit for unit, owner in mine.items() if owner == first]:
        world.fetch(first, unit)
    world.call(first)
    world.tick()
    assert states(world) == {"granted"}
    assert {one.url for one in listed(world, first)} >= {
        unit for unit, owner in mine.items() if owner == first
    }
    for name in others:
        world.work(name)
        world.call(name)
    world.tick()
    assert states(world) == {"finished"}
    world.run()
    assert check(database) == []


def test_a_page_that_one_finds_for_another_wakes_its_piece(database: Database) -> None:
    """It goes to the list of its owner with the referer, and the host is not done before it is."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    mine = owners(world)
    directory = next(unit for unit in mine if unit != HOST)
    owner = mine[directory]
    for name in NAMES:
        if name != next(one for one in NAMES if one != owner):
            world.work(name)
            world.call(name)
    finder = next(one for one in NAMES if one != owner)
    found(world, finder, directory + "new.html", directory + "sub/", directory)
    world.work(finder)
    world.call(finder)
    world.tick()
    assert states(world) == {"granted"}  # all rest but for what was found
    lines = listed(world, owner)
    assert Order(directory + "new.html", HOST) in lines
    [unit] = [one for one in lines if one.url == directory]
    path = directory.removeprefix(HOST[:-1])
    assert set(unit.starts) == {(path, HOST), (path + "sub/", HOST)}


def test_who_has_not_heard_of_a_new_page_cannot_end_its_piece(database: Database) -> None:
    """A claim that was sent under the list before the page was found says nothing of it."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    mine = owners(world)
    directory = next(unit for unit in mine if unit != HOST)
    owner = mine[directory]
    finder = next(one for one in NAMES if one != owner)
    for name in NAMES:
        world.work(name)
    found(world, finder, directory + "new.html")
    for name in NAMES:
        if name != owner:
            world.call(name)
    world.sync(owner)  # under the old list
    world.tick()
    assert states(world) == {"granted"}
    world.take_list(owner)
    agent = world.agents[owner]
    agent.unanswered = [one for one in told(world, owner, mine) if one.unit.startswith(HOST)]
    world.sync(owner)
    world.tick()
    assert states(world) == {"finished"}


def test_found_pages_count_for_their_round_only(database: Database) -> None:
    """The next round finds them again, if they are still linked; imported ones stay."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    directory = next(unit for unit in owners(world) if unit != HOST)
    finder = next(name for name in NAMES if name != owners(world)[directory])
    found(world, finder, directory + "found.html")
    import_hosts(database, [(1, directory + "kept.html")], ADMIN, world.now_ms, world.policy)
    assert pages(database) == {directory + "found.html", directory + "kept.html"}
    for _ in range(4):
        for name in NAMES:
            world.call(name)
            agent = world.agents[name]
            agent.unanswered += told(world, name, owners(world))
            world.call(name)
        world.wait(world.policy.tick_s)
        world.tick()
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    assert pages(database) == {directory + "kept.html"}


def test_start_pages_go_with_their_directory_and_come_back(database: Database) -> None:
    """What people asked for is in the unit that holds it, before and after."""
    world = crawled(database)
    page = HOST + "news/old.html"
    import_hosts(database, [(1, page), (2, HOST + "x.html")], ADMIN, world.now_ms, world.policy)
    made = split_host(database, HOST, ADMIN, world.now_ms)
    unit = UnitIndex(HOST[:-1] + one for piece in made.pieces for one in piece.units).unit_of(page)
    assert unit == unit_of(database, page)
    assert merge_host(database, HOST, ADMIN, world.now_ms) >= 2
    assert unit_of(database, page) == HOST


def test_merging_makes_one_unit_again(database: Database) -> None:
    """The directories' assignments are closed, their rows stay, and it can be split again."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    pieces = len(owners(world))
    assert merge_host(database, HOST, ADMIN, world.now_ms) == pieces - 1
    assert set(owners(world)) == {HOST}
    with database.read() as tx:
        closed = tx.values(
            sa.select(assignments.c.reason_closed).where(assignments.c.until_ms.is_not(None))
        )
        kept = tx.values(sa.select(units.c.key).where(units.c.merged_ms.is_not(None)))
    assert closed.count(Message("ownership.merged")) == len(kept) == pieces - 1
    begin_crawl(world)
    [order] = [one for name in NAMES for one in listed(world, name)]
    assert order == Order(HOST)
    world.run()
    again = split_host(database, HOST, ADMIN, world.now_ms)
    assert {HOST[:-1] + unit for piece in again.pieces for unit in piece.units} == set(
        owners(world)
    )
    assert check(database) == []


def test_an_excluded_host_comes_back_in_its_pieces(database: Database) -> None:
    """Excluding takes all units out, including lets all in; merged ones stay where they are."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    pieces = set(owners(world))
    exclude_host(database, HOST, "asked", ADMIN, world.now_ms)
    assert owners(world) == {}
    with pytest.raises(ConflictError, match="excluded"):
        merge_host(database, HOST, ADMIN, world.now_ms)
    include_host(database, HOST, ADMIN, world.now_ms)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    assert set(owners(world)) == pieces
    assert check(database) == []


def test_an_owner_that_is_lost_is_followed_within_the_shares(database: Database) -> None:
    """Its pieces go to others, who keep the same share: the host sees no more than before."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    lost = owners(world)[next(unit for unit in owners(world) if unit != HOST)]
    others = [name for name in NAMES if name != lost]
    for _ in range(20):
        world.wait(50)
        world.tick()
        for name in others:
            world.call(name)
        world.check_exclusive()
    assert check(database) == []
    assert lost not in owners(world).values()
    intervals = {one.interval_ms for name in others for one in listed(world, name)}
    assert intervals == {share_ms(20_000, 3)}
    world.run(names=others)
    assert check(database) == []


def test_a_new_agent_gets_a_share_when_the_others_know(database: Database) -> None:
    """A piece that moves to a third agent waits until the two know that they are three."""
    world = crawled(database, "a", "b")
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    world.join("c")
    mine = owners(world)
    giver = next(name for name in "ab" if list(mine.values()).count(name) > 1)
    moved = next(unit for unit, name in mine.items() if name == giver and unit != HOST)
    give(world, moved, "c")
    world.call(giver)  # it has let go of the piece
    world.tick()
    world.call("c")
    assert listed(world, "c") == []
    assert shares(world) == 3
    for _ in range(2):
        for name in "ab":
            world.call(name)
        world.tick()
    world.call("c")
    world.check_exclusive()
    assert [one.interval_ms for one in listed(world, "c")] == [share_ms(20_000, 3)]
    assert {one.interval_ms for one in listed(world, "a") + listed(world, "b")} == {
        share_ms(20_000, 3)
    }
    assert check(database) == []


def test_what_one_is_told_to_wait_all_wait(database: Database) -> None:
    """A Retry-After at one agent is the others' interval, until it is over."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms, interval_s=2)
    begin_crawl(world)
    first, *others = NAMES
    world.rests[first] = [
        HostRest(host=HOST, rest_ms=120_000, remaining_ms=90_000, reason="status 429"),
        HostRest(host=OTHER, rest_ms=120_000, remaining_ms=90_000),  # not shared
    ]
    world.sync(first)
    world.rests.clear()
    world.tick()
    assert {one.interval_ms for one in listed(world, first)} == {share_ms(2_000, 3)}
    for name in others:
        world.call(name)
        assert {one.interval_ms for one in listed(world, name)} == {120_000}
    lists = {name: world.agents[name].held for name in NAMES}
    world.rests[first] = [HostRest(host=HOST, rest_ms=120_000, remaining_ms=60_000)]
    world.sync(first)
    world.rests.clear()
    world.tick()
    for name in others:
        world.call(name)
    assert {name: world.agents[name].held for name in others} == {
        name: lists[name] for name in others
    }  # the same again is no news
    for _ in range(3):
        world.wait(50)
        world.tick()
        for name in NAMES:
            world.call(name)
    for name in others:
        assert {one.interval_ms for one in listed(world, name)} == {share_ms(2_000, 3)}
    assert check(database) == []


def test_who_has_no_piece_slows_nobody_down(database: Database) -> None:
    """An agent cannot make others wait at a host that it has nothing of."""
    world = crawled(database, "a", "b")
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    world.join("c")
    world.rests["c"] = [HostRest(host=HOST, rest_ms=10**9, remaining_ms=10**9)]
    world.sync("c")
    world.tick()
    for name in "ab":
        world.call(name)
        assert {one.interval_ms for one in listed(world, name)} == {share_ms(20_000, 2)}


def test_a_second_host_at_the_address_ends_the_sharing(database: Database) -> None:
    """An address with several hosts is one agent's; the pieces go together."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    with database.write() as tx:
        agent_id = world.agents["a"].identity.id
        other = host_detail(database, OTHER).host.id
        record_addresses(tx, agent_id, {other: set(world.address[HOST])}, world.now_ms)
    assert len(set(owners(world).values())) == 1
    assert check(database) == []
    for _ in range(4):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in NAMES:
            world.call(name)
    world.check_exclusive()
    world.run()
    assert check(database) == []


def test_a_host_that_cannot_be_split_now_is_refused_in_words(database: Database) -> None:
    """Why not, and what to do: unknown, excluded, under way, too few agents, nothing known."""
    world = crawled(database)
    with pytest.raises(NotFoundError, match="import it first"):
        split_host(database, "nowhere.example", ADMIN, world.now_ms)
    with pytest.raises(FormatError, match="2 to 64"):
        split_host(database, HOST, ADMIN, world.now_ms, parts=1)
    with pytest.raises(FormatError, match="interval_s"):
        split_host(database, HOST, ADMIN, world.now_ms, interval_s=-1)
    with pytest.raises(ConflictError, match="only 3 agents can get one"):
        split_host(database, HOST, ADMIN, world.now_ms, parts=4)
    with pytest.raises(ConflictError, match="the sizes of its directories are not known"):
        split_host(database, OTHER, ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="is not split"):
        merge_host(database, HOST, ADMIN, world.now_ms)
    exclude_host(database, HOST, "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="excluded"):
        split_host(database, HOST, ADMIN, world.now_ms)
    include_host(database, HOST, ADMIN, world.now_ms)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        world.tick()
        for name in NAMES:
            world.call(name)
    with pytest.raises(ConflictError, match="being crawled in round 2"):
        split_host(database, HOST, ADMIN, world.now_ms)
    owner = owners(world)[HOST]
    world.fetch(owner, HOST)
    world.call(owner)
    with pytest.raises(ConflictError, match="was crawled in round 2"):
        split_host(database, HOST, ADMIN, world.now_ms)
    world.run()
    assert len(split_host(database, HOST, ADMIN, world.now_ms).pieces) == 3
    with pytest.raises(ConflictError, match="is already split"):
        split_host(database, HOST, ADMIN, world.now_ms)


def test_a_host_of_one_directory_cannot_be_cut(database: Database) -> None:
    """There must be something to give away."""
    world = crawled(database, sizes={"only": 1200})
    with pytest.raises(ConflictError, match="one directory holds nearly all"):
        split_host(database, HOST, ADMIN, world.now_ms)


def test_a_host_below_one_directory_is_cut_deeper(database: Database) -> None:
    """What lies in it may be given away, as deep as it is; the pages beside stay with `/`."""
    sizes = {"only": 20, "only/a": 400, "only/b": 390, "only/c/deep": 410}
    world = crawled(database, sizes=sizes)
    split = split_host(database, HOST, ADMIN, world.now_ms, dry_run=True)
    assert split.unevenness < 1.2
    units = {unit for piece in split.pieces for unit in piece.units}
    assert "/" in units
    assert all(unit == "/" or unit.startswith("/only/") for unit in units)
    assert len([unit for unit in units if unit.count("/") > 2]) >= 2


def test_plain_agents_get_no_piece(database: Database) -> None:
    """An agent of the five messages cannot read what others own; the host must be another's."""
    world = crawled(database)
    world.join("plain", kind="plain")
    world.take_list("plain")
    made = split_host(database, HOST, ADMIN, world.now_ms)
    assert "plain" not in {piece.agent for piece in made.pieces}
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    assert "plain" not in owners(world).values()


def told(world: World, name: str, mine: dict[str, str]) -> list[FinishedUnit]:
    """Return what an agent says when nothing is left of its pieces."""
    agent = world.agents[name]
    return [
        FinishedUnit(
            unit=unit, kind="crawl", round=agent.listed[unit].round, pages=1, response_bytes=9
        )
        for unit, owner in mine.items()
        if owner == name and unit in agent.listed
    ]


def give(world: World, unit: str, to: str) -> None:
    """Let a plan move one unit."""
    with world.db.write() as tx:
        unit_id = hosts.ids_of_units(tx, [unit])[unit]
        owner = {unit_id: world.agents[to].identity.id}
        placing.place(tx, owner, world.now_ms, Message("ownership.moved_by_hand"))
        current = rounds.open_round(tx)
        assert current is not None
        round_units.hand_over(tx, current.number, owner)
        given = Message("ownership.given_to_other")
        rights.withdraw(tx, world.now_ms, given, unit_ids=[unit_id])
    world.tick()


def shares(world: World) -> int:
    return host_detail(world.db, HOST).host.shares


def states(world: World) -> set[str]:
    """Return the states of the big host's units in the newest round."""
    with world.db.read() as tx:
        number = rounds.last_number(tx)
        ids = [unit.id for unit in hosts.units_of_hosts(tx, [HOST])]
        return set(
            tx.values(
                sa.select(unit_rounds.c.state).where(
                    unit_rounds.c.round == number, unit_rounds.c.unit_id.in_(ids)
                )
            )
        )


def pages(db: Database) -> set[str]:
    with db.read() as tx:
        return set(tx.values(sa.select(start_pages.c.url)))


def unit_of(db: Database, page: str) -> str:
    with db.read() as tx:
        return str(
            tx.value(
                sa.select(units.c.key)
                .join(start_pages, start_pages.c.unit_id == units.c.id)
                .where(start_pages.c.url == page)
            )
        )
