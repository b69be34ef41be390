"""Assignment methods, a sentence each, in the order to try them."""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["METHOD_WORDS"]

METHOD_WORDS: Final[dict[str, Lazy]] = {
    "default": lazy("near the most even with few moves; places everything anew where it must"),
    "prices": lazy("the most even: searches all agents, ends near the lower bound, moves a lot"),
    "tree": lazy("the source's: neighbours on the spanning tree hand cost over, step by step"),
    "exchange": lazy("neighbours, two at a time, divide what both hold where it is nearest"),
    "lp": lazy("a linear program: the nearest to the best possible, up to 20,000 hosts"),
    "keep": lazy("who owns a unit keeps it; only what has no owner is given out"),
    "random": lazy("deals units out by chance: for a first round, or to compare with"),
}
