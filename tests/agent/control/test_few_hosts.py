"""When so many hosts fail that the fault is on this side."""

from __future__ import annotations

import pytest

from agent.control.few_hosts import few_hosts


@pytest.mark.parametrize(
    ("failures", "done", "unanswered", "said"),
    [
        ({}, 100, 0, ""),
        ({"no_such_name": 3}, 3, 0, ""),  # too few to judge by
        ({"no_such_name": 2}, 4, 0, ""),  # half of them
        ({"no_such_name": 3}, 4, 0, "3 of 4 hosts failed: 3 no such name (NXDOMAIN)"),
        ({"unreachable": 80}, 100, 0, "80 of 100 hosts failed: 80 unreachable"),
        ({}, 0, 40, "40 of 40 hosts failed: 40 without an answer so far"),
    ],
)
def test_few_hosts_are_told_with_reasons(
    failures: dict[str, int], done: int, unanswered: int, said: str
) -> None:
    """More than half, of four or more."""
    assert str(few_hosts(failures, done, unanswered) or "").startswith(said)
    assert (few_hosts(failures, done, unanswered) is not None) == bool(said)


@pytest.mark.parametrize(
    ("failures", "unanswered", "remedy"),
    [
        ({"no_such_name": 9}, 0, "dns.servers"),
        ({"unreachable": 9}, 0, "prs doctor --page URL"),
        ({"unreachable": 3}, 4, "dns.servers"),
    ],
)
def test_the_remedy_is_of_what_fails_most(
    failures: dict[str, int], unanswered: int, remedy: str
) -> None:
    """Name servers, or the way to the hosts."""
    assert remedy in str(few_hosts(failures, 9, unanswered))
