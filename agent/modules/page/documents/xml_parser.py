"""Parser of XML for foreign documents: it loads nothing, and its reader refuses entities.

Source: expat; CWE-611 (external entities), CWE-776 (entities that expand).
"""

from __future__ import annotations

from typing import Protocol
from xml.parsers import expat

__all__ = ["XmlEvents", "xml_parser"]


class XmlEvents(Protocol):
    """Takes what a document holds, in its order."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def characters(self, text: str) -> None:
        """Take text of the open element."""

    def entity(self, *declared: object) -> None:
        """Take the declaration of an entity."""


def xml_parser(events: XmlEvents) -> expat.XMLParserType:
    """Return a parser of UTF-8 that gives its events to a reader."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = events.start
    parser.EndElementHandler = events.end
    parser.CharacterDataHandler = events.characters
    parser.EntityDeclHandler = events.entity
    return parser
