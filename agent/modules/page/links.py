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
    further elements            `further_links.py`: styles, lazy images, forms, scripts ...
    javascript: in any of them  the addresses in its strings

Each has a kind (`agent.pipeline.link_kinds`), of which any may be switched off. Where a URL is
found in several ways, the first counts; further elements come last.
Not links: `profile`, what a policy wants reports to be sent to, what a script computes.
`base` is not one either: it only says against what the others are resolved.
`rel=nofollow` takes `a`, `area` and `form` out, a page's own `nofollow` all of them.
Source: HTML standard, 4.2.3 (base), 4.6 (links), 4.10.21.3 (form submission).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, cast
from urllib.parse import unquote

from agent.modules.page.addresses import Addresses, joined
from agent.modules.page.header_fields import field_values, link_targets, lowered
from agent.modules.page.html.further_links import Reference, further_references
from agent.modules.page.html.markup import Item, Markup, links_of_markup
from agent.modules.page.html.refresh import refresh_target
from agent.modules.page.html.robots_tags import SILENT, RobotsTag, read_tags
from agent.modules.page.html.script_strings import strings_of
from agent.modules.page.html.srcset import srcset_urls
from agent.pipeline.link_kinds import EMBEDDED, KIND_BITS, LinkKind
from shared.errors import Fault, UrlError
from shared.frozen import frozen
from shared.urls import canonical

__all__ = ["PageLinks", "leads_on_by_header", "links_of", "links_of_document", "references_within"]

_FRAME: Final = LinkKind.FRAME | EMBEDDED
_IMAGE: Final = LinkKind.IMAGE | EMBEDDED
_MEDIA: Final = LinkKind.MEDIA | EMBEDDED
_SOURCE: Final = {
    "frame": _FRAME,
    "iframe": _FRAME,
    "script": LinkKind.SCRIPT | EMBEDDED,
    "img": _IMAGE,
    "source": _IMAGE,
    "audio": _MEDIA,
    "video": _MEDIA,
    "track": _MEDIA,
    "embed": _MEDIA,
}
_OTHER: Final = {
    "area": int(LinkKind.ANCHOR),
    "form": int(LinkKind.FORM),
    "object": _MEDIA,
    "body": _IMAGE,
    "table": _IMAGE,
    "td": _IMAGE,
    "th": _IMAGE,
    "input": _IMAGE,
}
_BACKGROUND: Final = frozenset(("body", "table", "td", "th"))
_HOSTS_ONLY: Final = frozenset(("dns-prefetch", "preconnect"))
_LOADED: Final = frozenset(
    (
        *("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"),
        *("apple-touch-startup-image", "fluid-icon", "image_src", "preload", "modulepreload"),
        *("manifest", "import"),
    )
)
"""Relations of `link` that a browser loads with the page."""

MOST_NESTED: Final = 3
"""Levels of pages within a page's text."""

_NO_BASE: Final = re.compile(r"[\0-\x20]*(?:data|javascript):", re.IGNORECASE)
_ABSOLUTE: Final = re.compile(r"[\0-\x20]*https?:", re.IGNORECASE)
_QUOTED: Final = re.compile(r'"([^"\\]{1,8192})"')
_NONE: Final[frozenset[str]] = frozenset()
LONG_RELATION: Final = 100  # characters, from which it is not remembered

Attributes = Mapping[str, str | None]


@frozen
class PageLinks:
    """Links of a page. `urls` are canonical, without repeats, in document order."""

    urls: tuple[str, ...]
    kinds: bytes = b""  # one for each URL: how it was found
    canonical_url: str | None = None  # the address that the page prefers for itself
    tag: RobotsTag = SILENT
    cut: bool = False  # there were more than `max_links`


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
    found = _Found()
    found.take_header(header)
    found.take(markup)
    if markup.further:
        found.take_further(markup, agent_token, MOST_NESTED, codec, url)
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
    found = _Found()
    found.take_header(header)
    for reference, kind in references:
        found.add(reference, kind)
    urls, kinds, cut = _resolved(found, Addresses(url, codec), max_links, off)
    return PageLinks(urls, kinds, cut=cut)


def _resolved(
    found: _Found, addresses: Addresses, max_links: int, off: Collection[int]
) -> tuple[tuple[str, ...], bytes, bool]:
    if "javascript:" in "".join(found.references).lower():
        found.take_scripts()
    references, kinds = found.references, bytes(found.kinds)
    if off:
        kept = [kind & KIND_BITS not in off for kind in kinds]
        references = [*compress(references, kept)]
        kinds = bytes(compress(kinds, kept))
    return addresses.resolve_all(references, kinds, max_links)


class _Found:
    """References found on a page so far. The first `base` and the first canonical address count."""

    __slots__ = ("base", "kinds", "metas", "preferred", "references")

    def __init__(self) -> None:
        self.references: list[str] = []
        self.kinds = bytearray()
        self.metas: list[Attributes] = []
        self.base: str | None = None
        self.preferred: str | None = None

    def take_header(self, header: bytes) -> None:
        """Take what the header block leads to."""
        if leads_on_by_header(header):
            for reference, kind in _of_header(header):
                self.add(reference, kind)

    def take(self, markup: Markup) -> None:
        """Take what the items of a page lead to."""
        items, kinds = markup.items, markup.kinds
        begin, end = 0, kinds.find(0)
        while end >= 0:  # an element; most items are references, and are taken all at once
            self._take_references(items[begin:end], kinds[begin:end])
            one = items[end]
            assert not isinstance(one, str)
            self._take_element(*one)
            begin, end = end + 1, kinds.find(0, end + 1)
        self._take_references(items[begin:], kinds[begin:])

    def _take_references(self, items: Sequence[Item], kinds: bytes) -> None:
        self.references += cast(Sequence[str], items)
        self.kinds += kinds

    def take_further(
        self, markup: Markup, agent_token: str, levels: int, codec: str, url: str = ""
    ) -> None:
        """Take what further elements lead to; pages within their text at most so many levels."""

        def nested(text: str, kind: LinkKind) -> Iterator[Reference]:
            if levels <= 0 or "<" not in text:
                return
            for reference, inner_kind in _read_within(text, agent_token, levels, codec):
                yield reference, kind | (inner_kind & EMBEDDED)

        for reference, kind in further_references(markup.further, nested, codec, url):
            if reference:
                self.add(reference, kind)

    def keep_absolute(self) -> None:
        """Drop the references that are meant against a base that no crawler can use."""
        kept = [_ABSOLUTE.match(one) is not None for one in self.references]
        self.references = [*compress(self.references, kept)]
        self.kinds = bytearray(compress(self.kinds, kept))

    def take_scripts(self) -> None:
        """Take what the scripts lead to that stand where an address is expected."""
        for reference in [*self.references]:
            script = reference.lstrip()
            if script[:11].lower() == "javascript:":
                for path in strings_of(unquote(script[11:])):
                    self.add(path, LinkKind.STRING)

    def add(self, reference: str | None, kind: int) -> None:
        """Take a reference."""
        if reference:  # an empty one names the page itself
            self.references.append(reference)
            self.kinds.append(kind)

    def _take_element(self, name: str, attributes: Attributes) -> None:
        kind = _SOURCE.get(name)
        if name == "a":
            href = attributes.get("href")
            if href and not ("rel" in attributes and "nofollow" in _words(attributes, "rel")):
                self.add(href, LinkKind.ANCHOR)
        elif kind is not None:
            self.add(attributes.get("src"), kind)
            if "srcset" in attributes or "poster" in attributes:
                for reference in _more_sources(name, attributes):
                    self.add(reference, _IMAGE)
        elif name == "link":
            self._take_link(attributes)
        elif name == "meta":
            self.metas.append(attributes)
            if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
                self.add(refresh_target(attributes.get("content") or ""), LinkKind.REFRESH)
        elif name == "base":
            self.base = attributes.get("href") if self.base is None else self.base
        else:
            self.add(_of_other(name, attributes), _OTHER.get(name, LinkKind.LINK))

    def _take_link(self, attributes: Attributes) -> None:
        relations = _words(attributes, "rel")
        if self.preferred is None and "canonical" in relations and "href" in attributes:
            self.preferred = attributes["href"] or ""
        if relations.isdisjoint(_HOSTS_ONLY):
            self.add(attributes.get("href"), _link_kind(LinkKind.LINK, relations))
            if "imagesrcset" in attributes:
                for reference in srcset_urls(attributes["imagesrcset"] or ""):
                    self.add(reference, LinkKind.LINK | EMBEDDED)


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


def references_within(text: str, agent_token: str) -> Iterator[Reference]:
    """Yield the references of HTML that is the text of another document."""
    yield from _read_within(text, agent_token, MOST_NESTED, "utf-8")


def _read_within(text: str, agent_token: str, levels: int, codec: str) -> Iterator[Reference]:
    within, _ = links_of_markup(text.encode("utf-8", "replace"), "utf-8", agent_token)
    inner = _Found()
    inner.take(within)
    inner.take_further(within, agent_token, levels - 1, codec)
    base = inner.base or ""
    for reference, kind in zip(inner.references, inner.kinds, strict=True):
        yield joined(base, reference), kind


def _link_kind(kind: LinkKind, relations: frozenset[str]) -> int:
    if relations.isdisjoint(_LOADED):
        return kind
    return (LinkKind.MANIFEST if "manifest" in relations else kind) | EMBEDDED


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


def _of_header(header: bytes) -> Iterator[Reference]:
    for value in field_values(header, "Refresh"):
        target = refresh_target(value)
        if target:
            yield target, LinkKind.REFRESH
    for value in field_values(header, "Link"):
        for target, relations in link_targets(value):
            if relations.isdisjoint(_HOSTS_ONLY):
                yield target, _link_kind(LinkKind.HEADER, relations)
    for value in field_values(header, "Content-Location"):
        yield value, LinkKind.HEADER
    for value in field_values(header, "Speculation-Rules"):
        for match in _QUOTED.finditer(value):
            yield match[1], LinkKind.HEADER
    for name in ("SourceMap", "X-SourceMap"):
        for value in field_values(header, name):
            yield value, LinkKind.SOURCE_MAP


def _more_sources(name: str, attributes: Attributes) -> Iterable[str]:
    """Return what an element may load beside its `src`."""
    if name in ("img", "source"):
        return srcset_urls(attributes.get("srcset") or "")
    poster = attributes.get("poster")
    return (poster,) if poster and name == "video" else ()


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


def _words(attributes: Attributes, name: str) -> frozenset[str]:
    value = attributes.get(name)
    if not value:
        return _NONE
    return _word_set(value) if len(value) < LONG_RELATION else frozenset(value.lower().split())


@lru_cache(maxsize=256)
def _word_set(value: str) -> frozenset[str]:
    return frozenset(value.lower().split())
