"""Tables on the terminal, and the source's figures as SVG files."""

from __future__ import annotations

from pathlib import Path

from benchmarks.dedup.ledger_savings import SOURCE_LRU_KEY_BYTES, lru_bytes_for
from benchmarks.dedup.simulate import Mistakes
from benchmarks.dedup.speed import SOURCE_TABLE_1
from benchmarks.plot import Figure, Points, draw

__all__ = ["Runs", "draw_all", "print_crawl", "print_runs", "print_table_1"]

Runs = dict[str, dict[int, Mistakes]]
"""By structure, then by its size: keys, counters or bytes."""


def print_runs(runs: Runs) -> None:
    """Print every run."""
    head = ("structure", "size", "bytes", "hit rate", "FP rate", "FP", "FN")
    print("{:24} {:>10} {:>11} {:>9} {:>10} {:>8} {:>9}".format(*head))
    for name, sizes in runs.items():
        for size, run in sorted(sizes.items()):
            print(
                f"{name:24} {size:>10} {run.nbytes:>11} {run.hit_rate:>9.4f} {run.fp_rate:>10.2e} "
                f"{run.false_positives:>8} {run.false_negatives:>9}"
            )
    print()


def print_table_1(ours: dict[str, float]) -> None:
    """Print table 1 beside the source's."""
    print(
        "Table 1: seconds for 2 * 10^9 decrements of counters      source      ours   ratio to SBF"
    )
    for name, seconds in ours.items():
        theirs = SOURCE_TABLE_1.get(name)
        said = f"{theirs:>11.4g}" if theirs else f"{'-':>11}"
        print(f"  {name:50} {said} {seconds:>9.4g} {ours['sbf'] / seconds:>10.1f}")
    print()


def print_crawl(found: dict[str, dict[str, float]]) -> None:
    """Print what each memory saves before the exact set."""
    print("Module dedup with the ledger on disk    us a link   asked of the disk, of each link")
    for name, figures in found.items():
        print(f"  {name:36} {figures['us_per_link']:>10.2f} {figures['asked_per_link']:>12.3f}")
    print()


def draw_all(folder: Path, runs: Runs) -> None:
    """Draw figures 5 to 10 of the source, and one of all structures."""
    folder.mkdir(parents=True, exist_ok=True)
    lru = runs["lru"]
    hits = "hit rate"
    draw(
        folder / "figure-5.svg",
        Figure("Figure 5: hit rate of an LRU", "keys", hits, {"LRU": _hits(lru)}),
    )
    both = {"SBF": runs["lru+sbf k=4 1%"], "SBFL": runs["lru+sbfl k=4 1%"]}
    draw(
        folder / "figure-6.svg",
        Figure(
            "Figure 6: false positives (k=4, FPR=1 %)",
            "counters",
            "count",
            {
                name: [(size, run.false_positives) for size, run in sorted(sizes.items())]
                for name, sizes in both.items()
            },
        ),
    )
    draw(
        folder / "figure-7.svg",
        Figure(
            "Figure 7: false negatives (k=4, FPR=1 %)",
            "counters",
            "count",
            {
                name: [(size, run.false_negatives) for size, run in sorted(sizes.items())]
                for name, sizes in both.items()
            },
        ),
    )
    draw(
        folder / "figure-8.svg",
        Figure(
            "Figure 8: hit rate of LRU and SBFL",
            "counters",
            hits,
            {
                "k=8, 0.001 %": _hits(runs["lru+sbfl k=8 0.001%"]),
                "k=4, 1 %": _hits(runs["lru+sbfl k=4 1%"]),
            },
        ),
    )
    for number, name, words in (
        (9, "lru+sbfl k=8 0.001%", "k=8, FPR=0.001 %"),
        (10, "lru+sbfl k=4 1%", "k=4, FPR=1 %"),
    ):
        _draw_memory(folder / f"figure-{number}.svg", number, words, runs[name], lru)
    draw(
        folder / "all.svg",
        Figure(
            "Hit rate over memory (an LRU's key counted as 20 bytes)",
            "bytes",
            hits,
            {
                name: [(run.nbytes, run.hit_rate) for run in sizes.values()]
                for name, sizes in runs.items()
                if name not in ("exact", "lru+sbf k=4 1%", "buckets 64")
            },
        ),
    )


def _draw_memory(
    path: Path, number: int, words: str, layered: dict[int, Mistakes], lru: dict[int, Mistakes]
) -> None:
    ours: list[tuple[float, float]] = []
    alone: list[tuple[float, float]] = []
    for run in layered.values():
        needed = lru_bytes_for(run.hit_rate, lru, SOURCE_LRU_KEY_BYTES)
        if needed is not None:
            ours.append((run.hit_rate, run.nbytes))
            alone.append((run.hit_rate, needed))
    series: dict[str, Points] = {"LRU + SBFL": ours, "LRU alone": alone}
    title = f"Figure {number}: memory at equal hit rate ({words})"
    if ours:
        draw(path, Figure(title, "hit rate", "bytes", series, log_x=False, log_y=False))


def _hits(sizes: dict[int, Mistakes]) -> Points:
    return [(size, run.hit_rate) for size, run in sorted(sizes.items())]
