"""Elements of a document in XML, well-formed or not, each with its text and its base.

    <a xml:base="/x/"><b xml:base="y/" href="z">1 &amp; 2</b></a>
        ("a", {...}, "", "http://host/x/", 1)
        ("b", {...}, "1 &amp; 2", "http://host/x/y/", 2)

A search, so that it passes over what XML forbids: a bare `&` or `<`, `&nbsp;`, end tags that are
missing or are of another element, several roots, text around them. Invariant: nothing is expanded
or loaded; a reference to a declared entity stays unresolved. Memory is that of one
piece and of its longest token.
Source: XML 1.0, 2.4 to 2.8 and 3.1; XML Base 1.1, 4.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from agent.modules.page.addresses import joined

__all__ = ["XmlElement", "xml_elements"]

MAX_DEPTH: Final = 1000
"""Elements within these are not looked at for their end: they give no base to others."""

_VALUE: Final = r"=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?"
_COMMENT: Final = r"<!--.*?(?:-->|\Z)"
_CDATA: Final = r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
_TOKEN: Final = re.compile(
    rf"<(?:/([^\s<>/]*+)[^<>]*+"
    rf"|([^\s<>/!?=\"'][^\s<>/]*+)((?:[^=<>]++|{_VALUE})*)>?((?:[^<]++|{_COMMENT}|{_CDATA})*)"
    rf"|\?(?:xml\s[^<>]*+|.*?(?:\?>|\Z))"
    rf"|!(?:--.*?(?:-->|\Z)|\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|[^-\[<>](?:[^\"'<>]++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*))",
    re.DOTALL,
)
"""An end tag with its name; or a start tag with name, attributes and the text behind it; or what
holds no element: instructions, comments, CDATA, declarations."""

_ATTRIBUTE: Final = re.compile(r"""([^\s=/"'<>]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=]+))""")
_PART: Final = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|([^<]+)", re.DOTALL)
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NONE: Final[dict[str, str]] = {}


class XmlElement(NamedTuple):
    """An element by its start tag.

    written: the text behind the start tag, up to another element. base: by `xml:base`; "": that of
    the document. depth: 1 is the root. is_cut: the document ends in this text.
    """

    name: str
    attributes: dict[str, str]
    written: str
    base: str
    depth: int
    is_cut: bool

    @property
    def local(self) -> str:
        """Return the name without its prefix, which documents leave undeclared at times."""
        return self.name.rpartition(":")[2]

    def text(self) -> str:
        """Return the text without comments, with CDATA and references resolved, stripped."""
        written = self.written
        if "<" not in written:
            return _resolved(written).strip()
        parts = (cdata or _resolved(text) for cdata, text in _PART.findall(written))
        return "".join(parts).strip()


def xml_elements(pieces: Iterable[str], url: str) -> Iterator[XmlElement]:
    """Yield the elements of a document at a URL, in the order of their start tags.

    An end tag ends what is open within its element, too; one of no open element is passed over.
    """
    names: list[str] = []
    bases = [""]
    counts: Counter[str] = Counter()
    for match in _tokens(pieces):
        end, name, rest, written = match.groups("")
        if end:
            ended = ""
            while ended != end and counts.get(end):
                ended = names.pop()
                counts[ended] -= 1
                bases.pop()
        elif name:
            base = bases[-1]
            attributes = _NONE
            if "=" in rest:
                attributes = _attributes(rest)
                own = attributes.get("xml:base")
                base = base if own is None else joined(base or url, own)
            depth = len(bases)
            if rest.endswith("/"):
                written = ""
            elif depth < MAX_DEPTH:
                names.append(name)
                counts[name] += 1
                bases.append(base)
            is_cut = written != "" and match.end() == len(match.string)
            yield XmlElement(name, attributes, written, base, depth, is_cut)


def _tokens(pieces: Iterable[str]) -> Iterator[re.Match[str]]:
    """Yield the tokens of a text; the last one of a piece may continue in the next piece.

    A token that is longer than a piece is looked at again when there is twice as much of it.
    """
    buffer, least = "", 0
    for piece in pieces:
        buffer += piece
        if len(buffer) < least:
            continue
        last: re.Match[str] | None = None
        for match in _TOKEN.finditer(buffer):
            if last is not None:
                yield last
            last = match
        start = last.start() if last is not None else buffer.rfind("<")
        buffer = buffer[start:] if start >= 0 else ""
        least = 2 * len(buffer)
    yield from _TOKEN.finditer(buffer)


def _attributes(written: str) -> dict[str, str]:
    """Return the attributes of a tag; of two with one name the first counts."""
    attributes: dict[str, str] = {}
    for name, one, other, bare in _ATTRIBUTE.findall(written):
        attributes.setdefault(name, _resolved(one or other or bare))
    return attributes


def _resolved(text: str) -> str:
    """Return a text with its references resolved; HTML's names count, always with a semicolon."""
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text
