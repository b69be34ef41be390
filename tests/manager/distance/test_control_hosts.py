"""Control hosts tell a sick agent from a sick host, in words."""

from __future__ import annotations

import math

from manager.distance.control_hosts import ControlProbe, find_deviations, unreliable_hosts


def probes(table: list[list[float | None]]) -> list[ControlProbe]:
    """Return what each agent (row) measured of each control host (column); nan: it did not."""
    return [
        ControlProbe(agent, unit, distance, 1000 * agent + unit)
        for agent, row in enumerate(table)
        for unit, distance in enumerate(row)
        if distance is None or not math.isnan(distance)
    ]


def test_a_sick_agent_is_slow_on_its_controls() -> None:
    """40 times slower than for its neighbours, since its first such probe."""
    found = find_deviations(
        probes([[10, 20, 30], [11, 19, 30], [400, 800, 1200], [9, 22, 31]]), {2: [0, 1]}, 20
    )
    (odd,) = found
    assert (odd.agent, odd.hosts, odd.near, odd.since_ms) == (2, 3, True, 2000)
    assert str(odd.reason) == "its control hosts are 40 times slower than for its neighbours"


def test_a_sick_host_makes_no_agent_suspect() -> None:
    """A host that is slow for everybody, or that most do not reach."""
    table: list[list[float | None]] = [[10, 9000, None], [11, 9100, None], [9, 8800, 30]]
    assert find_deviations(probes(table), {}, 20) == []
    assert unreliable_hosts(probes(table)) == {2: (2, 3)}


def test_one_slow_control_is_no_sickness() -> None:
    """A path may be bad; of three hosts two must be odd."""
    assert find_deviations(probes([[10, 20, 30], [10, 20, 30], [900, 20, 30]]), {}, 20) == []


def test_who_reaches_none_is_sick() -> None:
    """The hosts answer the others."""
    (odd,) = find_deviations(probes([[1, 2], [1, 2], [None, None], [1, 2]]), {}, 20)
    assert odd.agent == 2
    assert str(odd.reason) == (
        "none of its 2 control hosts answers it, and they answer the other agents"
    )


def test_nobody_is_suspect_beside_one_that_is_sick() -> None:
    """Compared with a sound agent and a sick one, a sound one is neither slow nor fast."""
    assert find_deviations(probes([[10, 20], [11, 19], [900, 1800]]), {}, 20)[0].agent == 2
    assert len(find_deviations(probes([[10, 20], [11, 19], [900, 1800]]), {}, 20)) == 1


def test_who_claims_no_time_is_suspect() -> None:
    """Zero milliseconds are a great many times faster, and no division by zero."""
    (odd,) = find_deviations(probes([[10, 20], [0, 0], [10, 20], [11, 21]]), {}, 20)
    assert odd.agent == 1
    assert str(odd.reason).startswith("its control hosts are 10,000 times faster")


def test_of_two_agents_nobody_is_judged() -> None:
    """They differ; nothing says which of them is sick."""
    assert find_deviations(probes([[1, 1, 1], [500, 500, 500]]), {}, 20) == []
