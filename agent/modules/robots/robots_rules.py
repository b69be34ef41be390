"""The rules of a robots.txt for one robot, and what they say of a URL, in linear time.

A verdict costs one look-up for each length of the literal rules and one left-to-right search for
each rule with a wildcard; nothing backtracks.
Invariant: both sides of a comparison are in one percent-encoded form (`comparable`), so a rule and
a canonical URL that name the same path meet. `/robots.txt` itself is always allowed.
Source: RFC 9309, 2.2.2.
"""

from __future__ import annotations

import marshal
import re
from dataclasses import field
from typing import Any, Final

from shared.frozen import frozen

__all__ = ["Rules", "Verdict", "Wildcard", "comparable", "packed", "unpacked", "weight"]

RULE_BYTES: Final = 300
"""What a rule of usual length takes of memory."""

# Everything that a URL may hold raw and escaped with different meanings; `'`, `*` and `$` are
# escaped on both sides, because canonical queries never hold `'`, and the others are signs here.
_TO_CHANGE: Final = re.compile(rb"%[0-9A-Fa-f]{2}|[^%A-Za-z0-9._~/?:@!&()+,;=\[\]#-]")


@frozen
class Verdict:
    """Verdict on a path: may it be fetched, and by which line; None: no rule matches."""

    allowed: bool
    rule: str | None = None


_ALLOWED: Final = Verdict(True)


@frozen
class Wildcard:
    """A rule with `*` or `$`: pieces that must follow one another, the first at the start."""

    octets: int
    pieces: tuple[bytes, ...]
    anchored: bool
    verdict: Verdict

    def matches(self, path: bytes) -> bool:
        """Return whether the pattern matches a path."""
        first, *rest = self.pieces
        if not path.startswith(first):
            return False
        if not rest:
            return not self.anchored or len(path) == len(first)
        at = len(first)
        last = rest.pop() if self.anchored else b""
        for piece in rest:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return len(path) - at >= len(last) and path.endswith(last)


@frozen
class Rules:
    """The rules for one robot. Build with `parse`; without rules everything is allowed."""

    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()
    literals: dict[bytes, Verdict] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()  # of the literals, longest first
    wildcards: tuple[Wildcard, ...] = ()  # most octets first, Allow before Disallow
    size: int = 0
    """How many there are, sitemaps too; a long one counts as many of `RULE_BYTES` of memory."""

    def allowed(self, path_and_query: str) -> Verdict:
        """Return the verdict on a canonical URL's path with its query: `/dir/page?x=1`.

        The rule with the most octets decides; of two equal ones, Allow (RFC 9309, 2.2.2).
        """
        if path_and_query == "/robots.txt" or not (self.lengths or self.wildcards):
            return _ALLOWED
        path = comparable(path_and_query.encode())
        found: Verdict | None = None
        octets = -1
        for length in self.lengths:
            if length <= len(path) and (found := self.literals.get(path[:length])):
                octets = length
                break
        for rule in self.wildcards:
            if rule.octets < octets or (rule.octets == octets and found and found.allowed):
                break
            if (rule.octets > octets or rule.verdict.allowed) and rule.matches(path):
                return rule.verdict
        return found or _ALLOWED


def packed(rules: Rules, told: set[int]) -> bytes:
    """Return rules as bytes, for this process; told: jobs that know of their sitemaps."""
    fields: Any = (
        rules.crawl_delay_s,
        rules.sitemaps,
        [(octets, one.allowed, one.rule) for octets, one in rules.literals.items()],
        rules.lengths,
        [
            (one.octets, one.pieces, one.anchored, one.verdict.allowed, one.verdict.rule)
            for one in rules.wildcards
        ],
        rules.size,
        told,
    )
    return marshal.dumps(fields)


def unpacked(given: bytes) -> tuple[Rules, set[int]]:
    """Return the rules of bytes that `packed` made, and the jobs that know of their sitemaps."""
    delay_s, sitemaps, literals, lengths, wildcards, size, told = marshal.loads(given)  # noqa: S302  # our own, of this process
    rules = Rules(
        delay_s,
        sitemaps,
        {octets: Verdict(allowed, rule) for octets, allowed, rule in literals},
        lengths,
        tuple(
            Wildcard(octets, pieces, anchored, Verdict(allowed, rule))
            for octets, pieces, anchored, allowed, rule in wildcards
        ),
        size,
    )
    return rules, told


def weight(octets: int, characters: int, pieces: int = 1) -> int:
    """Return as how many rules one counts: octets of its key, characters of its text, pieces.

    A character takes four bytes at most, a piece some fifty.
    """
    return 1 + (octets + 4 * characters + 48 * pieces) // RULE_BYTES


def comparable(octets: bytes) -> bytes:
    """Return a path in the one form that rules and URLs are compared in (RFC 9309, 2.2.2)."""
    return _TO_CHANGE.sub(_normal, octets)


def _normal(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if len(found) == 1:
        return b"%%%02X" % found[0]
    octet = bytes([int(found[1:], 16)])
    return octet if octet.isalnum() or octet in b"-._~" else found.upper()
