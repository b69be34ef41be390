"""Texts that a regular expression matches, drawn at random: what a pattern was written against.

Reads Python's own parse of the pattern. Look-around is skipped, so a text may miss; nearly all hit.
"""

from __future__ import annotations

import random
import re._constants as code  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import string
from typing import Any, Final

__all__ = ["sample"]

MOST_REPEATS: Final = 3
_ANY: Final = string.ascii_lowercase + string.digits
_CATEGORIES: Final = {
    code.CATEGORY_DIGIT: string.digits,
    code.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
    code.CATEGORY_SPACE: " ",
    code.CATEGORY_NOT_DIGIT: string.ascii_lowercase,
    code.CATEGORY_NOT_WORD: "-",
    code.CATEGORY_NOT_SPACE: _ANY,
}


def sample(pattern: str, chance: random.Random) -> str:
    """Return a text that begins or holds what the pattern matches."""
    return _Sampler(chance).text(parser.parse(pattern))


class _Sampler:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._groups: dict[int, str] = {}

    def text(self, parts: Any) -> str:
        """Return a text for a sequence of parsed parts."""
        return "".join(self._one(kind, value) for kind, value in parts)

    def _one(self, kind: Any, value: Any) -> str:
        chance = self._chance
        if kind is code.LITERAL:
            return chr(value)
        if kind is code.NOT_LITERAL:
            return chance.choice([letter for letter in _ANY if ord(letter) != value])
        if kind is code.ANY:
            return chance.choice(_ANY)
        if kind is code.IN:
            return chance.choice(_letters(value))
        if kind in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            least, most, inner = value
            times = chance.randint(least, max(least, min(int(most), least + MOST_REPEATS)))
            return "".join(self.text(inner) for _ in range(times))
        if kind is code.BRANCH:
            return self.text(chance.choice(value[1]))
        if kind is code.SUBPATTERN:
            number, _, _, inner = value
            text = self.text(inner)
            if number is not None:
                self._groups[number] = text
            return text
        if kind is code.GROUPREF:
            return self._groups.get(value, "")
        if kind is code.AT or kind in (code.ASSERT, code.ASSERT_NOT):
            return ""
        raise ValueError(f"{kind}: part of a pattern that cannot be sampled yet")


def _letters(parts: Any) -> str:
    if parts[0][0] is code.NEGATE:
        barred = _letters(parts[1:])
        return "".join(letter for letter in _ANY if letter not in barred) or "~"
    found = ""
    for kind, value in parts:
        if kind is code.LITERAL:
            found += chr(value)
        elif kind is code.RANGE:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind is code.CATEGORY:
            found += _CATEGORIES[value]
    return found
