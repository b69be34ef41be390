"""Compares the figures of a benchmark at an old commit and in this tree, in one run.

    python -m benchmarks.comparison OLD BENCHMARK [--rounds 2] [--figures cpu,p95] [-- ARGUMENTS]

Example: `python -m benchmarks.comparison v1.0 fetching --rounds 2 -- --pages 2000`.
The old commit is checked out below `build/comparison` and gets an environment from its lock files;
both stay there for the next run. Each round runs old, new, new, old, so that a machine
whose speed drifts hits both alike. Each number of the benchmark's line `RESULT {json}` becomes a
row: the median at the old commit, here, and the ratio. The last line is `RESULT` and JSON:
`ratios` by figure, and `runs`, the number of runs of each side.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
MARK: Final = "RESULT "
ORDER: Final = ("old", "new", "new", "old")

Runs = Mapping[str, Sequence[Mapping[str, float]]]


def check_out(root: Path, commit: str) -> Path:
    """Return a work tree of a commit with its environment. Raises SystemExit: unknown commit."""
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    if found.returncode:
        sys.exit(f"{commit}: not a commit of {root}; see `git log --oneline`")
    folder = root / "build" / "comparison" / found.stdout.strip()[:12]
    if not folder.exists():
        _git(root, "worktree", "prune")
        made = _git(root, "worktree", "add", "--detach", str(folder), found.stdout.strip())
        if made.returncode:
            sys.exit(f"{folder}: no work tree: {made.stderr.strip()}")
    subprocess.run(["make", "dev"], cwd=folder, check=True, env=_environment(folder))
    return folder


def figures_of(output: str) -> dict[str, float]:
    """Return the numbers of the last RESULT line by their path. Raises ValueError: no such line."""
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        raise ValueError("the benchmark printed no line RESULT {json}")
    return dict(_numbers(json.loads(lines[-1].removeprefix(MARK)), ""))


def ratios_of(runs: Runs, wanted: tuple[str, ...]) -> dict[str, tuple[float, float, float]]:
    """Return (old, new, new / old) by figure: medians over the runs that have it on both sides.

    wanted: parts of names; empty: all figures. A figure that is 0 at the old commit has no ratio.
    """
    names = [name for name in runs["old"][0] if not wanted or any(part in name for part in wanted)]
    rows = {}
    for name in names:
        old, new = ([run[name] for run in runs[side] if name in run] for side in ("old", "new"))
        if old and new and (before := statistics.median(old)):
            after = statistics.median(new)
            rows[name] = (before, after, after / before)
    return rows


def main() -> None:
    """Run both sides in turns; print the table and the result."""
    asked = read_arguments(sys.argv[1:])
    folders = {"old": check_out(ROOT, asked.old), "new": ROOT}
    runs: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
    for side in ORDER * asked.rounds:
        runs[side].append(_run(folders[side], asked.benchmark, asked.arguments))
        print(f"{side}: {json.dumps(runs[side][-1])}", flush=True)
    rows = ratios_of(runs, tuple(filter(None, asked.figures.split(","))))
    if not rows:
        sys.exit(f"--figures {asked.figures}: no figure has such a name; see the lines above")
    for name, (old, new, ratio) in rows.items():
        print(f"{name:50} {old:14.2f} {new:14.2f} {ratio:8.3f}")
    ratios = {name: round(ratio, 4) for name, (_, _, ratio) in rows.items()}
    print(MARK + json.dumps({"ratios": ratios, "runs": len(runs["new"])}))


def _run(folder: Path, benchmark: str, arguments: list[str]) -> dict[str, float]:
    done = subprocess.run(
        [".venv/bin/python", "-m", f"benchmarks.{benchmark}", *arguments],
        cwd=folder,
        env=_environment(folder),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"benchmarks.{benchmark} in {folder} ended with {done.returncode}:\n{done.stdout}")
    return figures_of(done.stdout)


def _environment(folder: Path) -> dict[str, str]:
    # The same place for modules in both trees; without it, an installed one may be imported.
    return os.environ | {"PYTHONPATH": str(folder)}


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(inner, f"{path}[{number}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
    )


def read_arguments(argv: list[str]) -> argparse.Namespace:
    """Return the options of a comparison; `arguments`: those of the benchmark, behind `--`."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.comparison",
        usage="%(prog)s [--rounds N] [--figures PARTS] OLD BENCHMARK [-- ARGUMENTS]",
        description=str(__doc__).splitlines()[0],
    )
    parser.add_argument("old", help="the commit to compare with")
    parser.add_argument("benchmark", help="a module of benchmarks, as `console`")
    parser.add_argument("--rounds", type=int, default=1, help="each is two runs of each side")
    parser.add_argument("--figures", default="", help="parts of figures' names, with commas")
    # argparse fills a list of arguments before it has read the options, so it is parted here.
    split = argv.index("--") if "--" in argv else len(argv)
    own, passed = argv[:split], argv[split + 1 :]
    return parser.parse_args(own, argparse.Namespace(arguments=passed))


if __name__ == "__main__":
    main()
