"""The links of a page: what a reader can follow, and what a browser would load to show it.

    a area                      href: to follow
    form                        action, of GET forms only: posting changes things. Without its
                                query, which a browser replaces by the form's fields
    link                        href, whatever the relation, as styles, icons, next and canonical
                                pages; not `dns-prefetch` and `preconnect`, which name no page
    frame iframe script img     src; `img`, `source`: srcset too, `link`: imagesrcset
    source audio video track    src; `video`: poster
    embed, input type=image     src
    object                      data
    body table td th            background, as old pages have it and browsers still load it
    meta refresh, Refresh       the page that follows
    Link (header)               as `link`
    Content-Location, SourceMap, Speculation-Rules header fields
    complex elements            `complex_links.py`: styles, lazy images, forms, scripts ...
    javascript: in any of them  the addresses in its strings

Each has a kind (`agent.pipeline.link_kinds`), of which any may be switched off. Where a URL is
found in several ways, the first counts; complex elements come last.
Not links: `profile`, what a policy wants reports to be sent to, what a script computes.
`base` is not one either: it only says against what the others are resolved.
`rel=nofollow` takes `a`, `area` and `form` out, a page's own `nofollow` all of them.
Source: HTML standard, 4.2.3 (base), 4.6 (links), 4.10.21.3 (form submission).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import compress
from typing import Final

from agent.modules.page.addresses import Addresses
from agent.modules.page.found_references import MOST_NESTED, FoundReferences
from agent.modules.page.header_fields import field_values, lowered
from agent.modules.page.html.markup import Markup
from agent.modules.page.html.robots_tags import SILENT, RobotsTag, read_tags
from agent.modules.page.html.text_links import Reference
from agent.pipeline.link_kinds import KIND_BITS
from shared.errors import Fault, UrlError
from shared.frozen import frozen
from shared.urls import canonical

__all__ = ["PageLinks", "links_of", "links_of_document"]

_NO_BASE: Final = re.compile(r"[\0-\x20]*(?:data|javascript):", re.IGNORECASE)


@frozen
class PageLinks:
    """Links of a page. `urls` are canonical, without repeats, in document order."""

    urls: tuple[str, ...]
    kinds: bytes = b""  # one for each URL: how it was found
    canonical_url: str | None = None  # the address that the page prefers for itself
    tag: RobotsTag = SILENT
    cut: bool = False  # there were more than `max_links`
    language: str = ""  # of the page, where it was asked for


def links_of(
    markup: Markup,
    header: bytes,
    url: str,
    codec: str,
    *,
    agent_token: str,
    max_links: int,
    off: Collection[int] = (),
) -> PageLinks:
    """Return the links of a page at a canonical URL, from what leads on and its header block.

    off: kinds that are no links.
    """
    found = FoundReferences()
    found.take_header(header)
    found.take(markup)
    if markup.complex_elements:
        found.take_complex(markup, agent_token, MOST_NESTED, codec, url)
    metas = found.metas
    tag = read_tags(
        ((meta.get("name") or "", meta.get("content") or "") for meta in metas),
        field_values(header, "X-Robots-Tag") if b"x-robots-tag" in lowered(header) else (),
        agent_token,
    )
    base = _base_url(found.base, url)
    if base is None:
        found.keep_absolute()
    addresses = Addresses(base or url, codec)
    preferred = found.preferred
    canonical_url = None if preferred is None else addresses.resolve(preferred)
    if tag.nofollow:
        return PageLinks((), b"", canonical_url, tag)
    urls, kinds, cut = _resolved(found, addresses, max_links, off)
    return PageLinks(urls, kinds, canonical_url, tag, cut)


def links_of_document(
    references: Iterable[Reference],
    header: bytes,
    url: str,
    codec: str,
    max_links: int,
    off: Collection[int] = (),
) -> PageLinks:
    """Return the links of a document that is no page, and of its header block."""
    found = FoundReferences()
    found.take_header(header)
    for reference, kind in references:
        found.add(reference, kind)
    urls, kinds, cut = _resolved(found, Addresses(url, codec), max_links, off)
    return PageLinks(urls, kinds, cut=cut)


def _resolved(
    found: FoundReferences, addresses: Addresses, max_links: int, off: Collection[int]
) -> tuple[tuple[str, ...], bytes, bool]:
    if "javascript:" in "".join(found.references).lower():
        found.take_scripts()
    references, kinds = found.references, bytes(found.kinds)
    if off:
        kept = [kind & KIND_BITS not in off for kind in kinds]
        references = [*compress(references, kept)]
        kinds = bytes(compress(kinds, kept))
    return addresses.resolve_all(references, kinds, max_links)


def _base_url(href: str | None, url: str) -> str | None:
    """Return the URL against which references are resolved: the first `base` with an address.

    None: one of another scheme, so that only whole addresses lead anywhere.
    Source: HTML standard, 4.2.3 (set the frozen base URL).
    """
    if href is None:
        return url
    try:
        return canonical(href, url)
    except UrlError as error:
        is_other = error.code == Fault.SCHEME and not _NO_BASE.match(href)
        return None if is_other else url
