"""Links of a page that leave its host, for `extserver.list`.

Read by expressions, not by a parser: the list needs addresses, not a tree, and a hostile page costs
one pass. Links in comments and scripts may be listed too.
"""

from __future__ import annotations

import html
import re
from typing import Final

from shared.errors import UrlError
from shared.urls import canonical, name_and_port

__all__ = ["outlinks"]

READ_BYTES: Final = 4 * 1024**2
MOST_LINKS: Final = 5_000

_TAG: Final = re.compile(r"<(?:a|area|base|frame|iframe|link|form)\s[^<>]*", re.IGNORECASE)
_VALUE: Final = re.compile(
    r"""[\s"'](?:href|src|action)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE
)


def outlinks(url: str, body: bytes) -> list[str]:
    """Return the canonical URLs of other hosts that a page leads to, each once, in order."""
    home = name_and_port(url)
    base = url
    found: dict[str, None] = {}
    for tag in _TAG.findall(body[:READ_BYTES].decode("utf-8", "replace")):
        match = _VALUE.search(tag)
        if match is None:
            continue
        text = html.unescape(match[1] or match[2] or match[3] or "").strip()
        try:
            target = canonical(text, base)
        except UrlError:
            continue
        if tag[:5].lower() == "<base":
            base = target
        elif name_and_port(target) != home and len(target) <= 8192:
            found[target] = None
            if len(found) >= MOST_LINKS:
                break
    return list(found)
