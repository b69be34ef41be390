"""Jobs that wait for a place: packed, and still in the right order."""

from __future__ import annotations

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.modules.frontier.dormant import Dormant, key_of

Step = tuple[str, int, int, int]
STEPS = st.tuples(
    st.sampled_from(["enter", "leave", "grow", "forget"]),
    st.integers(1, 12),  # a job
    st.integers(0, 4),  # an address
    st.integers(1, 50),  # work
)


@settings(deadline=None)
@given(
    st.dictionaries(st.integers(1, 12), st.tuples(st.integers(0, 4), st.integers(1, 50))),
    st.lists(STEPS, max_size=60),
    st.integers(0, 1000),
)
def test_it_knows_what_a_dict_would_know(
    found: dict[int, tuple[int, int]], steps: list[Step], first: int
) -> None:
    """Whatever was there, comes, goes and grows: who is here, where, and how many addresses."""
    dormant = Dormant()
    plain = {
        first + number: (f"192.0.2.{address}", float(work))
        for number, (address, work) in found.items()
    }
    keys = array("q", [key_of(at) for at, _ in plain.values()])
    dormant.fill(array("q", plain), keys, array("f", [work for _, work in plain.values()]), 5.0)
    for step, number, address, work in steps:
        job, name = number + first, f"192.0.2.{address}"
        match step:
            case "enter":
                dormant.enter(job, name, work, 5.0)
                plain[job] = (name, work)
            case "leave":
                assert dormant.leave(job) == (plain.pop(job, None) is not None)
            case "grow" if job in plain:
                dormant.grow(job, work)
                plain[job] = (plain[job][0], plain[job][1] + work)
            case _:
                dormant.forget_room()
        assert dormant.jobs == len(plain)
        assert [one in dormant for one in range(first, first + 15)] == [
            one in plain for one in range(first, first + 15)
        ]
        assert all(dormant.is_at(one, at) for one, (at, _) in plain.items())
        assert dormant.any_at(name) == any(at == name for at, _ in plain.values())
        sums: dict[str, float] = {}
        for at, one in plain.values():
            sums[at] = sums.get(at, 0.0) + one
        assert dormant.addresses == len(sums)
        best, chosen = dormant.best()
        assert best == max(sums.values(), default=0.0)
        assert not plain or sums[plain[chosen][0]] == best
        assert all(5.0 <= dormant.since_s(one) < 5.1 for one in plain)


def test_many_are_chosen_in_the_order_of_their_work() -> None:
    """More than are put in order at once; of equals, the one that came first."""
    dormant = Dormant()
    for number in range(1, 10_001):
        dormant.enter(number, f"10.0.{number >> 8}.{number & 255}", number % 100, 0.0)
    chosen = []
    while dormant.jobs:
        work, number = dormant.best()
        chosen.append((-work, number))
        dormant.leave(number)
    assert chosen == sorted(chosen)
    assert len(chosen) == 10_000


def test_an_address_is_as_long_as_all_its_hosts() -> None:
    """Many small hosts at one address come before a larger one that is alone."""
    dormant = Dormant()
    dormant.enter(1, "192.0.2.1", 90.0, 0.0)
    for number in range(2, 12):
        dormant.enter(number, "192.0.2.2", 10.0, 0.0)
    assert dormant.best() == (100.0, 2)
