"""Plans: made, looked at, applied."""

from __future__ import annotations

import pytest

from manager.balancing.balancers import BALANCERS
from manager.balancing.errors import BalancingError
from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError, StalePlanError
from manager.operations.fleet.agents import retire
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_views import host_detail, list_hosts
from manager.operations.hosts.hosts import exclude_host
from manager.operations.hosts.new_hosts import order_probes
from manager.operations.ownership.pins import pin_unit, unpin_units
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import apply_plan, undo_plan, undoable
from manager.operations.planning.plan_moves import every_move
from manager.operations.planning.plans import list_plans, make_plan, plan_detail
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import round_detail, start_round
from shared.errors import FormatError
from shared.messages import Message
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, World

HOSTS = tuple(f"h{number}.jp" for number in range(12))


@kept_world
def measured(database: Database, method: str = "random") -> World:
    """Return a world after one round: all is measured, placed by `method`."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*HOSTS)
    start_round(database, method, ADMIN, world.now_ms, policy=world.policy)
    world.run()
    return world


def owners(database: Database) -> dict[str, str | None]:
    """Return who owns each host."""
    return {line.key: line.owner for line in list_hosts(database).hosts}


def test_a_plan_goes_by_the_share_of_moves_that_was_asked_for(database: Database) -> None:
    """Its explanation says so where it had to go beyond; what is no share is refused."""
    world = measured(database)
    for share, said in ((0.0, "more than 0%"), (0.25, "more than 25%"), (None, "more than 10%")):
        plan_id = make_plan(
            database, "default", ADMIN, world.now_ms, moves=share, objective="transfer"
        )
        assert said in " ".join(map(str, plan_detail(database, plan_id).explanation))
    for share in (-0.1, 1.1):
        with pytest.raises(FormatError, match="must be 0 to 1"):
            make_plan(database, "default", ADMIN, world.now_ms, moves=share)


def test_a_plan_of_the_end_moves_no_more_than_was_asked_for(database: Database) -> None:
    """Nothing, a quarter or all, where fewer bytes go a long way; it shows the end before and
    after, and a transfer plan shows both figures too."""
    world = measured(database)
    costs = []
    for share in (0.0, 0.25, 1.0):
        detail = plan_detail(
            database, make_plan(database, "default", ADMIN, world.now_ms, moves=share)
        )
        assert detail.plan.moves <= share * len(HOSTS)
        assert detail.time is not None
        assert detail.time.end_ms is not None
        assert detail.time.end_ms >= detail.time.end_bound_ms * 0.999
        costs.append(detail.time.network_ms)
    assert costs == sorted(costs, reverse=True)
    assert costs[2] < costs[0]
    tree = plan_detail(database, make_plan(database, "tree", ADMIN, world.now_ms, compare=True))
    assert tree.time is not None
    assert all(one.end_ms is not None for one in tree.compared if one.why is None)


def test_a_plan_is_a_preview(database: Database) -> None:
    """Making one moves nothing; it says what would move, what that saves, and why."""
    world = measured(database)
    before = owners(database)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    assert owners(database) == before
    detail = plan_detail(database, plan_id)
    assert detail.plan.makespan_ms is not None
    assert detail.plan.before_ms is not None
    assert detail.plan.bound_ms is not None
    assert detail.plan.bound_ms <= detail.plan.makespan_ms <= detail.plan.before_ms
    assert len(detail.moves) == detail.plan.moves > 0
    assert len(detail.tree) == 2
    assert detail.explanation
    assert {agent["name"] for agent in detail.agents} == {"a", "b", "c"}
    assert sum(agent["units_after"] for agent in detail.agents) == 12
    assert list_plans(database)[0].id == plan_id
    assert list(every_move(database, plan_id)) == detail.moves
    with pytest.raises(NotFoundError):
        plan_detail(database, 999)


def test_applying_gives_units_to_whom_the_plan_says(database: Database) -> None:
    """Once; the second time nothing happens."""
    world = measured(database)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    detail = plan_detail(database, plan_id)
    assert apply_plan(database, plan_id, ADMIN, world.now_ms) == detail.plan.moves
    after = owners(database)
    assert all(after[move.unit] == move.taker for move in detail.moves)
    assert apply_plan(database, plan_id, ADMIN, world.now_ms) == 0
    assert check(database) == []


def test_a_stale_plan_changes_nothing(database: Database) -> None:
    """Where an owner is another by now, the plan is refused as a whole."""
    world = measured(database)
    first = make_plan(database, "prices", ADMIN, world.now_ms)
    second = make_plan(database, "random", ADMIN, world.now_ms, seed=9)
    apply_plan(database, first, ADMIN, world.now_ms)
    before = owners(database)
    with pytest.raises(StalePlanError, match=r"is stale: http://h.* belongs to . now, "):
        apply_plan(database, second, ADMIN, world.now_ms)
    assert owners(database) == before


def test_a_plan_for_an_agent_that_is_gone_is_stale(database: Database) -> None:
    """Nothing is given to who was retired since."""
    world = measured(database)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    taker = plan_detail(database, plan_id).moves[0].taker
    retire(database, taker, ADMIN, world.now_ms)
    with pytest.raises(StalePlanError, match="does not take part"):
        apply_plan(database, plan_id, ADMIN, world.now_ms)


def test_a_plan_with_an_excluded_host_is_stale(database: Database) -> None:
    """A host that was taken out since the plan was made is given to nobody."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    plan_id = make_plan(database, "keep", ADMIN, world.now_ms)
    exclude_host(database, "h1.jp", "asked to", ADMIN, world.now_ms)
    with pytest.raises(StalePlanError, match=r"http://h1.jp:80/ was excluded; make a new plan"):
        apply_plan(database, plan_id, ADMIN, world.now_ms)
    assert check(database) == []


def test_a_plan_lets_what_was_found_take_part(database: Database) -> None:
    """A host that is being probed in a round that crawls is given out by a plan: it joins it."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp")
    start_round(database, "random", ADMIN, world.now_ms, probe=False)
    world.tick()
    found = [(1, "http://new.jp/", None)]
    record_discovered(database, world.agents["a"].identity, found, world.now_ms)
    world.resolve()
    order_probes(database, world.now_ms, world.policy)
    plan_id = make_plan(database, "random", ADMIN, world.now_ms)
    apply_plan(database, plan_id, ADMIN, world.now_ms)
    assert owners(database)["http://new.jp:80/"]
    assert check(database) == []
    world.run()
    assert round_detail(database, 1).units == {"finished": 2}


def test_the_tree_never_makes_it_worse(database: Database) -> None:
    """The source's equalisation, over real measurements: the makespan falls or stays."""
    world = measured(database)
    start_round(database, "tree", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    detail = round_detail(database, 2)
    plan_id = detail.round.plan_id
    assert plan_id is not None
    plan = plan_detail(database, plan_id).plan
    assert plan.makespan_ms is not None
    assert plan.before_ms is not None
    assert plan.makespan_ms <= plan.before_ms
    assert detail.round.makespan_ms == pytest.approx(plan.makespan_ms, rel=0.05)


def test_what_cannot_be_planned_is_refused(database: Database) -> None:
    """No agent, no host, no such method."""
    world = World(database)
    with pytest.raises(ConflictError, match="nothing to plan"):
        make_plan(database, "keep", ADMIN, world.now_ms)
    world.join("a")
    world.hosts("h1.jp")
    with pytest.raises(BalancingError, match="method 'luck': not known"):
        make_plan(database, "luck", ADMIN, world.now_ms)


def test_a_plan_against_what_people_decided_since_is_stale(database: Database) -> None:
    """A pin or a ban that was made after the plan is named in the refusal."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp")
    plan_id = make_plan(database, "keep", ADMIN, world.now_ms)
    taker = plan_detail(database, plan_id).moves[0].taker
    other = "b" if taker == "a" else "a"
    pin_unit(database, "h1.jp", other, "", ADMIN, world.now_ms)
    with pytest.raises(StalePlanError, match=f"http://h1.jp:80/ was pinned to {other}; make"):
        apply_plan(database, plan_id, ADMIN, world.now_ms)
    unpin_units(database, ["h1.jp"], ADMIN, world.now_ms)
    ban_host(database, "h1.jp", taker, "", ADMIN, world.now_ms)
    with pytest.raises(StalePlanError, match=f"never goes to {taker} now"):
        apply_plan(database, plan_id, ADMIN, world.now_ms)


def test_a_preview_says_what_other_methods_would_give(database: Database) -> None:
    """Each with its makespan, moves and distance to the bound; out of time, that it was not."""
    world = measured(database)
    plan_id = make_plan(database, "keep", ADMIN, world.now_ms, compare=True)
    detail = plan_detail(database, plan_id)
    compared = {one.method: one for one in detail.compared}
    assert set(compared) == set(BALANCERS) - {"keep"}
    for method, one in compared.items():
        alone = plan_detail(database, make_plan(database, method, ADMIN, world.now_ms)).plan
        assert (one.makespan_ms, one.moves) == (alone.makespan_ms, alone.moves)
        assert one.above_bound is not None
        assert one.above_bound >= 1
    hurried = make_plan(
        database, "keep", ADMIN, world.now_ms, policy=Policy(plan_comparison_s=0), compare=True
    )
    late = Message("planning.not_ready", limit_s=0)
    assert {one.why for one in plan_detail(database, hurried).compared} == {late}
    assert plan_detail(database, make_plan(database, "keep", ADMIN, 0)).compared == []


def test_the_last_plan_is_taken_back(database: Database) -> None:
    """By a plan of its own: owners are as before, history only grew; again, the one before it."""
    world = measured(database)
    at_first = owners(database)
    intervals = len(host_detail(database, "h1.jp").owners)
    first = make_plan(database, "prices", ADMIN, world.now_ms)
    apply_plan(database, first, ADMIN, world.now_ms)
    between = owners(database)
    second = make_plan(database, "random", ADMIN, world.now_ms, seed=5)
    apply_plan(database, second, ADMIN, world.now_ms)
    assert undoable(database) == second
    back = undo_plan(database, ADMIN, world.now_ms)
    assert owners(database) == between
    detail = plan_detail(database, back)
    assert (detail.plan.undoes, detail.plan.method) == (second, "undo")
    assert detail.plan.makespan_ms == plan_detail(database, second).plan.before_ms
    assert plan_detail(database, second).undone_by == back
    undo_plan(database, ADMIN, world.now_ms)
    assert owners(database) == at_first
    assert len(host_detail(database, "h1.jp").owners) >= intervals
    assert [row.subject for row in audit_page(database, action="plan.undo")] == [
        str(first),
        str(second),
    ]
    assert check(database) == []


def test_what_changed_since_is_not_taken_back(database: Database) -> None:
    """A unit that changed hands after the plan makes the undoing stale; nothing to undo says so."""
    world = measured(database)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    apply_plan(database, plan_id, ADMIN, world.now_ms)
    move = next(one for one in plan_detail(database, plan_id).moves if one.giver)
    third = next(name for name in "abc" if name not in (move.giver, move.taker))
    pin_unit(database, move.unit, third, "", ADMIN, world.now_ms)
    before = owners(database)
    with pytest.raises(StalePlanError, match=f"{move.unit} belongs to {third} now"):
        undo_plan(database, ADMIN, world.now_ms)
    assert owners(database) == before
    assert len(list_plans(database)) == 2


def test_nothing_to_take_back_is_said(database: Database) -> None:
    """Where no plan was applied, or all were taken back."""
    world = World(database)
    with pytest.raises(ConflictError, match="no plan was applied that could be undone"):
        undo_plan(database, ADMIN, world.now_ms)


def test_the_moves_of_one_agent(database: Database) -> None:
    """What it gives or takes, counted, in the same order, a page at a time or all at once."""
    world = measured(database)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    everything = plan_detail(database, plan_id)
    assert everything.moving == len(everything.moves)
    sizes = []
    for name in ("a", "b", "c"):
        wanted = [move for move in everything.moves if name in (move.giver, move.taker)]
        page = plan_detail(database, plan_id, agent=name)
        assert (page.moving, page.moves) == (len(wanted), wanted)
        assert list(every_move(database, plan_id, agent=name)) == wanted
        rest = plan_detail(database, plan_id, agent=name, limit=1, offset=1)
        assert (rest.moving, rest.moves) == (len(wanted), wanted[1:2])
        sizes.append(len(wanted))
    assert max(sizes) > 0
    assert min(sizes) < everything.moving
    with pytest.raises(NotFoundError, match="agent z"):
        plan_detail(database, plan_id, agent="z")
    with pytest.raises(NotFoundError, match="agent z"):
        every_move(database, plan_id, agent="z")
    with pytest.raises(NotFoundError, match="plan 999"):
        every_move(database, 999)
