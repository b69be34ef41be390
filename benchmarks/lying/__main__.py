"""Runs one lying agent through real rounds: `make bench-lying`; ARGS="--quick" for a look.

A fleet that has crawled one honest round; then one agent lies in all that it logs. Each figure is
the true makespan of the plan that the manager makes next, over the better of two plans: the one
where nobody lies, and the one without that agent. `at once`: after the round of the lie.
`later`: a round after that, with the lie going on. `first`: the agent lies from its first log on,
so that the manager has no history of it; the plan after its probes. The last line is
`RESULT {json}`.
"""

from __future__ import annotations

import argparse
import copy
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.lying.fleet import Fleet, Truth, draw_truth
from benchmarks.lying.lies import LIES
from manager.db.engine import Database
from tests.empty_database import empty_database

HOSTS_OF: Final = {3: 60, 8: 112, 17: 204}
LIAR: Final = "agent0"
GOAL: Final = 1.05


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lying")
    parser.add_argument("--quick", action="store_true", help="3 agents, one seed")
    parser.add_argument("--agents", type=int, nargs="*", default=[3, 8, 17])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--lies", nargs="*", default=list(LIES))
    parser.add_argument("--first", action="store_true", help="also lies from the first log on")
    options = parser.parse_args()
    sizes, seeds = ([3], 1) if options.quick else (options.agents, options.seeds)
    results: dict[str, dict[str, list[float]]] = {}
    for agents in sizes:
        for seed in range(seeds):
            _measure(agents, seed, options.lies, results, first=options.first)
    _print(results)


def _measure(
    agents: int,
    seed: int,
    lies: Sequence[str],
    results: dict[str, dict[str, list[float]]],
    *,
    first: bool,
) -> None:
    truth = draw_truth(agents, HOSTS_OF.get(agents, 10 * agents), seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="prsm-lying-") as place:
        folder = Path(place)
        before = _fleet(folder / "honest", truth, seed)
        before.begin()
        before.crawl_round()
        best = _best(before, folder)
        for name in lies:
            found = results.setdefault(f"{agents} agents, {name}", {})
            fleet = _copy(before, folder / name.replace("/", "by"))
            fleet.lies[LIAR] = LIES[name]
            fleet.crawl_round()
            _enter(found, "at once", fleet.planned() / best)
            flagged = bool(fleet.suspicion(LIAR))
            fleet.crawl_round()
            _enter(found, "later", fleet.planned() / best)
            _enter(found, "flagged", float(flagged))
            blamed = sum(bool(fleet.suspicion(one)) for one in truth.agents if one != LIAR)
            _enter(found, "others flagged", float(blamed))
            if first:
                new = _fleet(folder / f"first {name.replace('/', 'by')}", truth, seed)
                new.lies[LIAR] = LIES[name]
                new.begin()
                new.crawl_round()
                _enter(found, "first", new.planned() / best)
            print(
                f"{agents} agents, seed {seed}, {name}: "
                + ", ".join(f"{what} {values[-1]:.3f}" for what, values in found.items())
                + f"; {fleet.suspicion(LIAR) or 'not suspect'}"
                + f" ({time.monotonic() - began:.0f} s)",
                flush=True,
            )


def _best(before: Fleet, folder: Path) -> float:
    """Return the true makespan of the better plan: nobody lies, or without the agent."""
    honest = _copy(before, folder / "all")
    honest.crawl_round()
    without = _copy(honest, folder / "without")
    without.leave(LIAR)
    made = honest.planned(), without.planned()
    suspects = [one for one in before.truth.agents if honest.suspicion(one)]
    print(f"honest {made[0]:.0f} ms, without {made[1]:.0f} ms, suspects {suspects}", flush=True)
    return min(made)


def _fleet(folder: Path, truth: Truth, seed: int) -> Fleet:
    folder.mkdir()
    (folder / "db").write_bytes(empty_database())
    return Fleet(Database(f"sqlite:///{folder / 'db'}"), folder, truth, seed)


def _copy(fleet: Fleet, folder: Path) -> Fleet:
    """Return the same fleet with a database and files of its own."""
    fleet.db.engine.dispose()
    shutil.copytree(fleet.folder, folder)
    twin = Fleet(Database(f"sqlite:///{folder / 'db'}"), folder, fleet.truth, fleet.seed)
    twin.go_on_from(copy.deepcopy(fleet.state()))
    return twin


def _enter(found: dict[str, list[float]], what: str, value: float) -> None:
    found.setdefault(what, []).append(value)


def _print(results: dict[str, dict[str, list[float]]]) -> None:
    print(f"\n| fleet and lie | at once, worst | later, worst | flagged | goal {GOAL} |")
    print("|---|---|---|---|---|")
    for label, found in results.items():
        once, later = max(found["at once"]), max(found["later"])
        share = sum(found["flagged"]) / len(found["flagged"])
        held = "yes" if max(once, later) <= GOAL else "no"
        print(f"| {label} | {once:.3f} | {later:.3f} | {share:.0%} | {held} |")
    worst = {
        what: round(max(max(found[what]) for found in results.values()), 4)
        for what in ("at once", "later")
    }
    print("\nRESULT " + json.dumps(worst))


if __name__ == "__main__":
    main()
