"""The actions of a PDF, wherever they hang and whatever follows them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pypdf
import pytest
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, TextStringObject

from agent.modules.page.body_kinds import kind_of
from agent.modules.page.documents.pdf import pdf_references

Build = Callable[[pypdf.PdfWriter, Any], object]


def name(text: str) -> NameObject:
    return NameObject(f"/{text}")


def dictionary(**entries: Any) -> DictionaryObject:
    """Return a dictionary of PDF; texts that begin with a slash and a capital are names."""
    made = DictionaryObject()
    for key, value in entries.items():
        made[name(key)] = _object(value) if isinstance(value, str) else value
    return made


def _object(text: str) -> NameObject | TextStringObject:
    return NameObject(text) if text[:1] == "/" else TextStringObject(text)


def uri(target: str, **more: Any) -> DictionaryObject:
    return dictionary(S="/URI", URI=target, **more)


def link(**entries: Any) -> Build:
    """Return what adds a link annotation to a page."""
    return lambda writer, page: writer.add_annotation(page, dictionary(Subtype="/Link", **entries))


def script(text: str) -> DictionaryObject:
    return dictionary(S="/JavaScript", JS=text)


def of_page(writer: pypdf.PdfWriter, page: Any) -> None:
    page[name("AA")] = dictionary(O=uri("a"), C=uri("b"))


def of_document(writer: pypdf.PdfWriter, page: Any) -> None:
    root = writer.root_object
    root[name("OpenAction")] = uri("a")
    root[name("AA")] = dictionary(WC=uri("b"))
    tree = dictionary(Names=ArrayObject([TextStringObject("x"), script("go('http://c.example/')")]))
    root[name("Names")] = dictionary(JavaScript=dictionary(Kids=ArrayObject([tree])))


def with_base(writer: pypdf.PdfWriter, page: Any) -> None:
    writer.root_object[name("URI")] = dictionary(Base="http://b.example/d/")
    link(A=uri("x.html"))(writer, page)
    link(A=uri("http://c.example/"))(writer, page)


def at_url(url: str) -> DictionaryObject:
    return dictionary(FS="/URL", F=url)


@pytest.mark.parametrize(
    ("build", "found"),
    [
        (link(A=uri("a", Next=uri("b", Next=ArrayObject([uri("c"), uri("d")])))), list("abcd")),
        (link(A=uri("a"), PA=uri("b"), AA=dictionary(E=uri("c"))), list("abc")),
        (of_page, list("ab")),
        (of_document, ["a", "b", "http://c.example/"]),
        (with_base, ["http://b.example/d/x.html", "http://c.example/"]),
        (link(A=script("app.launchURL('http://b.example/x', true); go('/no')")),
         ["http://b.example/x"]),
        (link(A=dictionary(S="/Rendition", R=dictionary(C=dictionary(D=at_url("http://b/x"))))),
         ["http://b/x"]),
        (link(A=dictionary(S="/SubmitForm", F="no")), []),
    ],
)  # fmt: skip
def test_actions(build: Build, found: list[str]) -> None:
    """Of annotations, pages and the document; whole URLs of scripts; against its base."""
    writer = pypdf.PdfWriter()
    build(writer, writer.add_blank_page(100, 100))
    out = io.BytesIO()
    writer.write(out)
    assert pdf_references(out.getvalue(), 60) == (found, "")


def test_actions_that_follow_one_another_for_ever_end() -> None:
    """A ring of actions is passed once or so."""
    writer = pypdf.PdfWriter()
    action = writer._add_object(uri("a"))
    action.get_object()[name("Next")] = action  # type: ignore[index]
    link(A=action)(writer, writer.add_blank_page(100, 100))
    out = io.BytesIO()
    writer.write(out)
    assert pdf_references(out.getvalue(), 60) == (["a"], "")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        (
            rb"/URI (http:\057\057b.example\/x\(1\)\
y)",
            "http://b.example/x(1)y",
        ),
        (b"/URI <687474703A2F2F62>", "http://b"),
        (b"/URI <FEFF 0068 0069>", "hi"),
        (b"/URI<6>", None),
    ],
)
def test_a_broken_file_is_searched(written: bytes, found: str | None) -> None:
    """Strings are read as the format writes them: octal, hexadecimal, UTF-16."""
    references, note = pdf_references(b"%PDF-1.4\n" + written, 60)
    assert references == ([found] if found else [])
    assert note


def test_a_pdf_is_known_by_its_mark() -> None:
    """Behind other bytes too, where a server knows no type, and where it says text."""
    assert kind_of("application/octet-stream", b"\n\n%PDF-1.4") == "pdf"
    assert kind_of("text/plain", b"%PDF-1.4") == "pdf"
    assert kind_of("text/plain", b"about %PDF-1.4") == ""
