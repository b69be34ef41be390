"""Runs one lying agent through real rounds: `make bench-lying`; ARGS="--quick" for a look.

Each figure is the true makespan of the plan that the manager makes next, over the better of two
plans: the one without lies, and the one without that agent. Four of each lie:
- `once`, `later`: all crawled an honest round before; the plan after the round of the lie, and the
  one after another such round.
- `first`, `second`: the agent lies from its first log on, so that the manager has no history of
  it; the plan after that round, and the one after another.
`--slow 8` makes the agent so slow in truth, too. The last line is `RESULT {json}`.
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
from shared.frozen import frozen
from tests.empty_database import empty_database

HOSTS_OF: Final = {3: 60, 8: 112, 17: 204}
LIAR: Final = "agent0"
GOAL: Final = 1.05
MEMORY: Final = "/dev/shm"
"""A disk that has to be waited for would only make it slower."""


FIGURES: Final = ("once", "later", "first", "second")


@frozen
class Case:
    """A world and its agents' work. slow: the liar's true distances over the drawn ones."""

    agents: int
    seed: int
    slow: float
    slots: int
    rest_ms: int
    fetches_again: bool

    @property
    def label(self) -> str:
        """Return the case without its seed."""
        slow = f", it is {self.slow:g} times slower" if self.slow != 1 else ""
        return f"{self.agents} agents{slow}"

    def truth(self) -> Truth:
        """Draw the world."""
        hosts = HOSTS_OF.get(self.agents, 10 * self.agents)
        return draw_truth(self.agents, hosts, self.seed).with_slow(0, self.slow)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lying")
    parser.add_argument("--quick", action="store_true", help="3 agents, one seed")
    parser.add_argument("--agents", type=int, nargs="*", default=[3, 8, 17])
    parser.add_argument("--seeds", type=int, default=1, help="worlds of each size")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--lies", nargs="*", default=list(LIES), choices=list(LIES))
    parser.add_argument("--parts", nargs="*", default=["history", "first"])
    parser.add_argument("--slow", type=float, default=1.0, help="times that the liar is slower")
    parser.add_argument("--slots", type=int, default=200, help="units side by side; 1: in turn")
    parser.add_argument("--rest-ms", type=int, default=0, help="after each request")
    parser.add_argument(
        "--fetch-again",
        action="store_true",
        help="crawls repeat their probes",
    )
    options = parser.parse_args()
    results: dict[str, dict[str, list[float]]] = {}
    for agents in [3] if options.quick else options.agents:
        for seed in range(options.seed, options.seed + options.seeds):
            case = Case(
                agents, seed, options.slow, options.slots, options.rest_ms, options.fetch_again
            )
            _measure(case, options.lies, options.parts, results)
    _print(results)


def _measure(
    case: Case,
    lies: Sequence[str],
    parts: Sequence[str],
    results: dict[str, dict[str, list[float]]],
) -> None:
    began = time.monotonic()
    memory = MEMORY if Path(MEMORY).is_dir() else None
    with tempfile.TemporaryDirectory(prefix="prsm-lying-", dir=memory) as place:
        folder = Path(place)
        before = _fleet(folder / "honest", case)
        before.begin()
        before.crawl_round()
        honest = _copy(before, folder / "all")
        best = [_best(honest, folder / "without 1")]
        honest.crawl_round()
        best.append(_best(honest, folder / "without 2"))
        for name in lies:
            found = results.setdefault(f"{case.label}, {name}", {})
            words = []
            for part in parts:
                at = folder / f"{part} {name.replace('/', 'by')}"
                fleet = _copy(before, at) if part == "history" else _fleet(at, case)
                words += _lie(fleet, name, best, found, has_history=part == "history")
            print(
                f"{case.label}, seed {case.seed}, {name}: "
                + ", ".join(f"{what} {values[-1]:.3f}" for what, values in found.items())
                + f"; {'; '.join(dict.fromkeys(words)) or 'not suspect'}"
                + f" ({time.monotonic() - began:.0f} s)",
                flush=True,
            )


def _lie(
    fleet: Fleet,
    name: str,
    best: Sequence[float],
    found: dict[str, list[float]],
    *,
    has_history: bool,
) -> list[str]:
    """Run two rounds in which an agent lies, and enter what that does; return why it is suspect."""
    fleet.lies[LIAR] = LIES[name]
    if not has_history:
        fleet.begin()
    words = []
    figures = FIGURES[:2] if has_history else FIGURES[2:]
    for figure, reached in zip(figures, (best[1], best[1]) if has_history else best, strict=True):
        fleet.crawl_round()
        _enter(found, figure, fleet.planned() / reached)
        words.append(fleet.suspicion(LIAR))
    others = sum(bool(fleet.suspicion(one)) for one in fleet.truth.agents if one != LIAR)
    _enter(found, "flagged", float(any(words)))
    _enter(found, "others flagged", float(others))
    return [word for word in words if word]


def _best(honest: Fleet, folder: Path) -> float:
    """Return the true makespan of the better plan: without lies, or without the agent."""
    without = _copy(honest, folder)
    without.leave(LIAR)
    made = honest.planned(), without.planned()
    suspects = [one for one in honest.truth.agents if honest.suspicion(one)]
    print(f"honest {made[0]:.0f} ms, without {made[1]:.0f} ms, suspects {suspects}", flush=True)
    return min(made)


def _fleet(folder: Path, case: Case) -> Fleet:
    folder.mkdir()
    (folder / "db").write_bytes(empty_database())
    return Fleet(
        Database(f"sqlite:///{folder / 'db'}"),
        folder,
        case.truth(),
        case.seed,
        slots=case.slots,
        rest_ms=case.rest_ms,
        fetches_again=case.fetches_again,
    )


def _copy(fleet: Fleet, folder: Path) -> Fleet:
    """Return the same fleet with a separate database and files."""
    fleet.db.engine.dispose()
    shutil.copytree(fleet.folder, folder)
    twin = Fleet(
        Database(f"sqlite:///{folder / 'db'}"),
        folder,
        fleet.truth,
        fleet.seed,
        slots=fleet.slots,
        rest_ms=fleet.rest_ms,
        fetches_again=fleet.fetches_again,
    )
    twin.go_on_from(copy.deepcopy(fleet.state()))
    return twin


def _enter(found: dict[str, list[float]], what: str, value: float) -> None:
    found.setdefault(what, []).append(value)


def _print(results: dict[str, dict[str, list[float]]]) -> None:
    """Print the worst figures of all worlds of a size."""
    print(f"\n| fleet and lie | {' | '.join(FIGURES)} | named | others named | within {GOAL} |")
    print("|---|" + "---|" * (len(FIGURES) + 3))
    worst = dict.fromkeys(FIGURES, 0.0)
    for label, found in results.items():
        row = {figure: max(found.get(figure, [0.0])) for figure in FIGURES}
        worst = {figure: max(worst[figure], value) for figure, value in row.items()}
        named, others = (
            sum(found[what]) / len(found[what]) for what in ("flagged", "others flagged")
        )
        cells = [f"{value:.3f}" if value else "" for value in row.values()]
        held = "yes" if max(row.values()) <= GOAL else "no"
        print(f"| {label} | {' | '.join(cells)} | {named:.0%} | {others:g} | {held} |")
    print("\nRESULT " + json.dumps({figure: round(value, 4) for figure, value in worst.items()}))


if __name__ == "__main__":
    main()
