"""Links that a script loads later: `data-src`, `lazysrc`, `hx-get`, attributes of components.

A value counts where it is clearly a path, or where the name of its attribute is a known one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agent.modules.page.html.attribute_values import srcset_urls
from agent.modules.page.html.complex_attributes import DATA_WORDS
from agent.modules.page.html.script_strings import is_clear_path, strings_of
from agent.modules.page.html.style_sheets import style_references
from agent.modules.page.html.text_links import Reference, with_kind
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = [
    "custom_references",
    "is_one_word",
    "lazy_data_references",
    "lazy_reference",
]

_LAZY: Final = LinkKind.LAZY | EMBEDDED

_LAZY_SOURCES: Final = frozenset(
    (
        *("data-src", "data-original", "data-lazy", "data-lazy-src", "data-bg", "data-background"),
        *("data-background-image", "data-image", "data-img", "data-poster", "data-echo"),
        *("data-lazyload", "data-hi-res-src", "data-full-src", "data-thumb", "data-cfsrc"),
    )
)
_LEADS: Final = frozenset(("hx-get", "ng-href", "ng-include", "up-href", "w3-include-html"))


def lazy_reference(tag: str, name: str, value: str) -> Iterator[Reference]:
    """Yield the reference of an attribute of `LAZY_WITHOUT_DATA`."""
    path = value.strip(" '\t\n\r\f")  # `ng-include` has an expression
    is_written = tag == "img" and "{" not in path and is_one_word(path)
    if is_clear_path(path) or is_written:
        yield path, LinkKind.LAZY if name in _LEADS else _LAZY


def lazy_data_references(name: str, value: str) -> Iterator[Reference]:
    """Yield the references of an attribute `data-...`."""
    value = value.strip()
    if name.endswith(("srcset", "bgset", "-set")):
        for part in value.split("|") if name.endswith("bgset") else (value,):
            yield from with_kind(srcset_urls(part), _LAZY)
    elif "url(" in value:
        yield from with_kind(style_references(value), _LAZY)
    elif value[:1] in "[{":
        yield from with_kind(strings_of(value), _LAZY)
    elif is_clear_path(value) or (name in _LAZY_SOURCES and is_one_word(value)):
        leads_on = name.endswith(("href", "url", "link")) or not any(
            word in name for word in DATA_WORDS
        )
        yield value, LinkKind.LAZY if leads_on else _LAZY


def custom_references(name: str, value: str) -> Iterator[Reference]:
    """Yield the references of an attribute of a custom element."""
    if name == "srcset":
        yield from with_kind(srcset_urls(value), _LAZY)
    elif value.strip():
        yield value, LinkKind.LAZY if name == "href" else _LAZY


def is_one_word(value: str) -> bool:
    """Return whether a value may be an address: no text, number or name."""
    if not value or len(value.split()) > 1 or not ("/" in value or "." in value):
        return False
    return not value.replace(".", "").isdecimal()
