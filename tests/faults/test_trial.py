"""What a trial calls broken, and what the table and the figures say of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.causes import all_faults
from benchmarks.faults.fault import Shared, Trial
from benchmarks.faults.report import Outcome, result_of, table


def test_the_worst_of_all_repetitions_is_judged(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    for seconds in (1.0, 10.5, 2.0):
        trial.within("service", seconds, 10.0)
    trial.within("leader", 10.0, 10.0)
    assert trial.broken == ["service: 10.5 s, promised are 10 s"]
    assert trial.figures == {"service": 10.5, "leader": 10.0}


def test_what_never_came_back_is_broken(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    trial.within("agents", None, 30.0)
    assert trial.unwell
    assert trial.broken
    waiting = Trial(tmp_path)
    waiting.wait("a miracle", lambda: False, 0.0)
    assert waiting.broken == ["a miracle: not within 0 s"]


def test_a_claim_is_kept_or_broken(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    trial.claim("one leads", holds=True)
    assert not trial.broken
    trial.claim("one leads", holds=False)
    assert trial.broken == ["not so: one leads"]


def test_figures_count_what_was_made() -> None:
    """A fault that could not be made is neither held nor broken; nor is one not come to."""
    outcomes = [
        Outcome("good", causes=3, figures={"service": 2.04}),
        Outcome("bad", causes=1, lost=2, double=1, broken=["lost: a report"]),
        Outcome("none", missing="needs root"),
    ]
    result = result_of(outcomes, 5)
    assert {name: result[name] for name in ("faults", "held", "not_made", "not_reached")} == {
        "faults": 2,
        "held": 1,
        "not_made": 1,
        "not_reached": 2,
    }
    assert (result["lost_acknowledged"], result["double_owners"]) == (2, 1)
    assert (result["causes"], result["worst_service_recovery_s"]) == (4, 2.0)
    rows = table(outcomes).splitlines()
    assert [row.rstrip(" |").rpartition("| ")[2] for row in rows[2:]] == ["yes", "NO", "not made"]


def test_an_outcome_is_told_to_another_process() -> None:
    one = Outcome("f", "it holds", 2, {"leader": 1.5}, ["late"], ["why"], "", 1, 0, 0.25, 9.5)
    assert Outcome.from_json(one.to_json()) == one


def test_what_is_shared_is_made_once_and_ended() -> None:
    """For the next fault it is there; after `close` it is made anew."""
    said: list[str] = []

    @contextmanager
    def system() -> Iterator[int]:
        said.append("begun")
        yield len(said)
        said.append("ended")

    shared = Shared()
    assert shared.get("system", system) == shared.get("system", system) == 1
    shared.close()
    assert said == ["begun", "ended"]
    assert shared.get("system", system) == 3
    shared.close()


def test_faults_have_names_of_their_own_and_say_what_they_promise() -> None:
    faults = all_faults()
    assert len(faults) >= 20
    assert all(one.promise and one.times >= one.quick_times >= 1 for one in faults)


def test_faults_that_need_little_come_first_and_set_clocks_last() -> None:
    kinds = [(not one.alone, one.clocks) for one in all_faults()]
    assert kinds == sorted(kinds)
