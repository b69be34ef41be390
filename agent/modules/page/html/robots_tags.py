"""Reads what a page says to robots: `<meta name=robots>` and `X-Robots-Tag`.

`nofollow` and `none` take the links out of the crawl. `noindex` is for those who search: the page
is archived and marked. A header may be meant for one robot: `X-Robots-Tag: somebot: nofollow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from shared.frozen import frozen

__all__ = ["SILENT", "RobotsTag", "read_tags"]

_WORDS: Final = re.compile(r"[^\s,:]+")
_FOR_ONE: Final = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:")
_WITH_VALUE: Final = frozenset(
    ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
)


@frozen
class RobotsTag:
    """Robots directives of a page."""

    nofollow: bool = False
    noindex: bool = False


SILENT: Final = RobotsTag()
"""What most pages ask."""


def read_tags(
    metas: Iterable[tuple[str, str]], headers: Iterable[str], agent_token: str
) -> RobotsTag:
    """Return what a page asks of the robot with a product token.

    metas: (name, content) of `<meta>` elements. headers: values of X-Robots-Tag.
    """
    token = agent_token.lower()
    words: set[str] = set()
    for name, content in metas:
        if name.strip().lower() in ("robots", token):
            words.update(_WORDS.findall(content.lower()))
    for value in headers:
        addressed = _FOR_ONE.match(value)
        if addressed is not None:
            name = addressed[1].lower()
            if name not in _WITH_VALUE and name != token:
                continue
        words.update(_WORDS.findall(value.lower()))
    if not words:
        return SILENT
    return RobotsTag(
        nofollow=not words.isdisjoint(("nofollow", "none")),
        noindex=not words.isdisjoint(("noindex", "none")),
    )
