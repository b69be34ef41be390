"""Filters of lists: parameters of an address, and fields of the form above the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, TypeVar

from manager.console.language import Words
from manager.console.requests.visit import Visit
from manager.operations.fleet.agents import named_agents
from shared.frozen import frozen

__all__ = ["Filter", "Options", "agent_names", "choice_filter", "text_filter"]

R = TypeVar("R")
Options = Sequence[str] | Mapping[str, Words] | Callable[[Visit], Sequence[str]]
FilterKind = Literal["text", "words", "labels", "names", "agent", "own"]


@frozen
class Filter(Generic[R]):
    """A filter. label: of its field; about: for the reference.

    kind: of its field. text: typed, with a hint. words, labels, names: a menu of options, shown as
    words of rows, by their own labels, or unchanged. agent: one of the agents, a menu or typed.
    own: the page's template writes the field, if there is one.
    any: the menu's choice of everything, "any" by itself. keeps: whether rows in memory stay, by
    its value; an empty one leaves all.
    """

    name: str
    label: Words = ""
    kind: FilterKind = "text"
    options: Options = ()
    hint: Words = ""
    any: Words = ""
    about: str = ""
    keeps: Callable[[R, str], bool] | None = None

    def choices(self, visit: Visit) -> Sequence[str] | Mapping[str, Words]:
        """Return the options of its menu."""
        return self.options(visit) if callable(self.options) else self.options


def agent_names(visit: Visit) -> list[str]:
    """Return the names of all agents, in order."""
    return [one.name for one in named_agents(visit.db)]


def text_filter(label: Words, hint: Words, text: Callable[[R], str]) -> Filter[R]:
    """Return the filter `q` of rows in memory: a part of their text, in any case."""
    return Filter("q", label, hint=hint, keeps=lambda row, part: part.lower() in text(row).lower())


def choice_filter(
    name: str,
    label: Words,
    options: Options,
    value: Callable[[R], str],
    any: Words = "",  # noqa: A002  # as in `Filter`
    about: str = "",
) -> Filter[R]:
    """Return a filter of rows in memory by one of the words that a value of theirs may be."""
    return Filter(
        name, label, "words", options, "", any, about, lambda row, chosen: value(row) == chosen
    )
