"""Reads the links of office documents: OOXML, OpenDocument and EPUB, which are ZIP files of XML;
RTF and the binary files of older programs by a search.

    word/_rels/document.xml.rels    Target, where TargetMode is External
    word/document.xml and others    HYPERLINK, INCLUDEPICTURE: fields; IMAGE(): formulas
    content.xml, styles.xml         xlink:href
    *.xhtml, *.css ... of an EPUB   href, src and url() to other sites
    {\\rtf, D0 CF 11 E0             HYPERLINK fields, URL monikers

Only names that may hold links are unpacked, and of all together `MOST_BYTES`: a file that would
unpack to more is read so far. Nothing is parsed as XML, so nothing is expanded.
Source: ECMA-376 part 2, 9.3; OpenDocument 1.3 part 3, 19.918; EPUB 3.3.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

__all__ = ["office_references"]

MOST_BYTES: Final = 20_000_000
MOST_FILES: Final = 5_000
MOST_LINKS: Final = 50_000

_RELATIONSHIP: Final = re.compile(rb"<(?:\w{1,20}:)?Relationship\s([^<>]{1,10000})>")
_TARGET: Final = re.compile(rb"""\bTarget\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_EXTERNAL: Final = re.compile(rb"""\bTargetMode\s*=\s*["']External["']""")
_FIELD: Final = re.compile(
    rb"""\b(?:HYPERLINK|INCLUDEPICTURE|INCLUDETEXT|IMPORT|IMAGE|WEBSERVICE)"""
    rb"""\s{0,10}\(?\s{0,10}(?:"|&quot;)((?:[^"&<>]|&(?!quot;)){1,2000})"""
)
_RTF: Final = b"{\\rtf"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BINARY_FIELD: Final = re.compile(rb"""\bHYPERLINK\s{1,10}"([\x21\x23-\x7e]{1,2000})\"""")
_WIDE_FIELD: Final = re.compile(
    rb'H\0Y\0P\0E\0R\0L\0I\0N\0K\0(?: \0){1,10}"\0((?:[\x21\x23-\x7e]\0){1,2000})"\0'
)
_MONIKER: Final = re.compile(
    rb"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b.{4}"
    rb"((?:[\x21-\x7e]\0){1,2000})",
    re.DOTALL,
)
"""A URL moniker: its class, its length, its address. Source: MS-OSHARED, 2.3.7.6."""
_XLINK: Final = re.compile(rb"""\bxlink:href\s*=\s*(?:"([^"]{1,8192})"|'([^']{1,8192})')""")
_HREF: Final = re.compile(
    rb"""\b(?:href|src|poster|data|cite)\s{0,9}=\s{0,9}(?:"(https?://[^"]{1,8192})"|"""
    rb"""'(https?://[^']{1,8192})'|(https?://[^\s"'<>]{1,8192}))"""
    rb"""|\burl\(\s{0,9}["']?(https?://[^\s"'()<>]{1,8192})""",
    re.IGNORECASE,
)
_FIELDS_IN: Final = re.compile(r"(?:word|xl/worksheets|ppt/slides)/[^/]+\.xml")
_OF_OPEN_DOCUMENT: Final = ("content.xml", "styles.xml", "meta.xml")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def office_references(body: bytes) -> tuple[list[str], str]:
    """Return the references of an office document, each once, and a note; "": all was read."""
    found: dict[str, None] = {}
    if body.startswith((_RTF, _OLE)):
        return [*dict.fromkeys(_of_binary(body))][:MOST_LINKS], ""
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as packed:
            for info in packed.infolist()[:MOST_FILES]:
                if not _may_hold(info.filename) or info.flag_bits & 1:
                    continue
                with packed.open(info) as file:
                    part = file.read(left)
                left -= len(part)
                for reference in _of_part(info.filename, part):
                    found[reference] = None
                    if len(found) >= MOST_LINKS:
                        return [*found], "links of the document cut"
                if left <= 0:
                    return [*found], f"document read to {MOST_BYTES} bytes only"
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError,
            RuntimeError, LookupError) as error:  # fmt: skip
        return [*found], f"document is broken: {type(error).__name__}"
    return [*found], ""


def _may_hold(name: str) -> bool:
    return (
        name.lower().endswith((".rels", ".xhtml", ".html", ".htm", ".css", ".opf", ".svg"))
        or name.rpartition("/")[2] in _OF_OPEN_DOCUMENT
        or _FIELDS_IN.fullmatch(name) is not None
    )


def _of_part(name: str, part: bytes) -> Iterator[str]:
    if part.startswith((b"\xff\xfe", b"\xfe\xff")):
        part = part.decode("utf-16", "replace").encode()
    if name.endswith(".rels"):
        for match in _RELATIONSHIP.finditer(part):
            target = _TARGET.search(match[1])
            if target and _EXTERNAL.search(match[1]):
                yield _text(target[1] or target[2] or b"")
    elif name.rpartition("/")[2] in _OF_OPEN_DOCUMENT:
        for match in _XLINK.finditer(part):
            reference = _text(match[1] or match[2])
            if reference.startswith("../"):
                yield reference[3:]  # the document itself is a folder there
            elif reference[:1] == "/" or _ABSOLUTE.match(reference):
                yield reference
    elif name.endswith(".xml"):
        for match in _FIELD.finditer(part):
            yield _text(match[1])
    else:
        for match in _HREF.finditer(part):
            yield _text(match[match.lastindex or 1])


def _of_binary(body: bytes) -> Iterator[str]:
    for match in _BINARY_FIELD.finditer(body):
        yield match[1].decode("ascii")
    for pattern in (_WIDE_FIELD, _MONIKER):
        for match in pattern.finditer(body):
            yield match[1].decode("utf-16-le")


def _text(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace")).strip()
