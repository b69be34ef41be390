"""The rules of hosts in memory: many, and not more than there is room for.

A robots.txt may have 40,000 rules, which take more memory than their text, or few with as many
octets. So rules are counted by their memory (`Rules.size`). Of the usual short ones the least
recently used go. Long ones have separate room, and leave it only after a while without a
question for them: a new one that finds no room is not kept, or hosts that are all in work would
push one another out, each fetching its rules for ever. Long rules are their site's
doing; so that site waits, and no other does.

Invariant: no more than `long_rules` of long ones, `short_rules` of the others, of `hosts` hosts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from agent.modules.robots.robots_rules import Rules

__all__ = ["LONG", "Kept", "RulesKept"]

LONG: Final = 200
"""Rules, from which on a robots.txt is long: nine in ten have fewer than twenty."""

UNUSED_S: Final = 900.0
"""Seconds without a question after which a long one makes room: longer than most addresses rest."""


@dataclass(slots=True)
class Kept:
    """The rules of a host. told: jobs that know of its sitemaps."""

    rules: Rules
    used_s: float
    told: set[int] = field(default_factory=set)


class RulesKept:
    """Rules by host."""

    def __init__(self, hosts: int, short_rules: int, long_rules: int) -> None:
        """Begin without any."""
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
                return None
            self._long.move_to_end(host)
        found.used_s = now_s
        return found

    def put(self, host: str, rules: Rules, now_s: float) -> bool:
        """Keep a host's rules in place of its earlier ones; return whether there was room."""
        self._forget(host)
        size = rules.size
        is_long = size > LONG
        if is_long:
            while self._held[True] + size > self._most[True]:
                first = next(iter(self._long.items()), None)
                if first is None or now_s - first[1].used_s < UNUSED_S:
                    return False
                self._forget(first[0])
        (self._long if is_long else self._short)[host] = Kept(rules, now_s)
        self._held[is_long] += size
        while len(self._short) > self._hosts or self._held[False] > self._most[False]:
            self._forget(next(iter(self._short)))
        return True

    def _forget(self, host: str) -> None:
        for kept, is_long in ((self._short, False), (self._long, True)):
            gone = kept.pop(host, None)
            if gone is not None:
                self._held[is_long] -= gone.rules.size
