"""The readers of a list that are measured: ours, and two that others have.

    ours       `shared.crawl_scope`: labels of the name first, expressions before the rule found
    loop       one compiled `re` a rule, tried in the order of the list
    by kind    hosts and domains in sets as Scrapy's offsite filter has them, but each rule with
               its place, then all prefixes and expressions from the first on

All three decide alike; `check` says so before anything is measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from shared.crawl_scope.evaluation import ScopeRules
from shared.crawl_scope.rules import ScopeRule
from shared.urls import split_host

__all__ = ["Reader", "by_kind", "check", "loop", "ours"]

Reader = Callable[[str, str], int]
"""Returns the line of the rule that decides about a URL on a page in a language."""


def ours(text: str) -> Reader:
    """Return the reader that manager and agents use."""
    rules = ScopeRules(text)

    def decide(url: str, language: str) -> int:
        """Return the line of the rule that decides."""
        return rules.decide(url, language).rule.line

    return decide


def loop(rules: Sequence[ScopeRule], default: ScopeRule) -> Reader:
    """Return a plain loop of expressions."""
    compiled = [(_expression(rule), rule) for rule in rules]

    def decide(url: str, language: str) -> int:
        """Return the line of the rule that decides."""
        for expression, rule in compiled:
            if expression is None:
                if rule.text == language:
                    return rule.line
            elif expression.search(url):
                return rule.line
        return default.line

    return decide


def by_kind(rules: Sequence[ScopeRule], default: ScopeRule) -> Reader:
    """Return a reader with dictionaries of names, and a loop of the rest."""
    names: dict[str, int] = {}
    domains: dict[str, int] = {}
    others: list[tuple[int, Any, ScopeRule]] = []
    for rule in rules:
        if rule.kind == "host":
            names.setdefault(rule.text, rule.line)
        elif rule.kind == "domain":
            domains.setdefault(rule.text, rule.line)
        else:
            others.append((rule.line, _expression(rule), rule))
    last = default.line

    def decide(url: str, language: str) -> int:
        """Return the line of the rule that decides."""
        name = split_host(url)[1]
        first = names.get(name, last)
        while name:
            first = min(first, domains.get(name, last))
            name = name.partition(".")[2]
        for line, expression, rule in others:
            if line > first:
                break
            if rule.text == language if expression is None else expression.search(url):
                return line
        return first

    return decide


def check(readers: Sequence[Reader], urls: Sequence[tuple[str, str]]) -> None:
    """Stop where readers decide differently."""
    for url, language in urls:
        lines = {reader(url, language) for reader in readers}
        if len(lines) > 1:
            raise SystemExit(f"{url} ({language}): decided by lines {sorted(lines)}")


@cache
def _expression(rule: ScopeRule) -> re.Pattern[str] | None:
    """Return a rule as an expression of Python; None: by language."""
    match rule.kind:
        case "domain":
            return re.compile(rf"^https?://(?:[^/]*\.)?{re.escape(rule.text)}(?::[0-9]+)?/")
        case "host":
            return re.compile(rf"^https?://{re.escape(rule.text)}(?::[0-9]+)?/")
        case "prefix":
            return re.compile(f"^{re.escape(rule.text)}")
        case "expression":
            return re.compile(rule.text)
        case _:
            return None
