"""Lists of scope rules and URLs to decide, the same for each reader.

Of ten rules five are domains, two hosts, two URL prefixes and one an expression, until there are
200 expressions, as many as a list may have; then domains take their place. The last rules are by
language, as an administrator writes them behind the rules by name. URLs are of as many hosts as
there are rules, 20,000 at most, and of as many that no rule names.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from shared.crawl_scope import rules as scope_rules
from shared.crawl_scope.rules import ScopeRule, read_rules

__all__ = ["rules_of", "shares", "urls_of"]

EXPRESSIONS_MOST: Final = 200
SUFFIXES: Final = ("jp", "co.jp", "ac.jp", "com", "net", "org")
LANGUAGES: Final = ("ja", "en", "de", "und")
PAGES: Final = 20
HOSTS_MOST: Final = 20_000


def rules_of(count: int, seed: int = 1) -> tuple[str, tuple[ScopeRule, ...], ScopeRule]:
    """Return a list as text and as rules, whatever its length, with its default."""
    chance = random.Random(seed)
    codes = LANGUAGES[: max(1, min(count // 10, len(LANGUAGES)))]
    lines = [_line(number, chance) for number in range(count - len(codes))]
    lines += [f"{chance.choice(('include', 'exclude'))} language:{code}" for code in codes]
    text = "\n".join((*lines, "default exclude"))
    for name in ("TEXT_MOST", "LINES_MOST"):  # what agents receive is shorter
        setattr(scope_rules, name, max(getattr(scope_rules, name), len(text) + 1))
    rules, default = read_rules(text)
    return text, rules, default


def urls_of(count: int, urls: int, seed: int = 2) -> list[tuple[str, str]]:
    """Return (URL, language of the page that links to it) in an order as links have it."""
    chance = random.Random(seed)
    names = [_name(number) for number in range(min(count, HOSTS_MOST) * 2)]
    chosen = [chance.choice(names) for _ in range(urls // PAGES)]
    found = [
        (f"http://www.{name}/{_directory(chance)}/{page}.html", chance.choice(LANGUAGES))
        for name in chosen
        for page in range(PAGES)
    ]
    chance.shuffle(found)
    return found


def _line(number: int, chance: random.Random) -> str:
    action = chance.choice(("include", "exclude"))
    name = _name(number)
    match number % 10:
        case 4 | 5:
            return f"{action} host:www.{name}"
        case 6 | 7:
            return f"{action} http://www.{name}/{_directory(chance)}/"
        case 8 if number // 10 < EXPRESSIONS_MOST:
            return f"{action} re:/dir{number}[0-9]*/(print|calendar)/"
        case _:
            return f"{action} *.{name}"


def _name(number: int) -> str:
    return f"site{number}.{SUFFIXES[number % len(SUFFIXES)]}"


def _directory(chance: random.Random) -> str:
    return f"dir{chance.randrange(50)}"


def shares(kinds: Sequence[str]) -> dict[str, int]:
    """Return how many rules there are of each kind."""
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}
