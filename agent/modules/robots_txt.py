"""What a robots.txt says about one robot: the rules of RFC 9309, matched in linear time.

Pure: fetching, caching and status codes are the `robots` module's business. A verdict costs one
look-up for each length of the literal rules and one left-to-right search for each rule with a
wildcard; nothing backtracks.

Whatever a site wrote, parsing costs its length, and a verdict at most `MAX_WILDCARDS` searches.
The longest takes a tenth of a second, so whoever has other work reads it in portions.
Invariant: both sides of a comparison are in one percent-encoded form (`_comparable`), so a rule
and a canonical URL that name the same path meet. `/robots.txt` itself is always allowed.
Deviations, each to the gentler side: misspelt names that webmasters are known to write are
understood, and a Disallow without its leading slash gets one.
Source: RFC 9309; the spellings are those that Google's parser accepts.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from shared.errors import SettingError
from shared.frozen import frozen

__all__ = [
    "MAX_BYTES",
    "Rules",
    "Verdict",
    "check_product_token",
    "directives",
    "parse",
    "reading",
]

MAX_BYTES: Final = 500 * 1024
"""RFC 9309, 2.5: crawlers parse at least 500 KiB."""

MAX_SITEMAPS: Final = 1000

MAX_WILDCARDS: Final = 1000
"""Rules with `*` or `$` that are kept as they are: each costs a search through every URL, and 500
KiB hold 40,000. Of one more, a Disallow holds for all that its text before the first `*` begins,
and an Allow for nothing: to the gentler side. No site that means well has so many."""

RULE_BYTES: Final = 300
"""What a rule of usual length takes of memory."""

PORTION: Final = 16 * 1024
"""Octets that are read without a break, `PIECE_COST` for each line or piece of a rule among them:
some three milliseconds."""

PIECE_COST: Final = 8

_BOM: Final = b"\xef\xbb\xbf"
_SIGNS: Final = re.compile(rb"\*{2,}")
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_TOKEN_START: Final = re.compile(rb"[A-Za-z_-]+")
_NUMBER: Final = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{0,9})?")
_NAMES: Final = {
    b"user-agent": "user-agent",
    b"useragent": "user-agent",
    b"user agent": "user-agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"diasllow": "disallow",
    b"disallaw": "disallow",
    b"crawl-delay": "crawl-delay",
    b"crawldelay": "crawl-delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}
# Everything that a URL may hold raw and escaped with different meanings; `'`, `*` and `$` are
# escaped on both sides, because canonical queries never hold `'`, and the others are signs here.
_TO_CHANGE: Final = re.compile(rb"%[0-9A-Fa-f]{2}|[^%A-Za-z0-9._~/?:@!&()+,;=\[\]#-]")


@frozen
class Verdict:
    """Whether a path may be fetched, and the line that decided; None: no rule speaks of it."""

    allowed: bool
    rule: str | None = None


_ALLOWED: Final = Verdict(True)


@frozen
class _Wildcard:
    """A rule with `*` or `$`: pieces that must follow one another, the first at the start."""

    octets: int
    pieces: tuple[bytes, ...]
    anchored: bool
    verdict: Verdict

    def matches(self, path: bytes) -> bool:
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
    _literals: dict[bytes, Verdict] = field(default_factory=dict)
    _lengths: tuple[int, ...] = ()  # of the literals, longest first
    _wildcards: tuple[_Wildcard, ...] = ()  # most octets first, Allow before Disallow
    size: int = 0
    """How many there are, sitemaps too; a long one counts as many of `RULE_BYTES` of memory."""

    def allowed(self, path_and_query: str) -> Verdict:
        """Return the verdict on a canonical URL's path with its query: `/dir/page?x=1`.

        The rule with the most octets decides; of two equal ones, Allow (RFC 9309, 2.2.2).
        """
        if path_and_query == "/robots.txt" or not (self._lengths or self._wildcards):
            return _ALLOWED
        path = _comparable(path_and_query.encode())
        found: Verdict | None = None
        octets = -1
        for length in self._lengths:
            if length <= len(path) and (found := self._literals.get(path[:length])):
                octets = length
                break
        for rule in self._wildcards:
            if rule.octets < octets or (rule.octets == octets and found and found.allowed):
                break
            if (rule.octets > octets or rule.verdict.allowed) and rule.matches(path):
                return rule.verdict
        return found or _ALLOWED


@dataclass(slots=True, eq=False)
class _Group:
    lines: list[tuple[bool, bytes]] = field(default_factory=list)  # (is Allow, value)
    delays_s: list[float] = field(default_factory=list)


def check_product_token(token: str) -> str:
    """Return the name by which a robots.txt addresses us; raises SettingError for no token."""
    if not _TOKEN.fullmatch(token):
        raise SettingError(
            f"robots.txt product token {token[:60]!a}: must be letters, '-' and '_' only "
            "(RFC 9309, 2.2.1)"
        )
    return token


def parse(body: bytes, agent_token: str, strict: bool = False) -> Rules:
    """Return the rules that a robots.txt gives to the robot with this product token.

    body: decoded; at most MAX_BYTES of it are read. strict: every Disallow is obeyed, whomever it
    addresses, and no Allow helps, as the robot of seed 000 did it.
    """
    portions = reading(body, agent_token, strict)
    while True:
        try:
            next(portions)
        except StopIteration as end:
            rules: Rules = end.value
            return rules


def reading(body: bytes, agent_token: str, strict: bool = False) -> Generator[None, None, Rules]:
    """Parse a robots.txt as `parse` does, with a break after each portion."""
    wanted = check_product_token(agent_token).lower().encode()
    ours, everybody = _Group(), _Group()
    named = False  # a group addresses us by name, be it empty
    sitemaps: list[str] = []
    current: list[_Group] = []
    in_header = False  # between the user-agent lines of one group
    for directive in _directives(body):
        if directive is None:
            yield
            continue
        _, name, value = directive
        if name == "user-agent":
            if not in_header:
                current = []
                in_header = True
            token = _TOKEN_START.match(value)
            group = None
            if token is not None and token[0].lower() == wanted:
                named = True
                group = ours
            elif value == b"*" or value.startswith((b"* ", b"*\t")):
                group = everybody
            if group is not None and group not in current:  # said twice, it still is one
                current.append(group)
        elif name == "sitemap":
            if len(sitemaps) < MAX_SITEMAPS:
                sitemaps.append(value.decode("utf-8", "replace"))
        elif name == "crawl-delay":
            if _NUMBER.fullmatch(value):
                for group in [everybody] if strict else current:
                    group.delays_s.append(float(value))
        else:
            in_header = False
            for group in [everybody] if strict else current:
                group.lines.append((name == "allow", value))
    chosen = ours if named and not strict else everybody
    lines = [line for line in chosen.lines if not (strict and line[0])]
    delay_s = max(chosen.delays_s, default=None)
    return (yield from _compiling(lines, delay_s, tuple(sitemaps)))


def directives(body: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Yield (line number from 1, name in its usual spelling, value) of each known line."""
    return (one for one in _directives(body) if one is not None)


def _directives(body: bytes) -> Iterator[tuple[int, str, bytes] | None]:
    """Yield the same, and None after each portion."""
    left = PORTION
    for number, line in enumerate(_lines(body), start=1):
        left -= len(line) + PIECE_COST
        if left <= 0:
            left = PORTION
            yield None
        text = line.partition(b"#")[0].strip()
        key, colon, value = text.partition(b":")
        if not colon:
            words = text.split()
            if len(words) != 2:
                continue
            key, value = words
        name = _NAMES.get(key.strip().lower())
        if name is not None:
            yield number, name, value.strip()


def _lines(body: bytes) -> list[bytes]:
    shared = 0
    while shared < len(_BOM) and body[shared : shared + 1] == _BOM[shared : shared + 1]:
        shared += 1  # a byte order mark, or as much of it as was saved
    read = body[shared : shared + MAX_BYTES]
    lines = read.splitlines()
    if len(body) - shared > MAX_BYTES and not read.endswith((b"\n", b"\r")):
        lines.pop()  # half a rule would forbid or allow too much
    return lines


def _compiling(
    lines: Iterable[tuple[bool, bytes]], crawl_delay_s: float | None, sitemaps: tuple[str, ...]
) -> Generator[None, None, Rules]:
    literals: dict[bytes, Verdict] = {}
    wildcards: dict[tuple[bytes, int], _Wildcard] = {}
    left = PORTION
    for allow, written in lines:
        if not written:
            continue
        pattern = written
        if not allow and not pattern.startswith((b"/", b"*")):
            pattern = b"/" + pattern
        anchored = pattern.endswith(b"$")
        pieces: list[bytes] = []
        said = _SIGNS.sub(b"*", pattern)  # several in a row mean one
        for piece in said.removesuffix(b"$").split(b"*"):
            changed = []
            for part in _parts(piece):
                changed.append(_comparable(part))
                left -= len(part) + PIECE_COST
                if left <= 0:
                    left = PORTION
                    yield
            pieces.append(b"".join(changed))
        name = "Allow" if allow else "Disallow"
        verdict = Verdict(allow, f"{name}: {written.decode('utf-8', 'replace')}")
        key = b"*".join(pieces)
        if len(pieces) == 1 and not anchored:
            if allow or key not in literals:
                literals[key] = verdict
            continue
        if len(wildcards) >= MAX_WILDCARDS:
            if not allow:
                literals.setdefault(pieces[0], verdict)
            continue
        key += b"$" * anchored
        octets = len(key) + len(pattern) - len(said)
        if allow or (key, octets) not in wildcards:
            wildcards[key, octets] = _Wildcard(octets, tuple(pieces), anchored, verdict)
    size = sum(_weight(len(url), len(url)) for url in sitemaps)
    kept = chain(
        ((key, rule, 1) for key, rule in literals.items()),
        ((key, rule.verdict, len(rule.pieces)) for (key, _), rule in wildcards.items()),
    )
    for key, verdict, count in kept:
        size += _weight(len(key), len(verdict.rule or ""), count)
        left -= PIECE_COST
        if left <= 0:
            left = PORTION
            yield
    return Rules(
        size=size,
        crawl_delay_s=crawl_delay_s,
        sitemaps=sitemaps,
        _literals=literals,
        _lengths=tuple(sorted({len(key) for key in literals}, reverse=True)),
        _wildcards=tuple(
            sorted(wildcards.values(), key=lambda rule: (-rule.octets, not rule.verdict.allowed))
        ),
    )


def _weight(octets: int, characters: int, pieces: int = 1) -> int:
    """Return as how many rules one counts: its key, its text (4 bytes a character), its pieces."""
    return 1 + (octets + 4 * characters + 48 * pieces) // RULE_BYTES


def _parts(octets: bytes) -> Iterator[bytes]:
    """Yield a text in parts of a portion at most, none of which ends within an escape."""
    begin = 0
    while len(octets) - begin > PORTION:
        end = begin + PORTION
        escape = octets.rfind(b"%", end - 2, end)
        end = end if escape < 0 else escape
        yield octets[begin:end]
        begin = end
    yield octets[begin:]


def _comparable(octets: bytes) -> bytes:
    """Return a path in the one form that rules and URLs are compared in (RFC 9309, 2.2.2)."""
    return _TO_CHANGE.sub(_normal, octets)


def _normal(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if len(found) == 1:
        return b"%%%02X" % found[0]
    octet = bytes([int(found[1:], 16)])
    return octet if octet.isalnum() or octet in b"-._~" else found.upper()
