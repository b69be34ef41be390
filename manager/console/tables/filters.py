"""Filters of lists: parameters of an address, and fields of the form above the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from manager.console.language import Words
from manager.console.requests.visit import Visit
from shared.frozen import frozen

__all__ = ["Filter", "Options"]

Options = Sequence[str] | Mapping[str, Words] | Callable[[Visit], Sequence[str]]
FilterKind = Literal["text", "words", "labels", "names", "agent", "own"]


@frozen
class Filter:
    """A filter. label: of its field; about: for the reference.

    kind: of its field. text: typed, with a hint. words, labels, names: a menu of options, shown as
    words of rows, by their own labels, or unchanged. agent: one of the agents, a menu or typed.
    own: the page's template writes the field, if there is one.
    any: the menu's choice of everything, "any" by itself.
    """

    name: str
    label: Words = ""
    kind: FilterKind = "text"
    options: Options = ()
    hint: Words = ""
    any: Words = ""
    about: str = ""

    def choices(self, visit: Visit) -> Sequence[str] | Mapping[str, Words]:
        """Return the options of its menu."""
        return self.options(visit) if callable(self.options) else self.options
