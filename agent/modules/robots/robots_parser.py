"""Reads the rules of a robots.txt (`robots_rules`) that are for one robot, as RFC 9309 has them.

Pure: fetching, caching and status codes are the `robots` module's business.
Whatever a site wrote, parsing costs its length, and a verdict at most `MAX_WILDCARDS` searches.
The longest takes a tenth of a second, so a caller with other work reads it in portions.
Deviations, each to the gentler side: misspelt names that webmasters are known to write are
understood, a no-break space is one, and a Disallow without its leading slash gets one.
Source: RFC 9309; the spellings are those that Google's parser accepts.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from agent.modules.robots.robots_rules import Rules, Verdict, Wildcard, comparable, weight
from shared.errors import SettingError
from shared.urls import escaped_bytes

__all__ = [
    "MAX_BYTES",
    "check_product_token",
    "directives",
    "parse",
    "parse_in_portions",
]

MAX_BYTES: Final = 500 * 1024
"""RFC 9309, 2.5: crawlers parse at least 500 KiB."""

MAX_SITEMAPS: Final = 1000

MAX_WILDCARDS: Final = 1000
"""Rules with `*` or `$` that are kept as they are: each costs a search through every URL, and 500
KiB hold 40,000. Of one more, a Disallow holds for all that its text before the first `*` begins,
and an Allow for nothing: to the gentler side. No site that means well has so many."""

PORTION: Final = 16 * 1024
"""Octets that are read without a break, `PIECE_COST` for each line or piece of a rule among them:
some three milliseconds."""

PIECE_COST: Final = 8

_LONGEST_DELAY_S: Final = 999_999_999.0

_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    *((bytes((letter, 0)), "utf-16-le") for letter in b"#UuSs\r\n"),
    *((bytes((0, letter)), "utf-16-be") for letter in b"#UuSs\r\n"),
)
"""How a robots.txt in UTF-32 or UTF-16 begins, the latter without a byte order mark too."""

_SIGNS: Final = re.compile(rb"\*{2,}")
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")
_TOKEN_START: Final = re.compile(rb"[A-Za-z_-]+")
_NUMBER: Final = re.compile(
    rb"\+?([0-9]{0,9})([0-9]*)(?:[.,]([0-9]{0,9}))?[ \t]*(?:s|secs?|seconds?)?", re.IGNORECASE
)
_NO_BREAK: Final = b"\xc2\xa0"
_LOST_MARK: Final = re.compile(
    rb"\A(?:\xc3\xaf\xc2\xbb\xc2\xbf|\xef\xbb\xbf|\xef\xbf\xbd|\xc2\xa0|[\x00\s?])+"
)
"""Garbled forms of a byte order mark: written twice, as UTF-8 of its Latin-1 reading, as
question marks. With it the first group would be lost."""

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


@dataclass(slots=True, eq=False)
class _Group:
    lines: list[tuple[bool, bytes]] = field(default_factory=list)  # (is Allow, value)
    delays_s: list[float] = field(default_factory=list)


def check_product_token(token: str) -> str:
    """Return the name by which a robots.txt addresses us; raises SettingError for no token."""
    if not _TOKEN.fullmatch(token):
        raise SettingError("agent_errors.product_token", token=token[:60])
    return token


def parse(body: bytes, agent_token: str, strict: bool = False) -> Rules:
    """Return the rules that a robots.txt gives to the robot with this product token.

    body: decoded; at most MAX_BYTES of it are read. strict: every Disallow is obeyed, whomever it
    addresses, and no Allow helps, as the robot of seed 000 did it.
    """
    portions = parse_in_portions(body, agent_token, strict)
    while True:
        try:
            next(portions)
        except StopIteration as end:
            rules: Rules = end.value
            return rules


def parse_in_portions(
    body: bytes, agent_token: str, strict: bool = False
) -> Generator[None, None, Rules]:
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
                sitemaps.append(escaped_bytes(value))
        elif name == "crawl-delay":
            delay_s = _delay_s(value)
            if delay_s is not None:
                for group in [everybody] if strict else current:
                    group.delays_s.append(delay_s)
        else:
            in_header = False
            for group in [everybody] if strict else current:
                group.lines.append((name == "allow", value))
    chosen = ours if named and not strict else everybody
    lines = [line for line in chosen.lines if not (strict and line[0])]
    delay_s = max(chosen.delays_s, default=None)
    return (yield from _compile_in_portions(lines, delay_s, tuple(sitemaps)))


def _delay_s(value: bytes) -> float | None:
    """Return the seconds of a Crawl-delay, as people write them: `10 s`, `1,5`, `.5`; None: none.

    One of more than nine digits is the largest of nine.
    """
    number = _NUMBER.fullmatch(value)
    if number is None or not (number[1] or number[3]):
        return None
    return _LONGEST_DELAY_S if number[2] else float(number[1] + b"." + (number[3] or b"0"))


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
        if _NO_BREAK in text:  # of a text that was copied from a page
            text = text.replace(_NO_BREAK, b" ").strip()
        if number == 1:
            text = _LOST_MARK.sub(b"", text)
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
    for start, codec in _WIDE:
        if body.startswith(start):  # a few editors write it so; no rule would be found in it
            body = body[:MAX_BYTES].decode(codec, "replace").encode()
            break
    shared = 0
    while shared < len(_BOM) and body[shared : shared + 1] == _BOM[shared : shared + 1]:
        shared += 1  # a byte order mark, or as much of it as was saved
    read = body[shared : shared + MAX_BYTES]
    lines = read.splitlines()
    if len(body) - shared > MAX_BYTES and not read.endswith((b"\n", b"\r")):
        lines.pop()  # half a rule would forbid or allow too much
    return lines


def _compile_in_portions(
    lines: Iterable[tuple[bool, bytes]], crawl_delay_s: float | None, sitemaps: tuple[str, ...]
) -> Generator[None, None, Rules]:
    literals: dict[bytes, Verdict] = {}
    wildcards: dict[tuple[bytes, int], Wildcard] = {}
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
                changed.append(comparable(part))
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
            wildcards[key, octets] = Wildcard(octets, tuple(pieces), anchored, verdict)
    size = sum(weight(len(url), len(url)) for url in sitemaps)
    kept = chain(
        ((key, rule, 1) for key, rule in literals.items()),
        ((key, rule.verdict, len(rule.pieces)) for (key, _), rule in wildcards.items()),
    )
    for key, verdict, count in kept:
        size += weight(len(key), len(verdict.rule or ""), count)
        left -= PIECE_COST
        if left <= 0:
            left = PORTION
            yield
    return Rules(
        size=size,
        crawl_delay_s=crawl_delay_s,
        sitemaps=sitemaps,
        literals=literals,
        lengths=tuple(sorted({len(key) for key in literals}, reverse=True)),
        wildcards=tuple(
            sorted(wildcards.values(), key=lambda rule: (-rule.octets, not rule.verdict.allowed))
        ),
    )


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
