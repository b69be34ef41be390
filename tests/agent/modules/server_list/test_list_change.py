"""Long lists are taken in slices: requests go on, and a process may end between any two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.modules.server_list.list_change import CHANGES
from agent.modules.server_list.scope import scope_of
from agent.modules.server_list.seed import Seed
from agent.pipeline.messages.jobs import ListSlice, UnitFinished
from shared.wire.orders import Order
from tests.agent.fakes import FakeLedger
from tests.agent.world import World, order, site, slices_of

MANY = 30_000


def units(count: int) -> list[Order]:
    """Return orders for so many hosts."""
    return [Order(f"http://h{number}.example:80/") for number in range(count)]


def weight(one: ListSlice) -> int:
    """Return how many jobs a slice changes."""
    return len(one.ended) + len(one.altered) + len(one.begun)


def take(seed: Seed, ledger: FakeLedger, orders: Sequence[Order], round_number: int = 1) -> int:
    """Take a whole list; return the most that a slice changed."""
    most = 0
    for one in slices_of(ledger, orders, round_number):
        most = max(most, weight(one))
        list(seed.handle_list([one]))
    return most


def test_no_slice_of_a_long_list_is_long() -> None:
    """A first list, one that moves half of it away, and a new round of the rest."""
    ledger, orders = FakeLedger(), units(MANY)
    seed = Seed(ledger, scope_of(ledger))
    assert take(seed, ledger, orders) == CHANGES
    assert len(seed.scope.jobs) == MANY
    assert take(seed, ledger, orders[::2]) == CHANGES
    assert len(seed.scope.jobs) == MANY // 2
    assert take(seed, ledger, orders[::2], 2) == CHANGES
    assert {row.job.round for row in ledger.jobs()} == {2}
    assert {row.job.number for row in ledger.jobs()} == {
        seed.scope.jobs[one.url].number for one in orders[::2]
    }


def test_only_what_differs_is_touched() -> None:
    """One other order among tens of thousands is one change, however many are looked through."""
    ledger, orders = FakeLedger(), units(MANY)
    seed = Seed(ledger, scope_of(ledger))
    take(seed, ledger, orders)
    orders[7] = replace(orders[7], interval_ms=9000)
    slices = list(slices_of(ledger, orders))
    assert len(slices) == MANY // ledger.orders_at_a_time + 1
    assert [job.unit for one in slices for job in one.altered] == [orders[7].url]
    assert sum(map(weight, slices)) == 1
    assert [one.last for one in slices] == [False] * (len(slices) - 1) + [True]


def test_what_left_the_list_goes_before_anything_begins() -> None:
    """Also behind thousands that begin a new round."""
    ledger, orders = FakeLedger(), units(3000)
    take(Seed(ledger, scope_of(ledger)), ledger, orders)
    slices = list(slices_of(ledger, [*orders[:-1], Order("http://new.example:80/")], 2))
    [gone] = [row.job.number for row in ledger.jobs() if row.job.unit == orders[-1].url]
    first_begun = next(place for place, one in enumerate(slices) if one.begun)
    assert gone in {number for one in slices[:first_begun] for number in one.ended}
    # What begins anew is never away: its old job ends in the slice in which the new one begins.
    for one in slices[first_begun:-1]:
        assert len(one.ended) in (0, len(one.begun))


@pytest.mark.parametrize("kill_at", [0, 1, 3, 10, 40, 10_000])
def test_a_kill_between_two_slices_changes_nothing_in_the_end(kill_at: int) -> None:
    """The next process takes the same list, and has the jobs and URLs of one that lived."""
    before, after = units(600)[:500], [*units(600)[100:300], *units(600)[450:]]
    after[0] = replace(after[0], excepted=("/x/",))

    def jobs(kill_at: int) -> list[tuple[str, int, tuple[str, ...], int]]:
        world = World({})
        world.ledger.orders_at_a_time = 50
        world.give_list(before)
        for round_number in (1, 2):
            for place, one in enumerate(slices_of(world.ledger, after, round_number)):
                if place == kill_at:
                    break
                world.take(one)
                if place % 2 == 0:
                    world.ledger.commit()
            world.crash()
            world.give_list(after, round_number)
        rows = world.ledger.jobs()
        return sorted(
            (row.job.unit, row.job.round, row.job.excepted, world.ledger.queued(row.job.number))
            for row in rows
        )

    assert jobs(kill_at) == jobs(-1)


def test_requests_go_on_between_slices_and_none_goes_to_who_left() -> None:
    """Of a host that stays pages are fetched meanwhile; of one that moved away nothing is sent."""
    web = site("stays.example", 9) | site("moves.example", 9)
    world = World(web)
    stays, moves = order("http://stays.example:80/"), order("http://moves.example:80/")
    world.resolver_addresses |= {stays.url: ("192.0.2.1",), moves.url: ("192.0.2.2",)}
    world.give_list([stays, moves])
    while "http://moves.example/" not in world.fetched():
        world.complete()
        world.tick(1.0)
    slices = slices_of(world.ledger, [stays, *units(2000)])
    before = len(world.fetched())
    moved: list[str] = []
    for one in slices:
        world.take(one)
        if one.ended and not moved:
            moved = [url for url in world.fetched() if "moves" in url]
        while world.complete():
            pass
        world.tick(20.0)
    assert [url for url in world.fetched() if "moves" in url] == moved
    assert len([url for url in world.fetched()[before:] if "stays" in url]) > 1
    assert [unit.unit for unit in world.reports.quiet] == [moves.url]
    assert len(world.crawl.scope.jobs) == 2001


def test_a_job_that_is_carried_over_goes_on_in_the_next_round() -> None:
    """Its number, and so its queue, stays; a job of another round begins again beside it."""
    ledger, (slow, other) = FakeLedger(), units(2)
    seed = Seed(ledger, scope_of(ledger))
    take(seed, ledger, [slow, other], 3)
    numbers = {one.url: seed.scope.jobs[one.url].number for one in (slow, other)}
    take(seed, ledger, [replace(slow, round=4, continues=3), replace(other, round=5)], 3)
    jobs = seed.scope.jobs
    assert (jobs[slow.url].number, jobs[slow.url].round) == (numbers[slow.url], 4)
    assert (jobs[other.url].round, jobs[other.url].number == numbers[other.url]) == (5, False)


def test_a_finished_job_is_not_carried_over() -> None:
    """The manager does not know it yet: it is told of the round for which the job was done."""
    ledger, (done,) = FakeLedger(), units(1)
    seed = Seed(ledger, scope_of(ledger))
    take(seed, ledger, [done], 3)
    job = seed.scope.jobs[done.url]
    list(seed.handle_finished([UnitFinished.of(job, done.url, "complete")]))
    take(seed, ledger, [replace(done, round=4, continues=3)], 4)
    assert seed.scope.jobs[done.url].round == 3
    assert done.url in seed.scope.finished
