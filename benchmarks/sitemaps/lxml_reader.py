"""Sitemaps and feeds read by lxml, with the rules of our own reader.

The recovering parser, in pieces; each element is freed when it has been read.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from agent.modules.page.documents.xml_lists import Listed, Pieces, Reference, Within, references_of

__all__ = ["FOLDER", "install", "read_by_lxml"]

VERSION: Final = "6.1.3"
FOLDER: Final = Path("build/bench-lxml")
_XML: Final = "{http://www.w3.org/XML/1998/namespace}base"
_RDF: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"


def install() -> None:
    """Install lxml into a folder that no other program reads."""
    if not (FOLDER / "lxml").exists():
        print(f"installing lxml {VERSION} into {FOLDER} ...", flush=True)
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(FOLDER)]
        subprocess.run([*words, "--only-binary", ":all:", f"lxml=={VERSION}"], check=True)


def read_by_lxml(
    pieces: Pieces, about: Listed, url: str = "", within: Within = lambda _: ()
) -> Iterator[Reference]:
    """Yield what `read_xml` yields, as far as lxml finds it."""
    etree: Any = importlib.import_module("lxml.etree")
    parser = etree.XMLPullParser(
        events=("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
    )
    is_first = True
    try:
        for piece in pieces():
            text = piece.lstrip("\ufeff \t\r\n") if is_first else piece
            if text:
                is_first = False
                parser.feed(text.encode("utf-8", "replace"))
                yield from _references(parser, about, within)
        parser.close()
    except etree.XMLSyntaxError as error:
        about.note = f"parse-error: {error}"
    yield from _references(parser, about, within)


def _references(parser: Any, about: Listed, within: Within) -> Iterator[Reference]:
    for event, element in parser.read_events():
        if event == "start":
            if element.getparent() is None:
                about.index = _local(element.tag).lower() == "sitemapindex"
            continue
        attributes = {_plain(name): value for name, value in element.attrib.items()}
        base = element.base or ""
        for reference in references_of(
            _local(element.tag), attributes, (element.text or "").strip(), within
        ):
            yield reference, base
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2]


def _plain(name: str) -> str:
    if name == _XML:
        return "xml:base"
    return f"rdf:{_local(name)}" if name.startswith(_RDF) else _local(name)
