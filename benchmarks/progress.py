"""Lines of progress: a benchmark takes minutes, and a file or a pipe would hold them back."""

from __future__ import annotations

__all__ = ["say"]


def say(sentence: str) -> None:
    """Print a line at once, also where the output is no terminal."""
    print(sentence, flush=True)
