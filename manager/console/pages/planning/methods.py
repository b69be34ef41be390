"""Assignment methods, a sentence each, in the order to try them."""

from __future__ import annotations

from typing import Final

from manager.console.language import Lazy, lazy

__all__ = ["METHOD_WORDS"]

METHOD_WORDS: Final[dict[str, Lazy]] = {
    "default": lazy("near the most even balance with few moves; reassigns everything if it must"),
    "prices": lazy(
        "the most even balance: searches all agents, ends near the lower bound, moves many units"
    ),
    "tree": lazy(
        "the method of the source: neighbours on the spanning tree pass cost on, step by step"
    ),
    "exchange": lazy("pairs of neighbours divide their units by distance"),
    "lp": lazy("a linear program: nearest to the lower bound, up to 20,000 hosts"),
    "keep": lazy("owners keep their units; only units without an owner are assigned"),
    "random": lazy("assigns units at random: for a first round, or as a baseline"),
}
