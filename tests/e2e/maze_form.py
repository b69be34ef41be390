"""A form of a link: a page of the maze, and how its usual ones are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Form", "css", "file"]


@dataclass(frozen=True)
class Form:
    """One form: a page, and what else it needs. `{t}` is its target, `{n}` a folder of its own."""

    name: str
    page: str = ""
    header: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)  # path: type, body
    query: str = ""  # of the target


def css(name: str, text: str) -> Form:
    """Return a form within a style sheet of its own."""
    return Form(
        name,
        "<link rel=stylesheet href={n}s.css>",
        files={"s.css": ("text/css", text.encode())},
    )


def file(name: str, path: str, media_type: str, body: bytes) -> Form:
    return Form(name, f"<a href={{n}}{path}>x</a>", files={path: (media_type, body)})
