"""The demonstration's table: who crawled what at which cost, before and after balancing."""

from __future__ import annotations

from typing import Any

from shared.host_failures import failure_words

__all__ = ["table"]

HEADINGS = ("agent", "hosts", "cost at random", "hosts", "balanced", "measured then", "and now")


def table(first: dict[str, Any], second: dict[str, Any], result: dict[str, Any]) -> str:
    """Return the table of two rounds and what follows from it."""
    measured = [{agent["name"]: agent for agent in detail["agents"]} for detail in (first, second)]
    rows = [
        (
            agent["name"],
            str(agent["units_before"]),
            milliseconds(agent["before_ms"]),
            str(agent["units_after"]),
            milliseconds(agent["after_ms"]),
            milliseconds(measured[0].get(agent["name"], {}).get("measured_ms")),
            milliseconds(measured[1].get(agent["name"], {}).get("measured_ms")),
        )
        for agent in second["plan"]["agents"]
    ]
    widths = [max(len(row[column]) for row in [HEADINGS, *rows]) for column in range(len(HEADINGS))]
    lines = [aligned(row, widths) for row in [HEADINGS, *rows]]
    lines.insert(1, "-" * len(lines[0]))
    before, after = result["makespan_random_ms"], result["makespan_balanced_ms"]
    bound = result["bound_ms"]
    return "\n".join(
        [
            *lines,
            "",
            f"pages of the second round  {result['pages']}",
            *failed_units(second),
            (
                f"hosts                      {result['hosts']}, of which found by links"
                f" {result['hosts_discovered']}"
            ),
            *planned_end(second),
            (
                f"planned makespan           {milliseconds(before)} at random,"
                f" {milliseconds(after)} balanced; best possible {milliseconds(bound)}"
            ),
            (
                f"measured makespan          {milliseconds(result['measured_random_ms'])}"
                f" at random, {milliseconds(result['measured_balanced_ms'])} balanced"
            ),
            *crawl_time(result),
        ]
    )


def failed_units(detail: dict[str, Any]) -> list[str]:
    """Return the line of units of which not a single page came, and why, where there are any."""
    failures: dict[str, int] = detail["failures"]
    if not failures:
        return []
    why = ", ".join(f"{count} {failure_words(code)}" for code, count in failures.items())
    return [f"units that failed          {sum(failures.values())}: {why}"]


def planned_end(second: dict[str, Any]) -> list[str]:
    """Return the line of when the plan said that the crawl ends, where it did."""
    time = second["plan"].get("time")
    if time is None:
        return []
    before, after = milliseconds(time["end_before_ms"]), milliseconds(time["end_ms"])
    words = f"planned end of the crawl   {before} at random, {after} balanced;"
    return [f"{words} not possible before {milliseconds(time['end_bound_ms'])}"]


def crawl_time(result: dict[str, Any]) -> list[str]:
    """Return the line of how long both crawls took by the clock, where it was measured."""
    if "crawl_balanced_s" not in result:
        return []
    before, after = result["crawl_random_s"], result["crawl_balanced_s"]
    words = f"the crawl took             {before:.1f} s at random, {after:.1f} s balanced:"
    return [f"{words} {before / max(after, 0.1):.1f} times sooner"]


def aligned(row: tuple[str, ...], widths: list[int]) -> str:
    """Return a row with its name to the left and its numbers to the right."""
    cells = [row[0].ljust(widths[0])]
    cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
    return "  ".join(cells)


def milliseconds(value: float | None) -> str:
    """Return a duration as people read it."""
    return "-" if value is None else f"{value / 1000:,.2f} s"
