"""Start tags of a document in XML, each with the base that `xml:base` around it gives.

    <a xml:base="/x/"><b xml:base="y/" href="z"/></a>
        ("a", {...}, "http://host/x/"), ("b", {...}, "http://host/x/y/")

Found by a search, so that broken XML is read too; nothing is expanded or loaded. Unlike in HTML an
element may close itself, and comments, CDATA and processing instructions hold no tags.
Source: XML 1.0, 2.4 to 2.8 and 3.1; XML Base 1.1, 4.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from agent.modules.page.addresses import joined

__all__ = ["XmlTag", "text_behind", "xml_tags"]

_TOKEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<(?:(/)|([^\s<>/!?=\"'][^\s<>/]*))"
    r"((?:[^\"'<>]++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*)>?",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"'<>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CDATA: Final = "<![CDATA["


class XmlTag(NamedTuple):
    """A start tag. names: in lower case. base: "" for that of the document. end: place behind."""

    name: str
    attributes: dict[str, str]
    base: str
    end: int


def xml_tags(text: str, url: str) -> Iterator[XmlTag]:
    """Yield the start tags of a document. url: its own."""
    has_bases = "xml:base" in text
    bases = [""]
    for match in _TOKEN.finditer(text):
        if match[1]:
            if len(bases) > 1:
                bases.pop()
        elif match[2]:
            rest = match[3]
            attributes: dict[str, str] = {}
            for name, one, other in _ATTRIBUTE.findall(rest) if "=" in rest else ():
                attributes.setdefault(name.lower(), html.unescape(one or other))
            base = bases[-1]
            if has_bases:
                said = attributes.get("xml:base")
                base = base if said is None else joined(base or url, said)
                if not rest.endswith("/"):
                    bases.append(base)
            yield XmlTag(match[2].lower(), attributes, base, match.end())


def text_behind(text: str, end: int) -> str:
    """Return the text of an element whose start tag ends there, as far as no other tag."""
    while text.startswith((" ", "\n", "\t", "\r"), end):
        end += 1
    if text.startswith(_CDATA, end):
        close = text.find("]]>", end)
        return text[end + len(_CDATA) : close if close >= 0 else None].strip()
    close = text.find("<", end)
    return html.unescape(text[end : close if close >= 0 else None]).strip()
