"""What the methods of giving units out are, in a sentence each, in the order to try them."""

from typing import Final

__all__ = ["METHOD_WORDS"]

METHOD_WORDS: Final = {
    "prices": "the most even: searches all agents and ends near the lower bound",
    "tree": "the source's: neighbours on the spanning tree hand cost over, step by step",
    "keep": "who owns a unit keeps it; only what has no owner is given out",
    "random": "deals units out by chance: for a first round, or to compare with",
}
