"""The text that every match of an expression begins with: a quick look before the search.

Most expressions of a list begin with plain text, as `/calendar/`; to look for that costs a
twentieth of the search. Invariant: where the expression matches a URL, the URL holds the text.
"""

from __future__ import annotations

from typing import Final

__all__ = ["literal_of"]

_MARKS: Final = frozenset(".^$*+?{}[]()|\\")
_UNREAD: Final = ("(?", "\\Q", "[:")
"""Flags, quotations and named classes: what they mean for the text behind is not looked at."""

_OPTIONAL: Final = frozenset("?*{")


def literal_of(expression: str) -> str:
    """Return the text with which matches of an RE2 begin; "": none, or it cannot be told."""
    if any(part in expression for part in _UNREAD) or _has_alternatives(expression):
        return ""
    text = expression.removeprefix("^")
    found: list[str] = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "\\" and at < len(text) and text[at] in _MARKS | {"/", "-"}:
            character = text[at]
            at += 1
        elif character in _MARKS or not character.isascii():
            break
        if at < len(text) and text[at] in _OPTIONAL:
            break
        found.append(character)
    return "".join(found)


def _has_alternatives(expression: str) -> bool:
    """Return whether an expression has a `|` outside of groups and classes."""
    depth = at = 0
    while at < len(expression):
        character = expression[at]
        at += 1
        if character == "\\":
            at += 1
        elif character == "[":
            at += expression[at : at + 1] == "^"
            at += expression[at : at + 1] == "]"  # in front it stands for itself
            while at < len(expression) and expression[at] != "]":
                at += 2 if expression[at] == "\\" else 1
            at += 1
        elif character == "|" and not depth:
            return True
        else:
            depth += (character == "(") - (character == ")")
    return False
