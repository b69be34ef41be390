"""The blocks of docs/urls.md, which tests hold to what the program does."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["OF_THE_STANDARD", "OF_TWO_PROGRAMS", "listed"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "urls.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
BORDER = "\n# "  # between the two parts; the page's own title stands at its beginning

OF_THE_STANDARD, OF_TWO_PROGRAMS = 0, 1


def listed(part: int) -> dict[str, list[str]]:
    """Return the lines of each block in one part of the page, by the block's name."""
    text = PAGE.read_text().split(BORDER)[part]
    return {name: lines.splitlines() for name, lines in BLOCK.findall(text)}
