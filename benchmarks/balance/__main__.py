"""Runs the evaluation: `make bench-balance`; ARGS="--quick" for a look, "--folder DIR" for plots.

Transfer only, one thread, as in the source. The last line is `RESULT {json}`:

    tree_gain_17            of `tree` over the random deal, median over the worlds (source: 8.3)
    default_over_lp_17      of `default`, the worst of all worlds, from a random deal and at first
    default_over_bound_200  200 agents x 500,000 hosts, with seconds_200 and rss_mb_200; those
                            that begin with end_: by the end of the crawl, with one thread each
                            (alone: ARGS="--only large")
    churn_over_bound_p95    of `default` over the rounds of all worlds
    churn_moves_share_p95   of the hosts that change hands in a round because they are moved or
                            because their owner left; new hosts are not counted

and of the end of the whole crawl (`real_time`; alone: ARGS="--only ends"; splits alone:
ARGS="--only splits"):

    default_over_bound_1, default_over_bound_200t  end over the bound, worst of all worlds,
                            with one thread and with 200
    speedup_1, speedup_200t least and greatest, over one agent alone (source: 6.3 and 286)
    network_over_cheapest   worst, over the least of any plan with the same end
    requests_per_page       of a first round, worst
    all_probed_...          the same where every agent probes every host, as in the source
    whole_over_bound, split_over_bound  worst of the cases of `splits`, with whole hosts and with
                            the splits that pay, over the bound of each
    split_gain, hosts_split of each case: end with whole hosts over that with splits
    moved_share             moved by choice in 30 rounds of churn, the greatest of all
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.balance.churn import Churned, churn
from benchmarks.balance.ends import measure_ends
from benchmarks.balance.large import Large, measure_large
from benchmarks.balance.methods import DEFAULT_ROWS, Measured, measure
from benchmarks.balance.source import NAMES
from benchmarks.balance.splits import measure_splits
from benchmarks.balance.tables import print_methods, print_tables, print_world, table
from benchmarks.balance.world import HOUR_MS, calibrated_world
from benchmarks.plot import Figure, draw

CHURN_METHODS = ("keep", "tree", "exchange", "prices", "default")


def main() -> None:
    """Measure, print, draw."""
    options = _options()
    if options.only == "splits":
        print("\nRESULT " + json.dumps(measure_splits(calibrated_world(0, 1_500))))
        return
    size = (50, 50_000) if options.quick else (200, 500_000)
    if options.only == "large":
        print("\nRESULT " + json.dumps(_large_keys(*_large(*size))))
        return
    ends = measure_ends(quick=options.quick)
    if options.only == "ends":
        print("\nRESULT " + json.dumps(ends))
        return
    seeds = range(2 if options.quick else 5)
    worlds = {seed: calibrated_world(seed) for seed in seeds}
    print_world(worlds)
    runs: dict[str, list[Measured]] = {}
    for seed, world in worlds.items():
        for one in measure(world, seed):
            runs.setdefault(one.label, []).append(one)
    print_tables(worlds[0], {label: each[0].plan for label, each in runs.items()})
    print(f"\n## Methods, {len(seeds)} worlds of 17 x 6,500: median (and range)")
    print_methods(runs)

    large, large_end = _large(*size)

    rounds = 10 if options.quick else 50
    churned = [churn(method, 0, rounds) for method in CHURN_METHODS]
    default = Churned("default", churned[-1].rounds + churn("default", 1, rounds).rounds)
    print(f"\n## Churn, {rounds} rounds: median and 95th percentile; default in two worlds")
    _print_churn([*churned[:-1], default])
    if options.folder:
        _draw(options.folder, runs, churned)
    result = {
        **ends,
        "tree_gain_17": round(float(np.median([one.gain for one in runs["tree"]])), 2),
        "default_over_lp_17": round(
            max(one.over_lp for label in DEFAULT_ROWS for one in runs[label]), 4
        ),
        **_large_keys(large, large_end),
        "churn_over_bound_p95": round(default.percentile("over_bound", 95), 4),
        "churn_moves_share_p95": round(default.percentile("moved", 95), 4),
    }
    print("\nRESULT " + json.dumps(result))


def _large(agents: int, hosts: int) -> tuple[Large, Large]:
    """Print first placements of many agents and hosts by transfer and by the end; return both."""
    print(f"\n## {agents} agents x {hosts:,} hosts, first placement by default")
    found = measure_large(agents, hosts), measure_large(agents, hosts, "end")
    table(
        ("objective", "over bound", "seconds", "RSS, MB", "moves"),
        [
            (
                label,
                f"{one.over_bound:.3f}",
                f"{one.seconds:.1f}",
                f"{one.rss_mb:.0f}",
                one.moves,
            )
            for label, one in zip(("greatest transfer", "end, one thread"), found, strict=True)
        ],
    )
    return found


def _large_keys(transfer: Large, end: Large) -> dict[str, object]:
    return {
        "default_over_bound_200": round(transfer.over_bound, 4),
        "seconds_200": round(transfer.seconds, 1),
        "rss_mb_200": round(transfer.rss_mb),
        "end_over_bound_200": round(end.over_bound, 4),
        "end_seconds_200": round(end.seconds, 1),
        "end_rss_mb_200": round(end.rss_mb),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.balance")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--only", choices=["ends", "large", "splits"], help="a part of it alone")
    parser.add_argument("--folder", type=Path, help="draw figures here")
    return parser.parse_args()


def _print_churn(churned: list[Churned]) -> None:
    columns = ("over_bound", "chosen", "forced", "bytes")
    rows = []
    for one in churned:
        cells = [
            f"{one.percentile(what, 50):.3f}, {one.percentile(what, 95):.3f}" for what in columns
        ]
        rows.append((one.method, *cells, f"{one.percentile('seconds', 50):.2f}"))
    table(
        (
            "method",
            "makespan over bound",
            "hosts moved by choice",
            "hosts whose owner left",
            "bytes moved by choice",
            "seconds a round",
        ),
        rows,
    )


def _draw(folder: Path, runs: dict[str, list[Measured]], churned: list[Churned]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = ("random", "tree, as the source", "tree", "exchange", DEFAULT_ROWS[0])
    draw(
        folder / "balance-agents.svg",
        Figure(
            "Table 7: hours of each agent, the longest first (seed 0)",
            f"agent, of {len(NAMES)}",
            "hours",
            {
                label: list(
                    enumerate(np.sort(runs[label][0].plan.costs_after_ms / HOUR_MS)[::-1], 1)
                )
                for label in shown
            },
            log_x=False,
            log_y=True,
        ),
    )
    for name, title, what in (
        ("balance-churn.svg", "Makespan over the bound in each round of churn", "over_bound"),
        ("balance-moves.svg", "Share of the hosts moved by choice in each round", "chosen"),
    ):
        draw(
            folder / name,
            Figure(
                title,
                "round",
                "makespan / bound" if what == "over_bound" else "share",
                {
                    one.method: [(n, getattr(r, what)) for n, r in enumerate(one.rounds, 1)]
                    for one in churned
                    if what == "over_bound" or one.method != "keep"
                },
                log_x=False,
            ),
        )


if __name__ == "__main__":
    main()
