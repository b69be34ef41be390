"""Decisions by scope rules: whether a URL is inside, which rule says so, and its limits.

The first rule in the order of the list that matches decides. It is found by the labels of the
host's name, so a URL costs the same for ten rules as for ten thousand; only expressions that stand
before that rule are searched, one by one, if the text that each begins with is in the URL. They run
in linear time (RE2), without a common automaton whose memory a hostile list could exhaust.
A URL alone does not tell a language or a country. `language:` matches by the page on which a URL
was found, `country:` by the addresses of its host. Where these are not known, a rule that includes
matches and one that excludes does not; a later check that knows them decides again.
Invariant: `decide` equals a walk through the list from its first rule on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from shared.crawl_scope.literals import literal_of
from shared.crawl_scope.rules import ScopeRule, compiled, read_rules
from shared.frozen import frozen
from shared.urls import canonical, split_host

__all__ = ["EVERYTHING", "Decision", "ScopeRules"]

_NEVER: Final = 1 << 30
_LOOKS_BEHIND_MATCH: Final = re.compile(r"\$|\\[zZbB]")
"""Parts of an expression whose match depends on what follows it."""


@frozen
class Decision:
    """A decision about a URL. rule: the one that decides, perhaps the default."""

    rule: ScopeRule

    @property
    def is_inside(self) -> bool:
        """Return whether the URL belongs to the crawl."""
        return self.rule.includes


class ScopeRules:
    """A list of rules, indexed. Two are equal if their texts are."""

    __slots__ = (
        "_all",
        "_by_origin",
        "_conditional",
        "_decisions",
        "_domains",
        "_expressions",
        "_hosts",
        "_prefixes",
        "default",
        "has_countries",
        "has_languages",
        "is_empty",
        "rules",
        "text",
    )

    def __init__(self, text: str = "", *, known_only: bool = False) -> None:
        """Read a list; Raises LineError. known_only: pass over lines of newer versions."""
        self.text = text
        self.rules, self.default = read_rules(text, known_only=known_only)
        self.is_empty = not self.rules and self.default.includes and not self._has_limits()
        self._decisions = tuple(Decision(rule) for rule in (*self.rules, self.default))
        self._domains: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._all = len(self.rules)
        self._prefixes: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self._expressions: list[tuple[int, Any, bool, str]] = []
        self._conditional: list[tuple[int, ScopeRule]] = []
        kinds = {rule.kind for rule in self.rules}
        self.has_languages, self.has_countries = "language" in kinds, "country" in kinds
        for place, rule in enumerate(self.rules):
            self._enter(place, rule)
        self._by_origin = lru_cache(maxsize=10_000)(self._first_of_origin)

    def __eq__(self, other: object) -> bool:
        """Return whether both come from the same text."""
        return isinstance(other, ScopeRules) and self.text == other.text

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the same rules in another process."""
        return _again, (self.text,)

    def decide(
        self, url: str, language: str = "", countries: Collection[str] | None = None
    ) -> Decision:
        """Return the decision about a canonical URL.

        language: of the page on which it was found; "": not known. countries: of the addresses of
        its host; None: not known.
        """
        first, prefixes = self._by_origin(url[: url.find("/", 8)])
        for place, prefix in prefixes:
            if place > first:
                break
            if url.startswith(prefix):
                first = place
                break
        for place, rule in self._conditional:
            if place > first:
                break
            if _holds(rule, language, countries):
                first = place
                break
        for place, expression, _, literal in self._expressions:
            if place > first:
                break
            if literal in url and expression.search(url):
                first = place
                break
        return self._decisions[first]

    def decide_unit(self, unit: str, countries: Collection[str] | None = None) -> Decision:
        """Return the decision about a unit (a host key, or a directory of it).

        A unit is outside only if no URL in it can be inside: a rule that may include some of its
        URLs includes the unit. The limits of a unit are of the rule that decides here.
        """
        url = canonical(unit)
        own = self.decide(url, "", countries)
        return own if own.is_inside else self._first_that_reaches(url, countries)

    def _first_that_reaches(self, url: str, countries: Collection[str] | None) -> Decision:
        """Return the first rule that includes a URL below this one, or excludes all of them."""
        last, prefixes = self._by_origin(url[: url.find("/", 8)])
        candidates: list[tuple[int, bool]] = [(last, True)]
        for place, prefix in prefixes:
            if url.startswith(prefix):
                candidates.append((place, True))
            elif prefix.startswith(url):
                candidates.append((place, False))
        for place, expression, is_open, _ in self._expressions:
            if place > last:
                break
            candidates.append((place, not is_open and bool(expression.search(url))))
        for place, rule in self._conditional:
            if rule.kind == "language" or countries is None:
                candidates.append((place, False))
            elif rule.text in countries:
                candidates.append((place, True))
        for place, is_whole in sorted(candidates):
            if is_whole or self._decisions[place].is_inside:
                return self._decisions[place]
        return self._decisions[last]

    def _has_limits(self) -> bool:
        return self.default.depth is not None or self.default.pages is not None

    def _enter(self, place: int, rule: ScopeRule) -> None:
        match rule.kind:
            case "all":
                self._all = min(self._all, place)
            case "domain":
                self._domains.setdefault(rule.text, place)
            case "host":
                self._hosts.setdefault(rule.text, place)
            case "prefix":
                self._prefixes[rule.text[: rule.text.find("/", 8)]].append((place, rule.text))
            case "expression":
                is_open = _LOOKS_BEHIND_MATCH.search(rule.text) is not None
                expression, literal = compiled(rule.line, rule.text), literal_of(rule.text)
                self._expressions.append((place, expression, is_open, literal))
            case "language" | "country":
                self._conditional.append((place, rule))

    def _first_of_origin(self, origin: str) -> tuple[int, tuple[tuple[int, str], ...]]:
        """Return the first rule that holds for all URLs of a host, and the prefixes before it."""
        _, name, port = split_host(origin + "/")
        first = self._all
        for key in (name, f"{name}:{port}"):
            first = min(first, self._hosts.get(key, _NEVER))
        below = "" if name.startswith("[") else name
        while below:
            first = min(first, self._domains.get(below, _NEVER))
            below = below.partition(".")[2]
        prefixes = self._prefixes.get(origin, ())
        return first, tuple(one for one in prefixes if one[0] < first)


def _holds(rule: ScopeRule, language: str, countries: Collection[str] | None) -> bool:
    """Return whether a rule by language or country matches, or may and includes."""
    if rule.kind == "language":
        return rule.text == language if language else rule.includes
    return rule.includes if countries is None else rule.text in countries


def _again(text: str) -> ScopeRules:
    return ScopeRules(text, known_only=True)


EVERYTHING: Final = ScopeRules()
"""No rule: every URL is inside."""
