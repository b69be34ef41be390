"""Hosts that share an address are one group, whatever the order in which that was learnt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from manager.assignment import AddressGroups, Merge

edges = st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abcdefgh")), max_size=30)


def test_hosts_on_one_address_are_one_group() -> None:
    """The group's id is its smallest host id."""
    groups = AddressGroups([(7, "192.0.2.1"), (3, "192.0.2.1"), (9, "192.0.2.2")])
    assert groups.groups() == {3: [3, 7], 9: [9]}
    assert (groups.group_of(7), groups.group_of(9)) == (3, 9)
    assert list(groups.items()) == [(3, 3), (7, 3), (9, 9)]


def test_a_host_without_an_address_has_no_group() -> None:
    """It cannot be handed out yet."""
    groups = AddressGroups()
    assert groups.group_of(1) is None
    assert 1 not in groups
    assert len(groups) == 0


def test_a_chain_of_addresses_joins() -> None:
    """A host with two addresses joins what was apart, and says what to rewrite."""
    groups = AddressGroups([(4, "a"), (6, "b")])
    assert groups.add(8, "b") == Merge(kept=6, absorbed=8)
    assert groups.add(6, "a") == Merge(kept=4, absorbed=6)
    assert groups.add(6, "a") is None
    assert groups.groups() == {4: [4, 6, 8]}


def test_a_smaller_host_renames_the_group() -> None:
    """The id stays the smallest, so that it does not depend on who came first."""
    groups = AddressGroups([(8, "a")])
    assert groups.add(2, "a") == Merge(kept=2, absorbed=8)
    assert groups.group_of(8) == 2


def test_stored_groups_can_be_joined() -> None:
    """Groups that were stored without their addresses come back as pairs."""
    groups = AddressGroups([(5, "a")])
    assert groups.join(1, 5) == Merge(kept=1, absorbed=5)
    assert groups.join(5, 1) is None


@given(edges)
def test_the_order_of_edges_decides_nothing(given_edges: list[tuple[int, str]]) -> None:
    """Any order gives the same groups."""
    groups = AddressGroups(given_edges).groups()
    assert AddressGroups(given_edges[::-1]).groups() == groups
    assert AddressGroups(sorted(given_edges)).groups() == groups


@given(edges)
def test_groups_are_connected_components(given_edges: list[tuple[int, str]]) -> None:
    """Compared with spreading the smallest id along edges until nothing changes."""
    label = {host: host for host, _ in given_edges}
    for _ in label:
        for host, address in given_edges:
            least = min(label[other] for other, at in given_edges if at == address)
            label[host] = min(label[host], least)
    assert dict(AddressGroups(given_edges).items()) == label


@given(edges)
def test_merges_are_all_that_a_table_needs(given_edges: list[tuple[int, str]]) -> None:
    """A table that starts each host in its own group and applies merges ends with the groups."""
    groups = AddressGroups()
    table: dict[int, int] = {}
    for host, address in given_edges:
        table.setdefault(host, host)
        merge = groups.add(host, address)
        if merge is not None:
            table = {
                one: merge.kept if group == merge.absorbed else group
                for one, group in table.items()
            }
    assert table == dict(groups.items())


def test_long_chains_are_walked() -> None:
    """Fifty thousand hosts in one chain need no deep recursion."""
    groups = AddressGroups((host, str(host // 2)) for host in range(50_000))
    for host in range(0, 49_998, 2):
        groups.join(host, host + 2)
    assert groups.group_of(49_999) == 0
