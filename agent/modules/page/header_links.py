"""Links of an answer's header block, and the kinds of relations that `link` and `Link` share.

Link: <next.html>; rel=next      as `link` on a page
Refresh, Content-Location, Speculation-Rules, SourceMap
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agent.modules.page.header_fields import field_values, link_targets, lowered
from agent.modules.page.html.attribute_values import refresh_target
from agent.modules.page.html.text_links import Reference, with_kind
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["HOSTS_ONLY", "header_references", "leads_on_by_header", "relation_kind"]

HOSTS_ONLY: Final = frozenset(("dns-prefetch", "preconnect"))
_LOADED: Final = frozenset(
    (
        *("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
        *("apple-touch-startup-image", "fluid-icon", "image_src", "preload", "modulepreload"),
        *("manifest", "import"),
    )
)
"""Relations of `link` that a browser loads with the page."""

_QUOTED: Final = re.compile(r'"([^"\\]{1,8192})"')


def leads_on_by_header(header: bytes) -> bool:
    """Return whether a header block may hold a field that leads on."""
    small = lowered(header)
    return (
        b"link" in small
        or b"refresh" in small
        or b"sourcemap" in small
        or b"t-location" in small
        or b"speculation-rules" in small
    )


def header_references(header: bytes) -> Iterator[Reference]:
    """Yield the references of a header block."""
    for value in field_values(header, "Refresh"):
        target = refresh_target(value)
        if target:
            yield target, LinkKind.REFRESH
    for value in field_values(header, "Link"):
        for target, relations in link_targets(value):
            if relations.isdisjoint(HOSTS_ONLY):
                yield target, relation_kind(LinkKind.HEADER, relations)
    yield from with_kind(field_values(header, "Content-Location"), LinkKind.HEADER)
    for value in field_values(header, "Speculation-Rules"):
        for match in _QUOTED.finditer(value):
            yield match[1], LinkKind.HEADER
    for name in ("SourceMap", "X-SourceMap"):
        yield from with_kind(field_values(header, name), LinkKind.SOURCE_MAP)


def relation_kind(kind: LinkKind, relations: frozenset[str]) -> int:
    """Return the kind of a link with its relations: some are loaded with the page."""
    if relations.isdisjoint(_LOADED):
        return kind
    return (LinkKind.MANIFEST if "manifest" in relations else kind) | EMBEDDED
