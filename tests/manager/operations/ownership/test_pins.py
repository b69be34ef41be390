"""Pins: a unit that is one agent's, in every plan and take-over, until somebody says otherwise."""

from __future__ import annotations

from typing import Final

import pytest
import sqlalchemy as sa

from manager.db import group_lookup
from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.ownership import pins
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.agents import retire
from manager.operations.fleet.contact import subscribe, unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host
from manager.operations.ownership.pin_rules import EffectivePins, load_standing
from manager.operations.ownership.pins import list_pins, pin_unit, pin_units, unpin_units
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import apply_plan
from manager.operations.planning.plans import make_plan, plan_detail
from manager.operations.rounds.rounds import round_detail, start_round
from shared.errors import UrlError
from shared.messages import Message
from tests.manager.operations.hosts.test_host_split import HOST, crawled
from tests.manager.operations.hosts.test_host_split import owners as piece_owners
from tests.manager.operations.planning.test_plans import HOSTS, measured, owners
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario


def other_than(database: Database, unit: str) -> str:
    """Return an agent that does not own a unit."""
    return next(name for name in "abc" if name != owners(database)[unit])


LEFT: Final = Message("ownership.agent_left", agent="a")


def replanned(database: Database, world: World, method: str) -> list[str]:
    """Apply a plan and return its explanation."""
    plan_id = make_plan(database, method, ADMIN, world.now_ms)
    apply_plan(database, plan_id, ADMIN, world.now_ms)
    return [str(one) for one in plan_detail(database, plan_id).explanation]


def test_a_pinned_host_changes_hands_and_stays(database: Database) -> None:
    """At once, and in the plans of all methods; unpinned, plans move it again."""
    world = measured(database, "prices")
    unit = "http://h1.jp:80/"
    agent = other_than(database, unit)
    done = pin_unit(database, "h1.jp", agent, "near it", ADMIN, world.now_ms)
    assert (done.moved, done.warning) == (1, None)
    assert owners(database)[unit] == agent
    for method in ("random", "keep", "tree", "prices"):
        replanned(database, world, method)
        assert owners(database)[unit] == agent
    (pin,) = list_pins(database).pins
    assert (pin.unit, pin.agent, pin.ignored) == (unit, agent, None)
    assert pin.reason == Message.of_text("near it")
    assert host_detail(database, "h1.jp").pins == [pin]
    assert audit_page(database, action="unit.pin")[0].subject == unit
    assert unpin_units(database, ["h1.jp"], ADMIN, world.now_ms) == 1
    assert owners(database)[unit] == agent
    replanned(database, world, "prices")
    assert owners(database)[unit] != agent
    assert unpin_units(database, ["h1.jp"], ADMIN, world.now_ms) == 0
    assert check(database) == []


def test_a_pin_moves_all_that_shares_the_address(database: Database) -> None:
    """An address has one owner; who crawls it now goes on until it has taken another list."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="203.0.113.5")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    world.tick()
    first = owners(database)["http://h1.jp:80/"]
    agent = "b" if first == "a" else "a"
    for name in "ab":
        world.call(name)
    assert pin_unit(database, "h2.jp", agent, "", ADMIN, world.now_ms).moved == 2
    world.tick()
    world.check_exclusive()
    world.run()
    assert round_detail(database, 1).units == {"finished": 2}
    assert check(database) == []


def test_two_pins_on_one_address_cannot_differ(database: Database) -> None:
    """The second is refused and names the first."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="203.0.113.5")
    pin_unit(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match=r"with http://h1.jp:80/, which is pinned to a"):
        pin_unit(database, "h2.jp", "b", "", ADMIN, world.now_ms)
    pin_unit(database, "h2.jp", "a", "", ADMIN, world.now_ms)
    unpin_units(database, ["h2.jp"], ADMIN, world.now_ms)
    pin_unit(database, "h1.jp", "b", "changed my mind", ADMIN, world.now_ms)
    assert [pin.agent for pin in list_pins(database).pins] == ["b"]


def test_pins_that_turn_out_to_share_an_address(database: Database) -> None:
    """The older stands, the other is kept and said to be ignored; plans go on being made."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp")
    world.hosts("h2.jp")
    pin_unit(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    pin_unit(database, "h2.jp", "b", "", ADMIN, world.now_ms + 1)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    world.tick()
    assert set(owners(database).values()) == {"a", "b"}
    world.call("a")
    world.agents["a"].sees = {"http://h1.jp:80/": world.address["http://h2.jp:80/"]}
    world.sync("a")
    assert set(owners(database).values()) == {"a"}
    second = list_pins(database, agent="b").pins[0]
    assert str(second.ignored) == "http://h1.jp:80/ on the same address is pinned to a"
    said = replanned(database, world, "prices")
    assert "1 pin is ignored: http://h2.jp:80/" in " ".join(map(str, said))
    assert check(database) == []


def test_a_pin_waits_for_an_agent_that_left(database: Database) -> None:
    """It is shown with the reason and not lost; when the agent is back a plan obeys it again."""
    world = measured(database)
    unit = "http://h1.jp:80/"
    pin_unit(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    unsubscribe(database, world.agents["a"].identity, world.now_ms)
    world.tick()
    assert owners(database)[unit] != "a"
    assert list_pins(database).pins[0].ignored == LEFT
    assert "(a has left)" in " ".join(map(str, replanned(database, world, "prices")))
    again = pin_unit(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    assert (again.moved, again.warning) == (0, LEFT)
    subscribe(database, world.agents["a"].identity, world.now_ms)
    replanned(database, world, "keep")
    assert owners(database)[unit] == "a"
    retire(database, "a", ADMIN, world.now_ms)
    world.tick()
    assert list_pins(database).pins[0].ignored == Message("ownership.agent_retired", agent="a")
    with pytest.raises(ConflictError, match="was retired; pin to an agent that takes part"):
        pin_unit(database, "h2.jp", "a", "", ADMIN, world.now_ms)


def test_a_lost_agents_pins_do_not_hold_its_units_back(database: Database) -> None:
    """A take-over gives what was pinned to it to others, and honours the pins to those."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*HOSTS)
    for name in HOSTS:
        pin_unit(database, name, "a", "", ADMIN, world.now_ms)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    world.tick()
    assert set(owners(database).values()) == {"a"}
    pin_unit(database, HOSTS[0], "c", "", ADMIN, world.now_ms)
    for _ in range(20):
        world.wait(40)
        world.tick()
        for name in "bc":
            world.call(name)
    assert "a" not in owners(database).values()
    assert owners(database)[f"http://{HOSTS[0]}:80/"] == "c"
    lost = Message("ownership.agent_lost", agent="a")
    assert {pin.ignored for pin in list_pins(database, agent="a").pins} == {lost}
    assert check(database) == []


def test_a_host_that_has_no_owner_goes_to_its_agent(database: Database) -> None:
    """Pinned before the first round, or found in one: it is placed where it is pinned."""
    world = World(database)
    world.join("a", "b")
    world.hosts(*HOSTS)
    asked = [*HOSTS[:6], "nowhere.jp", "http://h7.jp/page.html", "http://h1.jp/dir/"]
    done = pin_units(database, asked, "a", "by hand", ADMIN, world.now_ms)
    assert (done.pinned, done.moved, done.refused_count) == (6, 0, 3)
    reasons = {text: str(reason) for text, reason in done.refused}
    assert "import the host first" in reasons["http://nowhere.jp:80/"]
    assert "path ends in '/'" in reasons["http://h7.jp/page.html"]
    assert "split http://h1.jp:80/ there first" in reasons["http://h1.jp:80/dir/"]
    pin_units(database, HOSTS[6:], "b", "by hand", ADMIN, world.now_ms)
    start_round(database, "random", ADMIN, world.now_ms, probe=False)
    world.tick()
    placed = owners(database)
    assert {placed[f"http://{name}:80/"] for name in HOSTS[:6]} == {"a"}
    assert {placed[f"http://{name}:80/"] for name in HOSTS[6:]} == {"b"}
    assert len(audit_page(database, action="unit.pin-many")) == 2
    assert list_pins(database, agent="a", limit=4).total == 6


def test_what_cannot_be_pinned_is_refused(database: Database) -> None:
    """An excluded host, an unknown one, a page, an unknown agent."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    exclude_host(database, "h1.jp", "", ADMIN, world.now_ms)
    with pytest.raises(ConflictError, match="is excluded; `prsm hosts include` it first"):
        pin_unit(database, "h1.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(NotFoundError, match="import the host first"):
        pin_unit(database, "h2.jp", "a", "", ADMIN, world.now_ms)
    with pytest.raises(UrlError):
        pin_unit(database, "http://h1.jp/x.html", "a", "", ADMIN, world.now_ms)
    with pytest.raises(NotFoundError, match="agent z: not found"):
        pin_unit(database, "h1.jp", "z", "", ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        unpin_units(database, ["h2.jp"], ADMIN, world.now_ms)
    assert list_pins(database).pins == []


def test_an_excluded_hosts_pin_comes_back_with_it(database: Database) -> None:
    """Excluding keeps the pin, and says that it does not hold."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp")
    pin_unit(database, "h1.jp", "b", "", ADMIN, world.now_ms)
    exclude_host(database, "h1.jp", "", ADMIN, world.now_ms)
    assert list_pins(database).pins[0].ignored == Message("ownership.pin_of_excluded")
    replanned(database, world, "random")
    assert owners(database)["http://h1.jp:80/"] is None


def test_a_piece_of_a_split_host_is_pinned_by_itself(database: Database) -> None:
    """One directory stays with its agent, the others may move; no plan is stale for it."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    pieces = [unit.key for unit in host_detail(database, HOST).units if unit.path != "/"]
    before = piece_owners(world)
    agent = other_than_owner(before[pieces[0]])
    assert pin_unit(database, pieces[0], agent, "", ADMIN, world.now_ms).moved == 1
    after = piece_owners(world)
    assert after == before | {pieces[0]: agent}
    other = other_than_owner(agent)
    pin_unit(database, pieces[1], other, "", ADMIN, world.now_ms)
    for method in ("prices", "random"):
        replanned(database, world, method)
        assert piece_owners(world)[pieces[0]] == agent
        assert piece_owners(world)[pieces[1]] == other
    assert {pin.ignored for pin in list_pins(database).pins} == {None}
    assert check(database) == []


def other_than_owner(owner: str) -> str:
    """Return another agent than this one."""
    return next(name for name in "abc" if name != owner)


def test_few_pins_and_bans_are_found_whichever_is_shorter(database: Database) -> None:
    """Among many units they are read whole, of few units there asked for: the same come."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="198.51.100.7")
    world.hosts("h3.jp", "h4.jp", "h5.jp")
    for host in ("h1.jp", "h3.jp", "h5.jp"):
        pin_unit(database, host, "a", "", ADMIN, world.now_ms)
    for host in ("h1.jp", "h4.jp", "h5.jp"):
        ban_host(database, host, "b", "", ADMIN, world.now_ms)
    with database.read() as tx:
        ids = hosts.ids_of_units(tx, [f"http://h{number}.jp:80/" for number in range(1, 6)])
        ids = {key[7:12]: number for key, number in ids.items()}
        groups = {
            host: group_lookup.groups_of_units(tx, [unit])[unit] for host, unit in ids.items()
        }
        few, many = (
            {
                host: (
                    [row.unit[7:12] for row in pins.pins_in_groups(tx, [unit, *more])],
                    [row.host[7:12] for row in pins.bans_of_hosts(tx, group_ids=[group, *more])],
                )
                for host, unit in ids.items()
                if (group := groups[host]) is not None
            }
            for more in (range(0), range(10_000, 10_009))
        )
    assert few == many
    assert few == {
        "h1.jp": (["h1.jp"], ["h1.jp"]),
        "h2.jp": (["h1.jp"], ["h1.jp"]),
        "h3.jp": (["h3.jp"], []),
        "h4.jp": ([], ["h4.jp"]),
        "h5.jp": (["h5.jp"], ["h5.jp"]),
    }


def test_where_nobody_decided_nothing_is_asked_of_each_unit(database: Database) -> None:
    """A plan of a million units must not look a million times for pins that are not there."""
    asked: list[str] = []
    with database.read() as tx:
        sa.event.listen(
            tx.connection, "before_cursor_execute", lambda *given: asked.append(given[2])
        )
        assert load_standing(tx, range(1, 5000)) == EffectivePins()
    assert len(asked) == 1
