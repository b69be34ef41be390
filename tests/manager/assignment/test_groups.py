"""Hosts that share an address are one group, whatever the order in which that was learnt."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.groups import AddressGroups

edges = st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abcdefgh")), max_size=30)


def group_of_each(groups: AddressGroups, hosts: Iterable[int]) -> dict[int, int | None]:
    """Return the group of each of some hosts."""
    return {host: groups.group_of(host) for host in hosts}


def test_hosts_on_one_address_are_one_group() -> None:
    """The group's id is its smallest host id."""
    groups = AddressGroups([(7, "192.0.2.1"), (3, "192.0.2.1"), (9, "192.0.2.2")])
    assert group_of_each(groups, [3, 7, 9]) == {3: 3, 7: 3, 9: 9}


def test_a_host_without_an_address_has_no_group() -> None:
    """It cannot be handed out yet."""
    assert AddressGroups().group_of(1) is None


def test_a_chain_of_addresses_joins() -> None:
    """A host with two addresses joins what was apart; joining again changes nothing."""
    groups = AddressGroups([(4, "a"), (6, "b")])
    groups.add(8, "b")
    assert groups.group_of(8) == 6
    for _ in range(2):
        groups.add(6, "a")
        assert group_of_each(groups, [4, 6, 8]) == {4: 4, 6: 4, 8: 4}


def test_a_smaller_host_renames_the_group() -> None:
    """The id stays the smallest, so that it does not depend on who came first."""
    groups = AddressGroups([(8, "a")])
    groups.add(2, "a")
    assert groups.group_of(8) == 2


def test_stored_groups_can_be_joined() -> None:
    """Groups that were stored without their addresses come back as pairs."""
    groups = AddressGroups([(5, "a")])
    groups.join(1, 5)
    groups.join(5, 1)
    assert group_of_each(groups, [1, 5]) == {1: 1, 5: 1}


@given(edges)
def test_the_order_of_edges_decides_nothing(given_edges: list[tuple[int, str]]) -> None:
    """Any order gives the same groups."""
    hosts = {host for host, _ in given_edges}
    found = group_of_each(AddressGroups(given_edges), hosts)
    assert group_of_each(AddressGroups(given_edges[::-1]), hosts) == found
    assert group_of_each(AddressGroups(sorted(given_edges)), hosts) == found


@given(edges)
def test_groups_are_connected_components(given_edges: list[tuple[int, str]]) -> None:
    """Compared with spreading the smallest id along edges until nothing changes."""
    label = {host: host for host, _ in given_edges}
    for _ in label:
        for host, address in given_edges:
            least = min(label[other] for other, at in given_edges if at == address)
            label[host] = min(label[host], least)
    assert group_of_each(AddressGroups(given_edges), label) == label


def test_long_chains_are_walked() -> None:
    """Fifty thousand hosts in one chain need no deep recursion."""
    groups = AddressGroups((host, str(host // 2)) for host in range(50_000))
    for host in range(0, 49_998, 2):
        groups.join(host, host + 2)
    assert groups.group_of(49_999) == 0
