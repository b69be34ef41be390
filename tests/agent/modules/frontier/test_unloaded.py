"""Jobs that wait for a place: packed, and still in the right order."""

from __future__ import annotations

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.modules.frontier.unloaded import Head, Unloaded, key_of

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
    unloaded = Unloaded()
    plain = {
        first + number: (f"192.0.2.{address}", float(work))
        for number, (address, work) in found.items()
    }
    keys = array("q", [key_of(at) for at, _ in plain.values()])
    unloaded.fill(array("q", plain), keys, array("f", [work for _, work in plain.values()]), 5.0)
    for step, number, address, work in steps:
        job, name = number + first, f"192.0.2.{address}"
        match step:
            case "enter":
                unloaded.enter(job, name, work, 5.0)
                plain[job] = (name, work)
            case "leave":
                assert unloaded.leave(job) == (plain.pop(job, None) is not None)
            case "grow" if job in plain:
                unloaded.grow(job, work)
                plain[job] = (plain[job][0], plain[job][1] + work)
            case _:
                unloaded.forget_room()
        assert unloaded.jobs == len(plain)
        assert [one in unloaded for one in range(first, first + 15)] == [
            one in plain for one in range(first, first + 15)
        ]
        assert all(unloaded.is_at(one, at) for one, (at, _) in plain.items())
        assert unloaded.any_at(name) == any(at == name for at, _ in plain.values())
        sums: dict[str, float] = {}
        for at, one in plain.values():
            sums[at] = sums.get(at, 0.0) + one
        assert unloaded.addresses == len(sums)
        chosen = unloaded.next_number()
        assert bool(chosen) == bool(plain)
        assert not plain or chosen in plain
        assert all(5.0 <= unloaded.since_s(one) < 5.1 for one in plain)


def test_first_turns_come_in_the_order_in_which_jobs_came() -> None:
    """Of those that came in the same second the longest first; of equals, the one before."""
    unloaded = Unloaded()
    for number in range(1, 10_001):
        name = f"10.0.{number >> 8}.{number & 255}"
        unloaded.enter(number, name, 1 + number % 100, 5.0 + number // 1000)
    chosen = []
    while unloaded.jobs:
        number = unloaded.next_number()
        chosen.append((number // 1000, -(number % 100), number))
        unloaded.leave(number)
    assert chosen == sorted(chosen)
    assert len(chosen) == 10_000
    assert not unloaded.next_number()


def test_an_address_is_as_long_as_all_its_hosts() -> None:
    """Many small hosts at one address come before a larger one that is alone."""
    unloaded = Unloaded()
    unloaded.enter(1, "192.0.2.1", 90.0, 0.0)
    for number in range(2, 12):
        unloaded.enter(number, "192.0.2.2", 10.0, 0.0)
    assert unloaded.next_number() == 2


def test_addresses_between_two_turns_are_records() -> None:
    """They are found by the hash of the address, and their jobs by number."""
    unloaded = Unloaded()
    unloaded.enter(3, "192.0.2.1", 10.0, 0.0)
    key = key_of("192.0.2.2")
    head = Head(20.0, 7.0, 3, "192.0.2.2")
    unloaded.keep(key, [1, 5], head, b"record", is_idle=True)
    assert (unloaded.jobs, unloaded.addresses) == (3, 2)
    assert unloaded.next_number() == 3, "a record waits for no first turn"
    assert [unloaded.is_fresh(one) for one in (1, 3, 5)] == [False, True, False]
    assert unloaded.is_at(5, "192.0.2.2")
    assert unloaded.any_at("192.0.2.2")
    assert unloaded.key(1) == key
    assert unloaded.head(key) == head
    record = unloaded.record(key)
    assert record is not None
    assert bytes(record) == b"record"
    assert unloaded.is_idle(key)
    unloaded.drop_record(key)
    assert unloaded.leave(1)
    assert unloaded.leave(5)
    assert (unloaded.has(key), unloaded.is_idle(key), unloaded.head(key)) == (False, False, None)
    assert unloaded.jobs == 1
