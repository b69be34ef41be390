"""Links of office documents: which parts and fields hold them."""

from __future__ import annotations

import io
import zipfile

import pytest

from agent.modules.page.body_kinds import kind_of
from agent.modules.page.documents.office import office_references

RELATIONSHIP = '<Relationship Id="r" TargetMode="External" Target="http://b.example/x"/>'


@pytest.mark.parametrize(
    ("part", "body"),
    [
        ("word/_rels/document.xml.rels", RELATIONSHIP.encode()),
        ("word/_rels/document.xml.rels", RELATIONSHIP.encode("utf-16")),
        ("word/document.xml", b'<w:instrText> INCLUDEPICTURE "http://b.example/x" \\d<'),
        ("xl/worksheets/sheet1.xml", b'<f>IMAGE( "http://b.example/x")</f>'),
        ("xl/worksheets/sheet1.xml", b"<f>WEBSERVICE(&quot;http://b.example/x&quot;)</f>"),
        ("meta.xml", b"<meta:template xlink:href='http://b.example/x'/>"),
        ("Object 1/content.xml", b"<text:a xlink:href='http://b.example/x'/>"),
        ("a.xhtml", b"<img src='http://b.example/x'/>"),
        ("a.HTML", b"<A HREF=http://b.example/x>"),
        ("a.css", b"p { background: url( 'http://b.example/x' ) }"),
        ("content.opf", b'<link rel="record" href="http://b.example/x"/>'),
    ],
)
def test_parts(part: str, body: bytes) -> None:
    """Relationships, fields, formulas, and the pages of a book."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(part, body)
        archive.writestr("word/media/image1.png", b"http://b.example/no")
    assert office_references(out.getvalue()) == (["http://b.example/x"], "")


MONIKER = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/rtf", b'{\\rtf1{\\field{\\*\\fldinst HYPERLINK "http://b.example/x"}}}'),
        ("application/msword", OLE + b'\x13 HYPERLINK "http://b.example/x" \x14'),
        ("application/msword", OLE + 'HYPERLINK  "http://b.example/x" '.encode("utf-16-le")),
        (
            "application/vnd.ms-excel",
            OLE + MONIKER + b"\x26\0\0\0" + "http://b.example/x\0".encode("utf-16-le") + b"y\0",
        ),
    ],
)
def test_files_of_older_programs(media_type: str, body: bytes) -> None:
    """Their fields and monikers; text that only looks like an address is none."""
    assert kind_of(media_type, body) == "office"
    assert office_references(body + b" http://b.example/no") == (["http://b.example/x"], "")


def test_flat_opendocument_is_xml() -> None:
    """One file without a ZIP around it."""
    media_type = "application/vnd.oasis.opendocument.text-flat-xml"
    assert kind_of(media_type, b"<?xml version='1.0'?><office:document/>") == "xmldoc"
