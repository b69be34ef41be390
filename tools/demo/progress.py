"""Progress of a demonstration: a bar that moves on a terminal, some lines elsewhere."""

from __future__ import annotations

from typing import Final, TextIO

__all__ = ["ProgressLine"]

_WIDTH: Final = 24
_PARTS: Final = 4
"""Without a terminal, a stage has a line at its begin and at each quarter."""


class ProgressLine:
    """Writes progress to a stream; on a terminal the newest state replaces the one before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._moves = stream.isatty()
        self._shown: tuple[str, int] | None = None
        self._width = 0

    def say(self, words: str) -> None:
        """Write words that stay."""
        self.end()
        self._write(words + "\n")

    def show(self, words: str, stage: str, done: int, total: int) -> None:
        """Show how far a stage is: done of total."""
        if self._moves:
            bar = "#" * (_WIDTH * done // max(1, total))
            line = f"[{bar:<{_WIDTH}}] {words}"
            self._write("\r" + line.ljust(self._width))
            self._width = len(line)
            return
        part = (stage, _PARTS * done // max(1, total))
        if part != self._shown:
            self._shown = part
            self._write(words + "\n")

    def end(self) -> None:
        """End the line that moves, so that the next words begin a new one."""
        if self._width:
            self._write("\n")
            self._width = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
