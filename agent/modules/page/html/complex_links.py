"""The links of the complex elements of a page: references with their kinds, in order.

    style=, <style>                  what the style sheet loads
    data-src, data-srcset ...        what a script loads when it is looked at
    xlink:href, image, use, script   SVG
    form and its controls            `form_reader.py`: as sent by GET, by each of its buttons
    srcdoc, conditional comments,    markup within text: read as a page, at the same base
    noframes, noembed
    meta og:image ...                images and pages that other programs show for this one; markup
                                     in any content
    script                           JSON-LD, import maps, speculation rules, modules, and strings
                                     that are clearly paths
    cite longdesc lowsrc dynsrc      as they stand; ping: each of its addresses
    applet object param isindex      with their codebase, and that where it is a file
    fill= mask= marker-end= ...      of drawings, where another file is named
    file= lazysrc= hx-get= ...       what scripts load, without `data-`
    itemid= about= resource=         subjects of microdata and RDFa

Not links: where a policy wants reports to be sent (`report-uri`), what a form posts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from agent.modules.page.html.attribute_values import resolved
from agent.modules.page.html.complex_attributes import LAZY_WITHOUT_DATA, PAINTED
from agent.modules.page.html.complex_elements import ComplexElement
from agent.modules.page.html.form_reader import FormReader
from agent.modules.page.html.lazy_links import (
    custom_references,
    is_one_word,
    lazy_data_references,
    lazy_reference,
)
from agent.modules.page.html.script_strings import is_clear_path, strings_of
from agent.modules.page.html.style_sheets import style_references
from agent.modules.page.html.text_links import Nested, Reference, text_references, with_kind
from agent.pipeline.link_kinds import EMBEDDED, LinkKind

__all__ = ["complex_references"]

_IMAGE: Final = LinkKind.IMAGE | EMBEDDED
_MEDIA: Final = LinkKind.MEDIA | EMBEDDED
_STYLE: Final = LinkKind.STYLE | EMBEDDED
_SVG: Final = LinkKind.SVG | EMBEDDED

# Attributes whose value is the reference.
_PLAIN: Final = {
    "background": _IMAGE,
    "cite": int(LinkKind.CITATION),
    "dynsrc": _IMAGE,
    "longdesc": int(LinkKind.CITATION),
    "lowsrc": _IMAGE,
    "manifest": LinkKind.MANIFEST | EMBEDDED,
    "implementation": LinkKind.SCRIPT | EMBEDDED,
}
_SOURCES: Final = {
    "frame": LinkKind.FRAME | EMBEDDED,
    "layer": LinkKind.FRAME | EMBEDDED,
    "ilayer": LinkKind.FRAME | EMBEDDED,
    "portal": LinkKind.FRAME | EMBEDDED,
    "fencedframe": LinkKind.FRAME | EMBEDDED,
    "bgsound": _MEDIA,
}
_DRAWN: Final = frozenset(
    (
        *("image", "use", "feimage", "script", "textpath", "mpath"),
        *("pattern", "lineargradient", "radialgradient"),
    )
)
_CODE: Final = frozenset(("applet", "object"))
_SPOKEN_OF: Final = frozenset(("about", "itemid", "resource"))
_PARAMETERS: Final = frozenset(
    ("movie", "src", "url", "filename", "href", "data", "file", "source", "image", "picture")
)
_NOT_ADDRESSES: Final = (":type", ":width", ":height", ":alt", ":tag", ":duration", "color")
_WHOLE: Final = ("http://", "https://", "/")
"""Begin addresses that may hold spaces."""

_SHOWN: Final = ("image", "thumb", "logo", "msapplication")
_TASK: Final = re.compile(r"(?:action|icon|polling)-uri[0-9]?\s*=\s*([^;\s]+)", re.IGNORECASE)
_PAIRS: Final = ("msapplication-task", "msapplication-notification", "msapplication-badge")


_OF_FORMS: Final = frozenset(
    (
        *("button", "fieldset", "form", "input", "legend", "optgroup", "option", "select"),
        *("textarea", "/fieldset", "/form", "/legend", "/optgroup", "/select"),
    )
)


def complex_references(
    elements: Iterable[ComplexElement], nested: Nested, codec: str = "utf-8", document: str = ""
) -> Iterator[Reference]:
    """Yield the references of complex elements; `nested` reads markup that is within their text.

    codec: of the page. document: its URL, to which its forms without an action go.
    """
    forms = FormReader(codec, document.partition("?")[0])
    for tag, attributes in elements:
        if tag in _OF_FORMS:
            forms.take(tag, attributes)
            if not attributes:
                continue
        text = attributes.get("text")
        if text is not None and tag not in ("option", "textarea"):
            yield from text_references(tag, attributes, text, nested)
        else:
            yield from _of_tag(tag, attributes, nested)
            if "srcdoc" in attributes:
                yield from nested(resolved(attributes["srcdoc"]), LinkKind.SRCDOC)
    yield from forms.end()


def _of_tag(tag: str, attributes: Mapping[str, str], nested: Nested) -> Iterator[Reference]:
    codebase = resolved(attributes.get("codebase", "")) if tag in _CODE else ""
    for name, raw in attributes.items():
        value = resolved(raw)
        kind = _PLAIN.get(name)
        if kind is not None:
            yield value, kind
        elif name == "style":
            yield from with_kind(style_references(value), _STYLE)
        elif name in PAINTED:
            yield from with_kind(style_references(value), _SVG)
        elif name in LAZY_WITHOUT_DATA:
            yield from lazy_reference(tag, name, value)
        elif name in _SPOKEN_OF:
            if is_clear_path(value.strip()):
                yield value, LinkKind.META
        elif name == "codebase" and tag in _CODE and not codebase.endswith("/"):
            yield codebase, _MEDIA  # a file, as that of a plug-in; a folder is no page
        elif name.startswith("data-"):
            yield from lazy_data_references(name, value)
        elif name == "xlink:href" or (name == "href" and tag in _DRAWN):
            if value[:1] != "#":
                yield value, LinkKind.SVG if tag in ("a", "area") else _SVG
        elif name == "ping":
            yield from with_kind(value.split(), LinkKind.PING)
        elif name.startswith("on"):
            yield from with_kind(strings_of(value), LinkKind.STRING)
        elif name == "src" and tag in _SOURCES:
            yield value, _SOURCES[tag]
        elif name in ("code", "data", "archive", "object") and tag in _CODE:
            if name != "data" or codebase:
                for reference in re.split(r"[\s,]+", value) if name == "archive" else (value,):
                    yield _below(codebase, reference), _MEDIA
        elif ("-" in tag or ":" in tag) and name in ("src", "poster", "href", "srcset"):
            yield from custom_references(name, value)
    if tag == "meta":
        content = resolved(attributes.get("content", ""))
        if "<" in content:
            yield from nested(content, LinkKind.META)
        else:
            yield from _of_meta(attributes)
    elif tag == "param":
        value = resolved(attributes.get("value", "")).strip()
        is_address = attributes.get("valuetype", "").strip().lower() == "ref"
        is_address = is_address or attributes.get("name", "").strip().lower() in _PARAMETERS
        if is_address and is_one_word(value):
            yield value, _MEDIA
    elif tag == "isindex":
        for name in ("action", "href"):
            yield resolved(attributes.get(name, "")).partition("?")[0], LinkKind.FORM
    elif tag == "option" and is_clear_path(value := resolved(attributes.get("value", ""))):
        yield value, LinkKind.STRING


def _of_meta(attributes: Mapping[str, str]) -> Iterator[Reference]:
    value = resolved(attributes.get("content", "")).strip()
    names = [attributes.get(name, "").lower() for name in ("property", "itemprop", "name")]
    name = next(filter(None, names), "")
    if name in _PAIRS:
        for match in _TASK.finditer(value):
            yield match[1], LinkKind.META
    elif not name.endswith(_NOT_ADDRESSES) and (is_one_word(value) or value.startswith(_WHOLE)):
        shown = any(word in name for word in _SHOWN)
        yield value, LinkKind.META | (EMBEDDED if shown else 0)


def _below(codebase: str, reference: str) -> str:
    if not reference or not codebase or reference[:1] == "/" or "://" in reference:
        return reference
    return f"{codebase.rstrip('/')}/{reference}"
