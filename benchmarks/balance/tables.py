"""The source's tables 5 to 8 beside ours, and the table of methods, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from benchmarks.balance import source
from benchmarks.balance.methods import Measured
from benchmarks.balance.world import HOUR_MS, Floats, World
from manager.balancing.plan import Plan

__all__ = ["print_methods", "print_tables", "print_world", "table"]


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: text left, numbers right."""
    print("\n| " + " | ".join(titles) + " |")
    print("|" + "---|" + "---:|" * (len(titles) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def print_world(worlds: Mapping[int, World]) -> None:
    """Print what the worlds were fitted to, beside the source."""
    rows = [
        (
            "source",
            f"{source.MEDIAN_KB} KB",
            f"{100 * source.TOP_SHARE:.0f}%",
            source.MEDIAN_URLS,
            source.RATIO_MEDIAN,
            source.RATIO_MEAN,
            "-",
        )
    ]
    for seed, world in worlds.items():
        volume = np.sort(world.volume_kb)
        off = np.abs(world.hours.sum(axis=1) / source.ALONE_H - 1).max()
        rows.append(
            (
                f"seed {seed}",
                f"{np.median(volume):.0f} KB",
                f"{100 * volume[-len(volume) // 100 :].sum() / volume.sum():.0f}%",
                int(np.median(world.urls)),
                round(float(np.median(world.ratio)), 1),
                round(float(world.ratio.mean()), 1),
                f"{100 * off:.1f}%",
            )
        )
    table(
        (
            "world",
            "median host",
            "bytes of the largest 1%",
            "median URLs",
            "slowest over fastest, median",
            "mean",
            "hours alone, worst error",
        ),
        rows,
    )


def print_tables(world: World, plans: Mapping[str, Plan]) -> None:
    """Print tables 5 to 8. plans: by the labels of `methods.measure`."""
    print("\n## Table 5: for how many hosts an agent is the slowest and the fastest")
    fastest, slowest = world.count("fastest"), world.count("slowest")
    table(
        ("agent", "slowest: source", "ours", "fastest: source", "ours"),
        zip(source.NAMES, source.SLOWEST, slowest, source.FASTEST, fastest, strict=True),
    )
    shown = ("tree, as the source", "tree", "default, from the random deal")
    print("\n## Table 6: hosts given to each agent")
    table(
        ("agent", "source", *shown),
        zip(source.NAMES, source.ASSIGNED, *(plans[one].units_after for one in shown), strict=True),
    )
    print("\n## Table 7: hours of each agent, one thread")
    ours = [plans[one].costs_after_ms / HOUR_MS for one in ("random", *shown)]
    columns: list[Floats] = [
        source.RANDOM_H,
        ours[0],
        source.EVEN_H,
        source.MEASURED_H,
        *ours[1:],
    ]
    rows = [
        (name, *(f"{hours:.1f}" for hours in each))
        for name, *each in zip(source.NAMES, *columns, strict=True)
    ]
    greatest = [float(column.max()) for column in columns]
    rows.append(("greatest", *(f"{hours:.1f}" for hours in greatest)))
    base = [greatest[0], greatest[1], greatest[0], greatest[0], *[greatest[1]] * 3]
    rows.append(
        ("gain over random", *(f"{one / own:.1f}" for one, own in zip(base, greatest, strict=True)))
    )
    table(
        (
            "agent",
            "random: source",
            "ours",
            "equalised: source, predicted",
            "source, measured",
            *shown,
        ),
        rows,
    )
    print("\n## Table 8: hours for all 6,500 hosts alone, and all agents together")
    alone = world.hours
    rows = [
        (name, one, f"{ours_1:.0f}", many, f"{ours_200:.0f}")
        for name, one, ours_1, many, ours_200 in zip(
            source.NAMES,
            source.ALONE_H,
            alone.sum(axis=1),
            source.ALONE_200_H,
            _in_parallel(alone.sum(axis=1), alone.max(axis=1)),
            strict=True,
        )
    ]
    for label, theirs in ((shown[0], ("109.5", source.BALANCED_200_H)), (shown[2], ("-", "-"))):
        plan = plans[label]
        hosts = alone[plan.after, np.arange(alone.shape[1])]
        longest = np.zeros(len(alone))
        np.maximum.at(longest, plan.after, hosts)
        sums = plan.costs_after_ms / HOUR_MS
        rows.append(
            (
                f"all: {label}",
                theirs[0],
                f"{sums.max():.1f}",
                theirs[1],
                f"{_in_parallel(sums, longest).max():.1f}",
            )
        )
    table(("agent", "1 thread: source", "ours", "200 threads: source", "ours"), rows)


def _in_parallel(hours: Floats, longest: Floats) -> Floats:
    """Return hours with 200 threads, as the source reckons them (its footnote 12)."""
    return np.maximum(hours / source.THREADS, longest)


def print_methods(runs: Mapping[str, Sequence[Measured]]) -> None:
    """Print one row a method: median and range over the worlds."""
    rows = []
    for label, each in runs.items():
        over = np.array([one.over_lp for one in each])
        gain = np.array([one.gain for one in each])
        rows.append(
            (
                label,
                f"{np.median(over):.3f} ({over.min():.3f}-{over.max():.3f})",
                f"{np.median(gain):.1f} ({gain.min():.1f}-{gain.max():.1f})",
                int(np.median([one.rounds for one in each])) or "-",
                int(np.median([len(one.plan.moves) for one in each])),
                f"{np.median([one.seconds for one in each]):.2f}",
            )
        )
    table(("method", "makespan over LP", "gain over random", "steps", "moves", "seconds"), rows)
