"""Collects the references of a page: of its header block, its elements, its complex elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final, cast
from urllib.parse import unquote

from agent.modules.page.addresses import joined
from agent.modules.page.header_links import (
    HOSTS_ONLY,
    header_references,
    leads_on_by_header,
    relation_kind,
)
from agent.modules.page.html.attribute_values import refresh_target, srcset_urls
from agent.modules.page.html.complex_links import complex_references
from agent.modules.page.html.markup import Item, Markup, links_of_markup
from agent.modules.page.html.script_strings import strings_of
from agent.modules.page.html.text_links import Reference
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["MOST_NESTED", "FoundReferences", "references_within"]

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
MOST_NESTED: Final = 3
"""Levels of pages within a page's text."""

_ABSOLUTE: Final = re.compile(r"[\0-\x20]*https?:", re.IGNORECASE)
_NONE: Final[frozenset[str]] = frozenset()
LONG_RELATION: Final = 100  # characters, from which it is not remembered

Attributes = Mapping[str, str | None]


class FoundReferences:
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
            for reference, kind in header_references(header):
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

    def take_complex(
        self, markup: Markup, agent_token: str, levels: int, codec: str, url: str = ""
    ) -> None:
        """Take what complex elements lead to; pages within their text at most so many levels."""

        def nested(text: str, kind: LinkKind) -> Iterator[Reference]:
            if levels <= 0 or "<" not in text:
                return
            for reference, inner_kind in _read_within(text, agent_token, levels, codec):
                yield reference, kind | (inner_kind & EMBEDDED)

        for reference, kind in complex_references(markup.complex_elements, nested, codec, url):
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
        if relations.isdisjoint(HOSTS_ONLY):
            self.add(attributes.get("href"), relation_kind(LinkKind.LINK, relations))
            if "imagesrcset" in attributes:
                for reference in srcset_urls(attributes["imagesrcset"] or ""):
                    self.add(reference, LinkKind.LINK | EMBEDDED)


def references_within(text: str, agent_token: str) -> Iterator[Reference]:
    """Yield the references of HTML that is the text of another document."""
    yield from _read_within(text, agent_token, MOST_NESTED, "utf-8")


def _read_within(text: str, agent_token: str, levels: int, codec: str) -> Iterator[Reference]:
    within, _ = links_of_markup(text.encode("utf-8", "replace"), "utf-8", agent_token)
    inner = FoundReferences()
    inner.take(within)
    inner.take_complex(within, agent_token, levels - 1, codec)
    base = inner.base or ""
    for reference, kind in zip(inner.references, inner.kinds, strict=True):
        yield joined(base, reference), kind


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
