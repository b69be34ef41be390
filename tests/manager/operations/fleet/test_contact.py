"""What agents say, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.errors import CloneError, ConflictError, ForbiddenError
from manager.operations.fleet.agents import agent_detail, order_command, retire
from manager.operations.fleet.contact import is_restart, subscribe, unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import HostFilter, host_detail, list_hosts
from manager.operations.hosts.hosts import exclude_host
from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import apply_plan
from manager.operations.planning.plans import make_plan
from manager.operations.rounds.rounds import start_round
from shared.wire.names import hash_of_key
from shared.wire.sync import FinishedUnit
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World

H1 = "http://h1.jp:80/"


@kept_world
def crawling(database: Database, *names: str, hosts: tuple[str, ...] = ("h1.jp",)) -> World:
    """Return a world in which every host is placed and its owner has the right to crawl it."""
    world = World(database)
    world.join(*names)
    world.hosts(*hosts)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    for name in names:
        world.call(name)
    return world


def owner_of(world: World, host: str = "h1.jp") -> str:
    """Return who owns a host."""
    detail = host_detail(world.db, host)
    return next(detail.agents[row.agent_id] for row in detail.owners if row.until_ms is None)


def test_a_sync_brings_a_permit_and_the_next_time(database: Database) -> None:
    """The permit lasts as long as the policy says; polls are spread by a fifth either way."""
    world = World(database)
    world.join("a")
    answer = world.sync("a")
    assert answer.permit is not None
    assert answer.permit.duration_s == 600
    assert answer.server_time_ms == world.now_ms
    polls = {world.sync("a").next_poll_s for _ in range(20)}
    assert len(polls) > 5
    assert min(polls) >= 0.8 * world.policy.pending_sync_interval_s
    world.call("a")
    polls = {world.sync("a").next_poll_s for _ in range(20)}
    assert 48 <= min(polls) < max(polls) < 72.1


def test_a_key_speaks_for_its_agent_only(database: Database) -> None:
    """Who shows one agent's key and another's name is refused."""
    world = World(database)
    world.join("a", "b")
    with pytest.raises(ForbiddenError, match="this key is that of agent a, not b"):
        sync(database, world.agents["a"].identity, world.request("b"), world.now_ms)


def test_a_retired_agent_is_told_so(database: Database) -> None:
    """No list, no permit, and the reason."""
    world = World(database)
    world.join("a")
    retire(database, "a", ADMIN, world.now_ms)
    assert isinstance(world.try_sync("a"), ForbiddenError)
    with pytest.raises(ForbiddenError, match="retired"):
        world.take_list("a")


def test_a_clone_is_noticed_and_told_apart(database: Database) -> None:
    """A copy that is behind is refused, with one alert; the original goes on."""
    world = World(database)
    world.join("a")
    agent = world.agents["a"]
    behind = agent.sequence - 1
    world.sync("a")
    world.sync("a")
    ahead = agent.sequence
    agent.boots, agent.sequence = 2, behind
    for _ in range(2):
        agent.sequence = behind
        assert isinstance(world.try_sync("a"), CloneError)
    assert len(audit_page(database, alerts=True)) == 1
    flagged = agent_detail(database, "a", world.now_ms).view.row
    assert "came from process boot 2" in str(flagged.clone_reason)
    agent.boots, agent.sequence = 1, ahead
    assert world.try_sync("a") is None


def test_a_restarted_agent_is_no_clone(database: Database) -> None:
    """A new process whose sequence goes on is the same machine."""
    world = World(database)
    world.join("a")
    world.agents["a"].reboot()
    assert world.try_sync("a") is None


def test_a_late_request_changes_nothing(database: Database) -> None:
    """A sync that a proxy held back is refused when a newer one was answered."""
    world = World(database)
    world.join("a")
    late = world.request("a")
    world.sync("a")
    with pytest.raises(ConflictError, match="was answered already"):
        sync(database, world.agents["a"].identity, late, world.now_ms, world.policy)


def test_a_repeat_is_answered_again(database: Database) -> None:
    """The same request once more gets the same answer: the first may have been lost."""
    world = crawling(database, "a")
    world.fetch("a", H1)
    request = world.request("a")
    identity = world.agents["a"].identity
    first = sync(database, identity, request, world.now_ms, world.policy)
    again = sync(database, identity, request, world.now_ms, world.policy)
    assert again == first


def test_a_finished_unit_frees_its_right(database: Database) -> None:
    """The right is gone, the unit finished in its round, and the history says when."""
    world = crawling(database, "a")
    world.fetch("a", H1)
    world.sync("a")
    detail = host_detail(database, "h1.jp")
    assert detail.rights == []
    assert check(database) == []


def test_a_claim_for_what_is_not_held_counts_nothing(database: Database) -> None:
    """An agent cannot finish what it was never given, or in another round, or of another kind."""
    world = crawling(database, "a", "b")
    other = "b" if owner_of(world) == "a" else "a"
    claims = [
        (other, FinishedUnit(unit=H1, kind="crawl", round=1, pages=1, response_bytes=1)),
        (owner_of(world), FinishedUnit(unit=H1, kind="crawl", round=7, pages=1, response_bytes=1)),
        (owner_of(world), FinishedUnit(unit=H1, kind="probe", round=1, pages=1, response_bytes=1)),
    ]
    for name, claim in claims:
        world.agents[name].unanswered = [claim]
        world.sync(name)
        assert len(host_detail(database, "h1.jp").rights) == 1


def test_a_withdrawn_right_is_free_with_the_acknowledgement(database: Database) -> None:
    """Whoever fetches goes on until it holds a list without the unit; only then is it free."""
    world = crawling(database, "a")
    exclude_host(database, "h1.jp", "asked to", ADMIN, world.now_ms)
    world.tick()
    world.sync("a")
    assert H1 in world.agents["a"].fetchable(world.true_ms)
    assert len(host_detail(database, "h1.jp").rights) == 1
    world.take_list("a")
    assert H1 not in world.agents["a"].fetchable(world.true_ms)
    assert len(host_detail(database, "h1.jp").rights) == 1
    world.sync("a")
    assert host_detail(database, "h1.jp").rights == []


def test_moved_units_pass_through_free(database: Database) -> None:
    """After a plan the new owner waits until the old one has let go, and nobody overlaps."""
    hosts = tuple(f"h{number}.jp" for number in range(1, 9))
    world = crawling(database, "a", "b", hosts=hosts)
    plan = make_plan(database, "random", ADMIN, world.now_ms, seed=5, policy=world.policy)
    assert apply_plan(database, plan, ADMIN, world.now_ms) > 0
    world.tick()
    assert check(database) == []
    world.call("b")
    world.tick()
    world.call("b")
    world.check_exclusive()
    world.run()
    assert not list_hosts(database, HostFilter(state="probing")).hosts


def test_an_old_list_brings_no_permit_after_a_take_over(database: Database) -> None:
    """Who comes back late must take a list before it may fetch: its units may be others' now."""
    world = crawling(database, "a", "b")
    owner = owner_of(world)
    other = "b" if owner == "a" else "a"
    for _ in range(20):
        world.wait(40)
        world.tick()
        world.call(other)
    assert H1 in world.agents[other].fetchable(world.true_ms)
    answer = world.sync(owner)
    assert answer.permit is None
    assert "fetch the list" in answer.message
    assert world.agents[owner].fetchable(world.true_ms) == {}
    world.take_list(owner)
    assert world.sync(owner).permit is not None
    world.check_exclusive()


def test_what_a_late_owner_finished_changes_nothing(database: Database) -> None:
    """Its report of a unit that is another's now is no news of the round."""
    world = crawling(database, "a", "b")
    owner = owner_of(world)
    other = "b" if owner == "a" else "a"
    world.fetch(owner, H1)
    for _ in range(20):
        world.wait(40)
        world.tick()
        world.call(other)
    world.call(owner)
    assert [right.kind for right in host_detail(database, "h1.jp").rights] == ["crawl"]
    assert owner_of(world) == other


def test_an_agent_without_a_list_may_have_a_permit(database: Database) -> None:
    """0 says that no list is in force there: the one that it takes next is new."""
    world = crawling(database, "a")
    for _ in range(20):
        world.wait(40)
        world.tick()
    world.agents["a"].lose_disk()
    assert world.sync("a").permit is not None


def test_a_new_key_waits_for_the_old_permit(database: Database) -> None:
    """The machine that held the old key may still be fetching; the new one starts after it."""
    world = crawling(database, "a")
    old = world.agents["a"]
    assert H1 in old.fetchable(world.true_ms)
    token = issue_join_token(database, "a", ADMIN, world.now_ms).token
    enrol(database, "a", token, hash_of_key("new"), world.now_ms)
    old.sequence, old.held, old.boots = 0, 0, 9
    answer = sync(database, old.identity, world.request("a"), world.now_ms, world.policy)
    assert answer.permit is None
    assert "old key" in answer.message
    for _ in range(20):
        world.wait(40)
        world.tick()
    assert old.fetchable(world.true_ms) == {}
    assert world.sync("a").permit is not None


def test_who_leaves_with_a_new_key_does_not_speak_for_the_old_machine(database: Database) -> None:
    """The machine with the old key has not stopped: its rights are free when its permit is over."""
    world = crawling(database, "a", "b")
    owner = owner_of(world)
    other = "b" if owner == "a" else "a"
    token = issue_join_token(database, owner, ADMIN, world.now_ms).token
    enrol(database, owner, token, hash_of_key("new"), world.now_ms)
    unsubscribe(database, world.agents[owner].identity, world.now_ms, world.policy)
    for _ in range(20):
        world.tick()
        world.call(other)
        world.check_exclusive()
        world.wait(40)
    assert H1 in world.agents[other].fetchable(world.true_ms)
    assert check(database) == []


def test_a_list_newer_than_any_is_passed_over(database: Database) -> None:
    """After a restored backup agents hold newer lists: they get one that is newer still."""
    world = World(database)
    world.join("a")
    world.agents["a"].held = 50
    answer = world.sync("a")
    assert answer.generation == 51
    world.agents["a"].held = 2**40
    assert isinstance(world.try_sync("a"), ConflictError)


def test_leaving_frees_at_once_and_others_take_over(database: Database) -> None:
    """M5: who leaves has stopped; the next tick gives its units to the others."""
    world = crawling(database, "a", "b")
    owner = owner_of(world)
    other = "b" if owner == "a" else "a"
    leaver = world.agents[owner]
    leaver.permit_until_ms, leaver.listed = 0, {}
    unsubscribe(database, leaver.identity, world.now_ms, world.policy)
    unsubscribe(database, leaver.identity, world.now_ms, world.policy)
    assert host_detail(database, "h1.jp").rights == []
    world.tick()
    assert owner_of(world) == other
    world.call(other)
    assert H1 in world.agents[other].fetchable(world.true_ms)
    assert world.sync(owner).permit is None
    subscribe(database, leaver.identity, world.now_ms, world.policy)
    world.take_list(owner)
    assert world.sync(owner).permit is not None
    assert len(audit_page(database, action="agent.unsubscribe")) == 1


def test_a_command_is_repeated_until_it_is_acknowledged(database: Database) -> None:
    """An answer that was lost loses no command."""
    world = World(database)
    world.join("a")
    command_id = order_command(database, "a", "restart", ADMIN, world.now_ms, pages=True)
    for _ in range(2):
        command = world.sync("a").command
        assert command is not None
        assert (command.id, command.name, command.argument) == (
            command_id,
            "restart",
            "confirmed",
        )
    request = replace(world.request("a"), command_done=command_id)
    identity = world.agents["a"].identity
    assert sync(database, identity, request, world.now_ms, world.policy).command is None
    assert len(audit_page(database, action="agent.complete-command")) == 1


def test_restart_is_answered_until_a_list_is_taken(database: Database) -> None:
    """M4: RESTART, however often it is asked, until the next M1."""
    world = World(database)
    world.join("p", kind="plain")
    identity = world.agents["p"].identity
    assert not is_restart(database, identity, world.now_ms, world.policy)
    order_command(database, "p", "restart", ADMIN, world.now_ms)
    assert is_restart(database, identity, world.now_ms, world.policy)
    assert is_restart(database, identity, world.now_ms, world.policy)
    world.take_list("p")
    assert not is_restart(database, identity, world.now_ms, world.policy)
    row = agent_detail(database, "p", world.now_ms).view.row
    assert row.restart_handled_ms == world.now_ms


def test_what_agents_see_merges_groups(database: Database) -> None:
    """Two hosts that an agent sees at one address get one owner, and one robot at a time."""
    hosts = tuple(f"h{number}.jp" for number in range(1, 7))
    world = crawling(database, "a", "b", hosts=hosts)
    mine = {name: sorted(world.agents[name].fetchable(world.true_ms)) for name in ("a", "b")}
    assert mine["a"]
    assert mine["b"]
    shared = mine["a"][0], mine["b"][0]
    for name, host in zip(("a", "b"), shared, strict=True):
        world.agents[name].sees = {host: ("192.0.2.7",)}
        world.sync(name)
    groups = {host_detail(database, host).host.group_id for host in shared}
    assert len(groups) == 1
    assert owner_of(world, shared[0]) == owner_of(world, shared[1])
    assert check(database) == []
    world.address |= dict.fromkeys(shared, ("192.0.2.7",))
    world.tick()
    for _ in range(2):
        for name in ("a", "b"):
            world.call(name)
        world.tick()
    world.check_exclusive()


def test_what_an_agent_says_of_others_hosts_is_not_believed(database: Database) -> None:
    """Nobody can pull hosts into its group that it was never given."""
    world = crawling(database, "a", "b", hosts=("h1.jp", "h2.jp"))
    owner = owner_of(world)
    other = "b" if owner == "a" else "a"
    before = host_detail(database, "h1.jp").addresses
    world.agents[other].sees = {H1: ("192.0.2.7",)}
    world.sync(other)
    assert host_detail(database, "h1.jp").addresses == before


def test_a_claim_from_under_an_older_list_counts_nothing(database: Database) -> None:
    """What an agent repeats cannot end a right that its list did not name yet."""
    world = crawling(database, "a")
    claim = FinishedUnit(unit=H1, kind="crawl", round=1, pages=1, response_bytes=1)
    agent = world.agents["a"]
    agent.unanswered, agent.held = [claim], agent.held - 1
    world.sync("a")
    assert len(host_detail(database, "h1.jp").rights) == 1
    agent.unanswered, agent.held = [claim], agent.held + 1
    world.sync("a")
    assert host_detail(database, "h1.jp").rights == []
