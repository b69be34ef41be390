"""Kinds of links: by which form a URL was found, and whether a browser loads it with the page.

    byte = LinkKind | EMBEDDED     in `Links.kinds`, one for each URL

`links.disabled_kinds` can switch a kind off; `KindCounts` counts the results of each.
Invariant: numbers are written to disk with queued URLs, so a number is never given to another kind.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["ALWAYS", "EMBEDDED", "KIND_BITS", "LINK_KINDS", "LinkKind", "kind_name"]

EMBEDDED: Final = 0x80
"""Set where a browser loads the URL to show the page: an image, a style sheet, a frame."""

KIND_BITS: Final = 0x7F


class LinkKind(IntEnum):
    """The form that led to a URL."""

    LISTED = 0  # the manager's list, and redirects
    ANCHOR = 1  # a, area
    LINK = 2  # link, whatever the relation
    HEADER = 3  # Link, Content-Location
    REFRESH = 4  # meta refresh, Refresh
    FRAME = 5  # frame, iframe, portal
    IMAGE = 6  # img, source, input type=image, background
    SCRIPT = 7  # script src, import of a module
    MEDIA = 8  # audio, video, track, embed, object, applet, param, bgsound
    FORM = 9  # action, formaction, isindex
    FORM_VALUES = 10  # a GET form with its default values
    STYLE = 11  # url() and @import of style sheets, <style>, style=
    LAZY = 12  # data-src and its like, attributes of custom elements
    SVG = 13  # image, use, script, a within SVG
    CITATION = 14  # cite, longdesc
    PING = 15  # a ping
    META = 16  # og:image, twitter:image, msapplication-*, itemprop
    JSON_LD = 17  # url, @id, contentUrl and their like
    STRING = 18  # paths in the strings of scripts and of on* attributes
    COMMENT = 19  # conditional comments, noframes, noembed
    SRCDOC = 20  # the page in an iframe's srcdoc
    MANIFEST = 21  # icons and start page of a web app manifest
    SOURCE_MAP = 22  # SourceMap, sourceMappingURL
    PDF = 23
    OFFICE = 24  # OOXML, OpenDocument, EPUB
    FEED = 25  # RSS, Atom, JSON feed
    SITEMAP = 26  # sitemaps that robots.txt or an index names, and what they list
    WELL_KNOWN = 27  # /sitemap.xml, /sitemap_index.xml, /.well-known/*, tried once a host


LINK_KINDS: Final = frozenset(kind.value for kind in LinkKind)

ALWAYS: Final = frozenset((LinkKind.LISTED, LinkKind.ANCHOR))
"""Cannot be switched off."""

_NAMES: Final = {kind.value: kind.name.lower() for kind in LinkKind}


def kind_name(number: int) -> str:
    """Return the name of a kind as settings and status have it; "unknown" for a later version's."""
    return _NAMES.get(number & KIND_BITS, "unknown")
