"""What a trial calls broken, and what the table and the figures say of it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.causes import all_faults
from benchmarks.faults.check import Verdict
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.report import Outcome, result_of, table


def nothing(_: Trial) -> None:
    """Break nothing."""


def outcome(trial: Trial, verdict: Verdict | None = None, missing: str = "") -> Outcome:
    return Outcome(Fault("f", "it holds", nothing), trial, 1.0, verdict, missing)


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


def test_figures_count_what_was_made(tmp_path: Path) -> None:
    """A fault that could not be made is neither held nor broken."""
    good, bad = Trial(tmp_path, causes=3), Trial(tmp_path, causes=1)
    good.within("service", 2.04, 10.0)
    bad.wrong.append("lost: a report")
    outcomes = [
        outcome(good, Verdict()),
        outcome(bad, Verdict(lost=["x", "y"], double=["z"])),
        outcome(Trial(tmp_path), missing="needs root"),
    ]
    result = result_of(outcomes)
    assert {name: result[name] for name in ("faults", "held", "not_made", "causes")} == {
        "faults": 2,
        "held": 1,
        "not_made": 1,
        "causes": 4,
    }
    assert (result["lost_acknowledged"], result["double_owners"]) == (2, 1)
    assert result["worst_service_recovery_s"] == 2.0
    rows = table(outcomes).splitlines()
    assert [row.rstrip(" |").rpartition("| ")[2] for row in rows[2:]] == ["yes", "NO", "not made"]


def test_faults_have_names_of_their_own_and_say_what_they_promise() -> None:
    faults = all_faults()
    assert len(faults) >= 20
    assert all(one.promise and one.times >= one.quick_times >= 1 for one in faults)
