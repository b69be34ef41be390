"""Groups of hosts that share an address, so that an address sees one agent.

A union-find over what the manager and the agents saw names resolve to. Invariant: two hosts are in
one group exactly when a chain of shared addresses joins them; the group's id is its smallest host
id, so that the order in which edges arrive decides nothing. Addresses that hosts left are only
forgotten by a rebuild from the current edges.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["AddressGroups"]


class AddressGroups:
    """Hosts and addresses seen so far, with the groups that follow."""

    def __init__(self, edges: Iterable[tuple[int, str]] = ()) -> None:
        self._parent: dict[int, int] = {}
        self._host_at: dict[str, int] = {}
        for host, address in edges:
            self.add(host, address)

    def add(self, host: int, address: str) -> None:
        """Record that a host has an address; it joins the address's group."""
        self.join(host, self._host_at.setdefault(address, host))

    def join(self, first: int, second: int) -> None:
        """Put two hosts into one group, for an address or another reason, such as stored ids."""
        self._parent.setdefault(first, first)
        self._parent.setdefault(second, second)
        kept, absorbed = sorted((self._root(first), self._root(second)))
        self._parent[absorbed] = kept

    def group_of(self, host: int) -> int | None:
        """Return the smallest host id of a host's group, or None: no address of it is known."""
        return self._root(host) if host in self._parent else None

    def _root(self, host: int) -> int:
        parent = self._parent
        while parent[host] != host:
            parent[host] = parent[parent[host]]
            host = parent[host]
        return host
