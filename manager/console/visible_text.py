"""Text from outside, made fit to be looked at.

Invariant: what `visible` returns has no character that a reader cannot see or that changes how
others are shown: no NUL or other control, no bidirectional override, nothing of zero width. Each
is replaced by its code point, as `⟨U+202E⟩`; CR LF is one line end. Escaping for HTML is left to
the templates.
"""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["typed", "visible"]

_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by their category, empty by their look."""

_SPACES: Final = dict.fromkeys(
    [*map(ord, "\n\t\u00a0\u1680\u202f\u205f\u3000"), *range(0x2000, 0x200B)]
)
"""White space that is seen as such: `isprintable` knows only one."""


def visible(text: str) -> str:
    """Return the text with each hidden character replaced by its code point; lines stay lines."""
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    # Of nearly all texts a few calls say that nothing is hidden: pages hold thousands of them.
    seen = text.isprintable() or text.translate(_SPACES).isprintable()
    if seen and (text.isascii() or _BLANK_LETTERS.isdisjoint(text)):
        return text
    return "".join(each if _is_seen(each) else f"⟨U+{ord(each):04X}⟩" for each in text)


def typed(text: str) -> str:
    """Return typed text for the fields of a form: unchanged except for NUL and CR."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return plain.encode("utf-8", "replace").decode()


def _is_seen(character: str) -> bool:
    if character in _BLANK_LETTERS:
        return False
    if character.isprintable() or character in "\n\t":
        return True
    return unicodedata.category(character) == "Zs"
