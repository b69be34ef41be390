"""Groups of hosts that share an address, so that an address sees one agent.

A union-find over what the manager and the agents saw names resolve to. Invariant: two hosts are in
one group exactly when a chain of shared addresses joins them; the group's id is its smallest host
id, so that the order in which edges arrive decides nothing. Addresses that hosts left are only
forgotten by a rebuild from the current edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared.frozen import frozen

__all__ = ["AddressGroups", "Merge"]


@frozen
class Merge:
    """Two groups became one: rewrite `absorbed` to `kept` wherever a group id is stored."""

    kept: int
    absorbed: int


class AddressGroups:
    """Hosts and addresses seen so far, with the groups that follow."""

    def __init__(self, edges: Iterable[tuple[int, str]] = ()) -> None:
        self._parent: dict[int, int] = {}
        self._host_at: dict[str, int] = {}
        for host, address in edges:
            self.add(host, address)

    def __len__(self) -> int:
        return len(self._parent)

    def __contains__(self, host: object) -> bool:
        return host in self._parent

    def add(self, host: int, address: str) -> Merge | None:
        """Record that a host has an address; return the merge that follows, if any.

        A host that is new here joins the address's group: a merge too, of the group of one that it
        would have been alone. The merge of a new smallest host renames the group.
        """
        self._parent.setdefault(host, host)
        other = self._host_at.setdefault(address, host)
        return self._join(host, other)

    def join(self, first: int, second: int) -> Merge | None:
        """Put two hosts into one group for a reason other than an address, such as stored ids."""
        self._parent.setdefault(first, first)
        self._parent.setdefault(second, second)
        return self._join(first, second)

    def group_of(self, host: int) -> int | None:
        """Return the smallest host id of a host's group, or None: no address of it is known."""
        return self._root(host) if host in self._parent else None

    def groups(self) -> dict[int, list[int]]:
        """Return the hosts of each group by its id, all ascending."""
        found: dict[int, list[int]] = {}
        for host in sorted(self._parent):
            found.setdefault(self._root(host), []).append(host)
        return found

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield (host, group) ascending by host."""
        return ((host, self._root(host)) for host in sorted(self._parent))

    def _root(self, host: int) -> int:
        parent = self._parent
        while parent[host] != host:
            parent[host] = parent[parent[host]]
            host = parent[host]
        return host

    def _join(self, first: int, second: int) -> Merge | None:
        kept, absorbed = sorted((self._root(first), self._root(second)))
        if kept == absorbed:
            return None
        self._parent[absorbed] = kept
        return Merge(kept, absorbed)
