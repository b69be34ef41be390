"""Decisions of scope rules a CPU-second, and what a page's language costs: `make bench-scope`.

Lists of 10, 1,000 and 100,000 rules of mixed kinds, decided here, by a plain loop of `re`, and by
dictionaries of names with a loop of the rest (`readers.py`), in turns on the same URLs. A list that
a manager takes has 2,000 rules; the longest shows the index. Then pages read with and without the
question for their language. Prints tables and `RESULT {json}`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Final

from agent.modules.limits import PageLimits
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched
from benchmarks.pages.samples import real, simulated
from benchmarks.progress import say
from benchmarks.scope.readers import Reader, by_kind, check, loop, ours
from benchmarks.scope.rule_lists import rules_of, shares, urls_of

SIZES: Final = (10, 1_000, 100_000)
URLS: Final = 100_000
CHECKED: Final = 200_000
"""Rules that are tried for the URLs that readers must decide alike, at least ten URLs."""

ROUNDS: Final = 5
LEAST_S: Final = 0.2
"""CPU seconds of one turn of a reader, at least."""

READERS: Final = ("ours", "loop", "by_kind")
WARM: Final = 30_000


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="rules of a list")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each reader")
    given = parser.parse_args()
    result: dict[str, object] = {"benchmark": "scope"}
    say(f"{'rules':>8} {'URLs a CPU-second':>18} {'loop':>10} {'by kind':>10} {'ratios':>14}")
    for size in given.sizes:
        found = decisions(size, given.rounds)
        result[str(size)] = found
        ratios = f"{found['over_loop']:,} {found['over_by_kind']:,}"
        say(
            f"{size:>8,} {found['ours']:>18,} {found['loop']:>10,} {found['by_kind']:>10,} "
            f"{ratios:>14}"
        )
    for name, pages in (("simulated", simulated()), ("documentation", real())):
        if pages:
            result[f"language_{name}"] = found = page_cost(pages, given.rounds)
            say(f"a page, {name}: {found['us']} us, with its language {found['language_us']} us")
    print("RESULT " + json.dumps(result))


def decisions(size: int, rounds: int) -> dict[str, float]:
    """Return URLs a CPU-second of each reader, the median of some turns."""
    text, rules, default = rules_of(size)
    urls = urls_of(size, URLS)
    started = time.process_time()
    readers: dict[str, Reader] = {"ours": ours(text)}
    built_s = time.process_time() - started
    readers |= {"loop": loop(rules, default), "by_kind": by_kind(rules, default)}
    check(list(readers.values()), urls[: max(10, CHECKED // size)])
    for url, language in urls[:WARM]:  # as in a crawl: names are met again
        readers["ours"](url, language)
    rates: dict[str, list[float]] = {name: [] for name in READERS}
    for _ in range(rounds):
        for name in READERS:
            rates[name].append(_rate(readers[name], urls))
    found: dict[str, float] = {name: round(statistics.median(rates[name])) for name in READERS}
    for name in ("loop", "by_kind"):
        pairs = zip(rates["ours"], rates[name], strict=True)
        found[f"over_{name}"] = round(statistics.median(one / other for one, other in pairs), 1)
    kinds = shares([rule.kind for rule in rules])
    return {**found, "built_s": round(built_s, 3), **{f"rules_{k}": n for k, n in kinds.items()}}


def _rate(reader: Reader, urls: Sequence[tuple[str, str]]) -> float:
    """Return URLs decided a CPU-second, measured for `LEAST_S`."""
    endless, batch, done = cycle(urls), 1, 0
    started = time.process_time()
    while (spent_s := time.process_time() - started) < LEAST_S:
        for url, language in islice(endless, batch):
            reader(url, language)
        done += batch
        batch = min(batch * 2, 10_000)
    return done / spent_s


def page_cost(pages: Sequence[Fetched], rounds: int) -> dict[str, float]:
    """Return the CPU microseconds of a page, without and with the question for its language."""
    limits = PageLimits(agent_token="prs")
    asking = [replace(page, asks_language=True) for page in pages]
    times: dict[str, list[float]] = {"us": [], "language_us": []}
    for _ in range(rounds):
        for name, some in (("us", pages), ("language_us", asking)):
            times[name].append(_cpu_us(some, limits))
    found = {name: round(statistics.median(all_) / len(pages), 1) for name, all_ in times.items()}
    return {**found, "ratio": round(found["language_us"] / found["us"], 3)}


def _cpu_us(pages: Sequence[Fetched], limits: PageLimits) -> float:
    started = time.process_time()
    for page in pages:
        work_on(page, limits)
    return (time.process_time() - started) * 1e6


if __name__ == "__main__":
    main()
