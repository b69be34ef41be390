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

Not links: `cite`, `longdesc`, `ping`, `profile`, what a script or a style would load.
`base` is not one either: it only says against what the others are resolved.
`rel=nofollow` takes `a`, `area` and `form` out, a page's own `nofollow` all of them.
Source: HTML standard, 4.2.3 (base), 4.6 (links), 4.10.21.3 (form submission).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

from agent.modules.page.addresses import Addresses
from agent.modules.page.fields import field_values, link_targets, lowered
from agent.modules.page.markup import Item
from agent.modules.page.refresh import refresh_target
from agent.modules.page.robots_tags import SILENT, RobotsTag, read_tags
from agent.modules.page.srcset import srcset_urls
from shared.errors import UrlError
from shared.frozen import frozen
from shared.urls import canonical

__all__ = ["PageLinks", "links_of"]

_SOURCE: Final = frozenset(
    ("frame", "iframe", "script", "img", "source", "audio", "video", "track", "embed")
)
_BACKGROUND: Final = frozenset(("body", "table", "td", "th"))
_HOSTS_ONLY: Final = frozenset(("dns-prefetch", "preconnect"))
_NONE: Final[frozenset[str]] = frozenset()
LONG_RELATION: Final = 100  # characters, from which it is not remembered

Attributes = Mapping[str, str | None]


@frozen
class PageLinks:
    """What a page leads to. `urls` are canonical, without repeats, in document order."""

    urls: tuple[str, ...]
    canonical_url: str | None = None  # the address that the page prefers for itself
    tag: RobotsTag = SILENT
    cut: bool = False  # there were more than `max_links`


def links_of(
    found: Iterable[Item],
    header: bytes,
    url: str,
    codec: str,
    *,
    agent_token: str,
    max_links: int,
) -> PageLinks:
    """Return the links of a page at a canonical URL, from what leads on and its header block."""
    metas: list[Attributes] = []
    base = preferred = None  # the first of each counts
    small = lowered(header)
    references = list(_of_header(header)) if b"link" in small or b"refresh" in small else []
    for one in found:
        if isinstance(one, str):  # most do
            references.append(one)
            continue
        name, attributes = one
        if name == "a":
            href = attributes.get("href")
            if href and not ("rel" in attributes and "nofollow" in _words(attributes, "rel")):
                references.append(href)
        elif name in _SOURCE:
            source = attributes.get("src")
            if source:
                references.append(source)
            if "srcset" in attributes or "poster" in attributes:
                references += _more_sources(name, attributes)
        elif name == "link":
            relations = _words(attributes, "rel")
            if preferred is None and "canonical" in relations and "href" in attributes:
                preferred = attributes["href"] or ""
            if relations.isdisjoint(_HOSTS_ONLY):
                href = attributes.get("href")
                if href:
                    references.append(href)
                if "imagesrcset" in attributes:
                    references += srcset_urls(attributes["imagesrcset"] or "")
        elif name == "meta":
            metas.append(attributes)
            if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
                references += _present(refresh_target(attributes.get("content") or ""))
        elif name == "base":
            base = attributes.get("href") if base is None else base
        else:
            references += _present(_of_other(name, attributes))
    tag = read_tags(
        ((meta.get("name") or "", meta.get("content") or "") for meta in metas),
        field_values(header, "X-Robots-Tag") if b"x-robots-tag" in small else (),
        agent_token,
    )
    addresses = Addresses(_base_url(base, url), codec)
    canonical_url = None if preferred is None else addresses.resolve(preferred)
    if tag.nofollow:
        return PageLinks((), canonical_url, tag)
    urls, cut = addresses.resolve_all(references, max_links)
    return PageLinks(urls, canonical_url, tag, cut)


def _base_url(href: str | None, url: str) -> str:
    """Return the URL against which references are resolved: the first `base` with an address."""
    if href is not None:
        with suppress(UrlError):
            return canonical(href, url)
    return url


def _of_header(header: bytes) -> Iterator[str]:
    for value in field_values(header, "Refresh"):
        yield from _present(refresh_target(value))
    for value in field_values(header, "Link"):
        for target, relations in link_targets(value):
            if relations.isdisjoint(_HOSTS_ONLY):
                yield target


def _more_sources(name: str, attributes: Attributes) -> Iterable[str]:
    """Return what an element may load beside its `src`."""
    if name in ("img", "source"):
        return srcset_urls(attributes.get("srcset") or "")
    return _present(attributes.get("poster")) if name == "video" else ()


def _of_other(name: str, attributes: Attributes) -> str | None:
    """Return the reference of an element that has at most one, and is on few pages."""
    if name == "area":
        return None if "nofollow" in _words(attributes, "rel") else attributes.get("href")
    if name == "form":
        method = (attributes.get("method") or "get").strip().lower()
        if method in ("post", "dialog") or "nofollow" in _words(attributes, "rel"):
            return None
        return (attributes.get("action") or "").partition("?")[0]
    if name == "object":
        return attributes.get("data")
    if name in _BACKGROUND:
        return attributes.get("background")
    if name == "input" and (attributes.get("type") or "").strip().lower() == "image":
        return attributes.get("src")
    return None


def _present(reference: str | None) -> tuple[str, ...]:
    """Return a reference that is not empty: an empty one names the page itself."""
    return (reference,) if reference else ()


def _words(attributes: Attributes, name: str) -> frozenset[str]:
    value = attributes.get(name)
    if not value:
        return _NONE
    return _word_set(value) if len(value) < LONG_RELATION else frozenset(value.lower().split())


@lru_cache(maxsize=256)
def _word_set(value: str) -> frozenset[str]:
    return frozenset(value.lower().split())
