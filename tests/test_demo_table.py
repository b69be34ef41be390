"""The demonstration's table says which units failed, and why."""

from __future__ import annotations

from typing import Any

import pytest

from tools.demo.rounds import describe
from tools.demo.table import failed_units, table

RESULT = {
    "makespan_random_ms": 2000.0, "makespan_balanced_ms": 1000.0, "bound_ms": 900.0, "pages": 7,
    "hosts": 4, "hosts_discovered": 1, "measured_random_ms": 2100.0, "measured_balanced_ms": 1100.0,
}  # fmt: skip


def detail(failures: dict[str, int], **units: int) -> dict[str, Any]:
    """Return a round that crawls, as `/api/v1/rounds` has it, whose units failed so."""
    return {
        "round": {"state": "crawling", "number": 2, "method": "tree", "crawling_ms": 1},
        "orders": {}, "units": units, "failures": failures,
        "agents": [{"name": "a.example", "pages": 7, "measured_ms": 1100.0}],
        "plan": {"agents": [{"name": "a.example", "units_before": 3, "before_ms": 2000.0,
                             "units_after": 4, "after_ms": 1000.0}]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("failures", "line"),
    [
        ({}, ""),
        ({"unreachable": 1}, "units that failed          1: 1 "),
        ({"no_such_name": 2, "unreachable": 1}, "units that failed          3: 2 no such name"),
    ],
)
def test_units_that_failed_have_a_line(failures: dict[str, int], line: str) -> None:
    """How many, and how many of them by each reason in words; without any there is no line."""
    found = failed_units(detail(failures))
    assert [one.startswith(line) for one in found] == [True] * bool(failures)
    said = table(detail(failures), detail(failures), RESULT)
    assert ("units that failed" in said) is bool(failures)
    assert all(one in said.splitlines() for one in found)


def test_progress_names_units_that_failed() -> None:
    """A crawl that resolves nothing does not look like success while it goes on."""
    said = describe(detail({}, finished=1, failed=3))
    assert "(3 failed)" in said
    assert "failed" not in describe(detail({}, finished=4))


def test_the_planned_end_stands_beside_the_bound() -> None:
    """Where the plan has one; the makespan is another figure."""
    second = detail({})
    assert "planned end" not in table(detail({}), second, RESULT)
    second["plan"]["time"] = {"end_before_ms": 28_600, "end_ms": 3_900, "end_bound_ms": 3_900}
    assert (
        "planned end of the crawl   28.60 s at random, 3.90 s balanced; not possible before 3.90 s"
        in table(detail({}), second, RESULT).splitlines()
    )
