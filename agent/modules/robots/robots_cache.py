"""The rules of hosts: those in use in memory, not more than there is room for, others on disk.

A robots.txt may have 40,000 rules, which take more memory than their text, or few with as many
octets. So rules are counted by their memory (`Rules.size`). Of the usual short ones the least
recently used go to the disk, and are read again when they are asked for. Long ones have separate
room, and leave it only after a while without a question for them: a new one that finds no room is
not kept, or hosts that are all in work would push one another out, each fetching its rules for
ever. Long rules are their site's doing; so that site waits, and no other does.

Invariant: in memory are no more than `long_rules` of long ones, `short_rules` of the others, of
`hosts` hosts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from agent.modules.robots.robots_rules import Rules, packed, unpacked
from agent.pipeline.ports import RulesStore

__all__ = ["LONG", "Kept", "RulesKept"]

LONG: Final = 200
"""Rules, from which on a robots.txt is long: nine in ten have fewer than twenty."""

UNUSED_S: Final = 900.0
"""Seconds without a question after which a long one makes room: longer than most addresses rest."""


@dataclass(slots=True)
class Kept:
    """The rules of a host. told: jobs that know of its sitemaps. stored: so many on disk."""

    rules: Rules
    used_s: float
    told: set[int] = field(default_factory=set)
    stored: int = -1  # -1: the rules are not on disk


class RulesKept:
    """Rules by host."""

    def __init__(
        self, hosts: int, short_rules: int, long_rules: int, store: RulesStore | None = None
    ) -> None:
        """Begin without any. store: for short ones that have no room; None: they are forgotten."""
        self._store = store
        self._hosts = hosts
        self._most = {False: short_rules, True: long_rules}
        self._held = {False: 0, True: 0}
        self._short: OrderedDict[str, Kept] = OrderedDict()  # the longest unused first
        self._long: OrderedDict[str, Kept] = OrderedDict()

    def get(self, host: str, now_s: float) -> Kept | None:
        """Return a host's, for use; None: they are not kept."""
        found = self._short.get(host)
        if found is not None:
            self._short.move_to_end(host)
        else:
            found = self._long.get(host)
            if found is None:
                return self._read(host, now_s)
            self._long.move_to_end(host)
        found.used_s = now_s
        return found

    def put(self, host: str, rules: Rules, now_s: float) -> bool:
        """Keep a host's rules in place of its earlier ones; return whether there was room."""
        self._forget(host)
        size = rules.size
        is_long = size > LONG
        if is_long:
            if self._store is not None:
                self._store.drop(host)  # it may have short ones of before
            while self._held[True] + size > self._most[True]:
                first = next(iter(self._long.items()), None)
                if first is None or now_s - first[1].used_s < UNUSED_S:
                    return False
                self._forget(first[0])
        (self._long if is_long else self._short)[host] = Kept(rules, now_s)
        self._held[is_long] += size
        self._make_room()
        return True

    def _make_room(self) -> None:
        while len(self._short) > self._hosts or self._held[False] > self._most[False]:
            host, kept = next(iter(self._short.items()))
            if self._store is not None and kept.stored != len(kept.told):
                self._store.put(host, packed(kept.rules, kept.told))
            self._forget(host)

    def _read(self, host: str, now_s: float) -> Kept | None:
        """Bring the rules of a host back into memory; None: they are nowhere."""
        given = None if self._store is None else self._store.get(host)
        if given is None:
            return None
        rules, told = unpacked(given)
        kept = self._short[host] = Kept(rules, now_s, told, len(told))
        self._held[False] += rules.size
        self._make_room()
        return kept

    def _forget(self, host: str) -> None:
        for kept, is_long in ((self._short, False), (self._long, True)):
            gone = kept.pop(host, None)
            if gone is not None:
                self._held[is_long] -= gone.rules.size
