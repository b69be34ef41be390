"""Links in the text of elements: style sheets, scripts and data, and markup within text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Final

from agent.modules.page.html.attribute_values import resolved
from agent.modules.page.html.json_addresses import (
    data_addresses,
    imported_addresses,
    parsed,
    speculated_addresses,
)
from agent.modules.page.html.script_strings import modules_of, source_map_of, strings_of
from agent.modules.page.html.style_sheets import style_references
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["Nested", "Reference", "source_map_reference", "text_references", "with_kind"]

Reference = tuple[str, int]
"""As written, and its kind's byte."""

Nested = Callable[[str, LinkKind], Iterable[Reference]]
"""Reads markup within text."""

_STYLE: Final = LinkKind.STYLE | EMBEDDED
_SCRIPTS: Final = frozenset(
    (
        *("", "module", "text/javascript", "application/javascript", "application/x-javascript"),
        *("text/ecmascript", "application/ecmascript", "text/jscript", "text/x-javascript"),
        *("text/babel", "javascript"),
    )
)
_DATA: Final = frozenset(("application/json", "text/json"))
_CONDITION: Final = re.compile(r"\s*\[if[^\]]{0,200}\]\s*>?(?:\s*<!\s*-*>)?", re.IGNORECASE)


def with_kind(references: Iterable[str], kind: int) -> Iterator[Reference]:
    """Return references as those of one kind."""
    return zip(references, repeat(kind), strict=False)


def text_references(
    tag: str, attributes: Mapping[str, str], text: str, nested: Nested
) -> Iterator[Reference]:
    """Yield the references of an element's text; `nested` reads markup within it."""
    if tag == "style":
        yield from with_kind(style_references(text), _STYLE)
        yield from source_map_reference(text)
    elif tag == "script":
        yield from _of_script(resolved(attributes.get("type", "")), text)
    elif tag == "!--":
        yield from nested(_CONDITION.sub("", text, count=1), LinkKind.COMMENT)
    else:
        yield from nested(text, LinkKind.COMMENT)


def _of_script(media_type: str, text: str) -> Iterator[Reference]:
    kind = media_type.partition(";")[0].strip().lower()
    if kind == "application/ld+json":
        value = parsed(text)
        for reference, shown in data_addresses(value):
            yield reference, LinkKind.JSON_LD | (EMBEDDED if shown else 0)
        if value is None:  # broken, as much of it is; its strings are there all the same
            yield from with_kind(strings_of(text), LinkKind.JSON_LD)
    elif kind in _SCRIPTS:
        yield from with_kind(modules_of(text), LinkKind.SCRIPT | EMBEDDED)
        yield from with_kind(strings_of(text), LinkKind.STRING)
        yield from source_map_reference(text)
    elif kind == "importmap":
        yield from with_kind(imported_addresses(parsed(text)), LinkKind.SCRIPT | EMBEDDED)
    elif kind == "speculationrules":
        yield from with_kind(speculated_addresses(parsed(text)), LinkKind.LINK)
    elif kind in _DATA or kind.endswith("+json"):
        yield from with_kind(strings_of(text), LinkKind.STRING)


def source_map_reference(text: str) -> Iterator[Reference]:
    """Yield the source map that the end of a script or style sheet names, if any."""
    name = source_map_of(text) if "sourceMappingURL" in text else None
    if name:
        yield name, LinkKind.SOURCE_MAP
