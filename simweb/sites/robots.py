"""robots.txt: what hosts of each kind serve, and who is forbidden what by it (RFC 9309).

The matcher is simweb's own, on purpose: a judge that shared the crawler's matcher would share
its errors. It reads the very text that is served. Matching is linear in pattern and path.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote

from shared.frozen import frozen

__all__ = ["FORBID_ALL", "ROBOTS_KINDS", "Rules", "forbids", "robots_text"]

# Weights of the kinds; `--robots KIND=WEIGHT` changes them.
ROBOTS_KINDS = {
    "none": 0.40,  # 404: everything is allowed
    "allow": 0.15,  # a file that forbids nothing
    "disallow": 0.25,  # /private/ but for /private/open/
    "crawl-delay": 0.05,  # as disallow, with Crawl-delay
    "redirect": 0.04,  # as disallow, two redirects away
    "others": 0.04,  # OtherBot may nothing, all others as disallow
    "sitemap": 0.03,  # as disallow, with Sitemap
    "forbid": 0.02,  # nothing is allowed
    "error": 0.02,  # 503: nothing is allowed (RFC 9309, 2.3.1.4)
}

FORBID_ALL = "User-agent: *\nDisallow: /\n"
_PRIVATE = "Disallow: /private/\nAllow: /private/open/\n"
_UNRESERVED = "/?&=:@!$'()*+,;-._~%[]#"


def robots_text(kind: str, crawl_delay_s: float, sitemap_url: str) -> str:
    """Return the robots.txt of a host of this kind; empty where there is none.

    For `error` it is what such a host amounts to: all is forbidden.
    """
    if kind in ("forbid", "error"):
        return FORBID_ALL
    if kind == "none":
        return ""
    if kind == "allow":
        return "User-agent: *\nDisallow:\n"
    text = f"User-agent: *\n{_PRIVATE}"
    if kind == "crawl-delay":
        text += f"Crawl-delay: {crawl_delay_s:g}\n"
    if kind == "others":
        text = f"User-agent: OtherBot\nDisallow: /\n\n{text}"
    if kind == "sitemap":
        text += f"\nSitemap: {sitemap_url}\n"
    return text


@frozen
class Rules:
    """Groups of (names of robots in lower case, (allow?, pattern) in order)."""

    groups: tuple[tuple[frozenset[str], tuple[tuple[bool, str], ...]], ...]

    @classmethod
    def read(cls, text: str) -> Rules:
        """Read a robots.txt; lines that RFC 9309 does not know are skipped."""
        groups: list[tuple[set[str], list[tuple[bool, str]]]] = []
        naming = False
        for line in re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")):
            key, colon, value = line.partition("#")[0].partition(":")
            key, value = key.strip().lower(), value.strip()
            if not colon:
                continue
            if key == "user-agent":
                if not naming:
                    groups.append((set(), []))
                groups[-1][0].add(value.lower())
                naming = True
            elif key in ("allow", "disallow"):
                naming = False
                if groups and value:
                    groups[-1][1].append((key == "allow", _escaped(value)))
        return cls(tuple((frozenset(names), tuple(rules)) for names, rules in groups))

    def of(self, user_agent: str) -> list[tuple[bool, str]]:
        """Return the rules for a robot: of the longest name in its User-Agent, else of `*`."""
        tokens = set(re.findall(r"[a-z_-]+", user_agent.lower()))
        named = [
            name
            for names, _ in self.groups
            for name in names
            if name != "*" and _token(name) in tokens
        ]
        chosen = max(named, key=len) if named else "*"
        return [rule for names, rules in self.groups if chosen in names for rule in rules]


def forbids(text: str, user_agent: str, path: str) -> bool:
    """Return whether a robots.txt forbids a path (with its query) to a robot."""
    if path.partition("?")[0] == "/robots.txt":
        return False
    rules = _rules_of(text, user_agent)
    target = _escaped(path)
    allow, longest = True, -1
    for is_allow, pattern in rules:
        size = len(pattern)
        if (size > longest or (size == longest and is_allow)) and _matches(pattern, target):
            allow, longest = is_allow, size
    return not allow


@lru_cache(maxsize=4096)
def _rules_of(text: str, user_agent: str) -> tuple[tuple[bool, str], ...]:
    return tuple(Rules.read(text).of(user_agent))


def _token(name: str) -> str:
    """Return a group's product token: letters, `_` and `-`, as RFC 9309 2.2.1 has it."""
    found = re.match(r"[a-z_-]+", name)
    return found.group() if found else name


def _escaped(path: str) -> str:
    """Write a path as a URL would: percent-encode what is not ASCII, upper-case the hex."""
    text = quote(path, safe=_UNRESERVED)
    return re.sub(r"%[0-9a-fA-F]{2}", _settle, text)


def _settle(match: re.Match[str]) -> str:
    char = chr(int(match.group()[1:], 16))
    plain = char.isascii() and (char.isalnum() or char in "-._~")
    return char if plain else match.group().upper()


def _matches(pattern: str, path: str) -> bool:
    """Match with `*` as any run and a final `$` as the end; greedy parts, left to right."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    if not rest:
        return not anchored or at == len(path)
    for part in rest[:-1]:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    if anchored:
        return len(path) - len(rest[-1]) >= at and path.endswith(rest[-1])
    return path.find(rest[-1], at) >= 0
