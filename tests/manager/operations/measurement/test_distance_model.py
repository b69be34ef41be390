"""When the model of distances is made: beside the tick, one at a time, and before a plan."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from manager.balancing.balancers import make_plan
from manager.db.engine import Database, Transaction
from manager.db.measurement import predictions
from manager.db.measurement.measurements import DistanceRow, set_distances
from manager.db.rounds import rounds
from manager.distance.training_data import TrainingData, TrainingResult, train
from manager.errors import BusyError, NotLeadingError
from manager.operations.measurement.distance_model import AGE_MS, ModelTraining
from manager.operations.planning.requested_probes import order_probes
from manager.operations.rounds.round_progress import begin_crawl
from manager.operations.rounds.tick import tick
from tests.manager.log_sums import unit_sum
from tests.manager.operations.rounds.test_rounds import probing
from tests.manager.operations.world import ADMIN, World

H1 = "http://h1.jp:80/"


def made_ms(database: Database) -> int | None:
    """Return when the model was made, None where there is none."""
    with database.read() as tx:
        age = predictions.model_age(tx)
    return None if age is None else age.made_ms


def round_state(database: Database) -> str:
    """Return how the round that goes on is."""
    with database.read() as tx:
        current = rounds.open_round(tx)
    return "none" if current is None else current.state


def tick_beside(world: World, learning: ModelTraining) -> None:
    """Tick as a manager does that learns and plans beside it."""
    tick(world.db, world.now_ms, world.policy, planner=None)
    begin_crawl(world.db, lambda: world.now_ms, world.policy, make_plan, learning.is_trained)


def probed(world: World, *names: str) -> None:
    """Let agents probe the host, say so, and send their logs."""
    for name in sorted(names, key=lambda one: not world.agents[one].fetchable(world.true_ms)):
        world.call(name)
        world.fetch(name, H1)
        world.call(name)
        world.report(name)
        tick(world.db, world.now_ms, world.policy, planner=None)


def report_more(world: World, name: str) -> None:
    """Let an agent send one more log of its probe."""
    world.agents[name].lines.append(unit_sum(H1, 1, "probe", 10, 10_000, 50))
    world.report(name)


def failing(_: TrainingData) -> TrainingResult | None:
    """Learn as a child process does that is killed."""
    raise BusyError("the process that was to do this died")


def test_a_tick_waits_for_no_model_but_a_plan_does(database: Database) -> None:
    """While probes are open nothing is learned; when all came, the round waits, not the tick."""
    world, learning = probing(database, "a", "b"), ModelTraining()
    probed(world, "a", "b")
    tick_beside(world, learning)
    tick_beside(world, learning)
    assert (made_ms(database), round_state(database)) == (None, "probing")
    assert learning.refresh(database, world.now_ms)
    tick_beside(world, learning)
    assert (made_ms(database), round_state(database)) == (world.now_ms, "crawling")


def test_what_comes_meanwhile_does_not_put_a_plan_off(database: Database) -> None:
    """The plan waits for what had come when the last probe was done."""
    world = probing(database, "a", "b")
    learning = ModelTraining()
    probed(world, "a", "b")
    tick_beside(world, learning)
    learning.refresh(database, world.now_ms)
    report_more(world, "a")
    tick_beside(world, learning)
    assert round_state(database) == "crawling"


def test_a_plan_waits_for_what_was_probed_last(database: Database) -> None:
    """Where a probe was ordered when all were done, the plan goes by what that one brought, too."""
    world, learning = probing(database, "a", "b"), ModelTraining()
    probed(world, "a", "b")
    tick_beside(world, learning)
    assert learning.refresh(database, world.now_ms)
    report_more(world, "a")
    world.join("c")
    order_probes(database, ADMIN, world.now_ms, host="h1.jp", agent="c", policy=world.policy)
    tick_beside(world, learning)
    probed(world, "c")
    tick_beside(world, learning)
    assert round_state(database) == "probing"
    assert learning.refresh(database, world.now_ms)
    tick_beside(world, learning)
    assert round_state(database) == "crawling"


def test_a_round_without_a_measurement_is_planned(database: Database) -> None:
    """Where nothing can be learned from what came, nothing is waited for."""
    world, learning = probing(database, "a", "b"), ModelTraining(lambda _: None)
    probed(world, "a", "b")
    tick_beside(world, learning)
    assert not learning.refresh(database, world.now_ms)
    tick_beside(world, learning)
    assert round_state(database) == "crawling"


def test_a_plan_goes_by_the_model_before_where_none_can_be_made(database: Database) -> None:
    """A learner that dies is told to the clock, not asked again for ten minutes, and holds up no
    round."""
    world, asked = probing(database, "a", "b"), []

    def dying(training_data: TrainingData) -> TrainingResult | None:
        asked.append(training_data)
        return failing(training_data)

    learning = ModelTraining(dying)
    probed(world, "a", "b")
    tick_beside(world, learning)
    with pytest.raises(BusyError, match="died"):
        learning.refresh(database, world.now_ms)
    assert not learning.refresh(database, world.now_ms)
    tick_beside(world, learning)
    assert (made_ms(database), round_state(database)) == (None, "crawling")
    with pytest.raises(BusyError, match="died"):
        learning.refresh(database, world.now_ms + AGE_MS)
    assert len(asked) == 2


def test_what_came_is_learned_beside_the_tick(database: Database) -> None:
    """Once, until something new comes and ten minutes are over."""
    world, learning = probing(database, "a"), ModelTraining()
    probed(world, "a")
    assert learning.refresh(database, world.now_ms)
    assert not learning.refresh(database, world.now_ms)
    tick_beside(world, learning)
    report_more(world, "a")
    assert not learning.refresh(database, world.now_ms + AGE_MS - 1)
    assert learning.refresh(database, world.now_ms + AGE_MS)


def test_who_asks_while_it_is_made_makes_no_other(database: Database) -> None:
    """Two that ask at once get one model: the second waits, and finds it made."""
    world = probing(database, "a")
    probed(world, "a")
    begun, go_on, lessons = threading.Event(), threading.Event(), []

    def slowly(training_data: TrainingData) -> TrainingResult | None:
        lessons.append(training_data)
        begun.set()
        assert go_on.wait(60)
        return train(training_data)

    learning = ModelTraining(slowly)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(learning.refresh, database, world.now_ms)
        assert begun.wait(60)
        second = threads.submit(learning.refresh, database, world.now_ms)
        go_on.set()
        assert [first.result(60), second.result(60)] == [True, False]
    assert len(lessons) == 1


def raced(database: Database, now_ms: int) -> Callable[[TrainingData], TrainingResult | None]:
    """Return a learner that is overtaken: another manager has learned of more meanwhile."""

    def overtaken(training_data: TrainingData) -> TrainingResult | None:
        with database.write() as tx:
            newest = predictions.newest_report(tx) + 1
            predictions.set_model(tx, predictions.ModelRow(now_ms, newest, 1, 0.1, "{}"))
        return train(training_data)

    return overtaken


def test_a_model_that_knows_less_replaces_none(database: Database) -> None:
    """What comes last stays only where it knows as much."""
    world = probing(database, "a")
    probed(world, "a")
    learning = ModelTraining(raced(database, 77))
    assert not learning.refresh(database, world.now_ms)
    assert made_ms(database) == 77


def test_who_leads_no_more_enters_no_model(database: Database) -> None:
    """The write of a former leader is refused, however long it was learning."""
    world = probing(database, "a")
    probed(world, "a")

    def refuse(_: Transaction) -> None:
        raise NotLeadingError("another manager leads")

    with pytest.raises(NotLeadingError):
        ModelTraining().refresh(database.fenced(refuse), world.now_ms)
    assert made_ms(database) is None


def test_no_more_is_learned_from_than_is_needed(database: Database) -> None:
    """Units that many agents measured are few; the last one is taken whole."""
    names = [f"a{number}" for number in range(5)]
    world = probing(database, *names, hosts=tuple(f"h{number}.jp" for number in range(9)))
    with database.write() as tx:
        ids = [world.agents[name].identity.id for name in names]
        units = [row.id for row in tx.connection.exec_driver_sql("SELECT id FROM units")]
        set_distances(tx, [_distance(unit, agent) for unit in units for agent in ids])
    with database.read() as tx:
        found = predictions.training_probes(tx, ids, 12)
        of_two = predictions.training_probes(tx, ids[:2], 1000)
    assert len(found) == 15
    assert {agent for _, agent, _ in found} == set(ids)
    assert len(of_two) == 18
    assert {agent for _, agent, _ in of_two} == set(ids[:2])


def _distance(unit: int, agent: int) -> DistanceRow:
    return DistanceRow(
        unit_id=unit, agent_id=agent, since_ms=0, measured_ms=1, round=1, kind="probe", lines=1,
        failed=0, bytes=1000, ms=100, slowest_ms=100, slowest_bytes=1000, ms_per_kb=100.0,
        first_quartile=None, median=None, third_quartile=None, unreachable_since_ms=None,
    )  # fmt: skip
