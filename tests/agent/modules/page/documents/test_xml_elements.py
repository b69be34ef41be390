"""Elements of XML, well-formed or not."""

from __future__ import annotations

from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.documents.link_lists import list_of
from agent.modules.page.documents.xml_elements import MAX_DEPTH, xml_elements
from benchmarks.sitemaps.cases import URL, Case, cases

BASE = "http://a.example/dir/x.xml"
Shown = tuple[str, dict[str, str], str, str, int]


def shown(text: str, size: int = 0) -> list[Shown]:
    """Return the elements of a text that comes in pieces of a size; 0: as one."""
    size = size or max(1, len(text))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [
        (one.name, one.attributes, one.text(), one.base, one.depth)
        for one in xml_elements(pieces, BASE)
    ]


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_sitemaps_and_feeds_lead_to_their_urls(case: Case) -> None:
    """Whatever is wrong with a list, its URLs are those that its author meant."""
    assert list(list_of("xml", case.body, "application/xml", URL, 50_000).urls) == case.urls


def test_an_element_has_its_text_and_its_base() -> None:
    """Bases are resolved against those around; text ends where another element begins."""
    text = (
        '<a xml:base="/x/"> 1 <b xml:base="y/" q=\'z\'>&lt;2<!-- no --><![CDATA[&3]]></b>4</a><c/>'
    )
    assert shown(text) == [
        ("a", {"xml:base": "/x/"}, "1", "http://a.example/x/", 1),
        ("b", {"xml:base": "y/", "q": "z"}, "<2&3", "http://a.example/x/y/", 2),
        ("c", {}, "", "", 1),
    ]


def test_what_holds_no_element_is_passed_over() -> None:
    """Comments, CDATA, instructions and declarations hold none."""
    text = (
        "<?xml version='1.0'?><?x <no/> ?><!DOCTYPE a [<!ENTITY b '<no/>'><!ELEMENT c (#PCDATA)>]>"
        "<!-- <no/> --><a><![CDATA[<no/>]]></a>"
    )
    assert shown(text) == [("a", {}, "<no/>", "", 1)]


def test_missing_ends_do_not_shift_bases() -> None:
    """An end tag ends what is open within its element; one of nothing ends nothing."""
    text = "<a xml:base='/x/'><b xml:base='/y/'><c></b></d><e/></a><f/>"
    bases = {name: base for name, _, _, base, _ in shown(text)}
    assert (bases["c"], bases["e"], bases["f"]) == (
        "http://a.example/y/",
        "http://a.example/x/",
        "",
    )


def test_a_text_that_the_document_cuts_is_marked() -> None:
    """Half an address is not the address."""
    assert [one.is_cut for one in xml_elements(["<a>1</a><a>2"], BASE)] == [False, True]


def test_depth_is_bounded() -> None:
    """Deeper elements are read, too; their ends are those of nothing."""
    elements = shown("<a>" * (MAX_DEPTH + 50) + "<b>1</b>")
    assert elements[-1] == ("b", {}, "1", "", MAX_DEPTH)


NAMES = st.sampled_from(["a", "b", "x:c", "loc"])
TEXTS = st.text("ab<>&\"'= \n/é日", max_size=8)


@st.composite
def documents(draw: st.DrawFn, depth: int = 3) -> str:
    """Return one element, well-formed."""
    name = draw(NAMES)
    attributes = draw(
        st.dictionaries(st.sampled_from(["href", "q", "xml:base"]), TEXTS, max_size=2)
    )
    tag = name + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    parts = [escape(draw(TEXTS))]
    for _ in range(draw(st.integers(0, 2)) if depth else 0):
        parts.append(draw(st.one_of(documents(depth - 1), st.just("<!-- < & -->"))))
        parts.append(draw(st.one_of(TEXTS.map(escape), st.just("<![CDATA[<&]]>"))))
    content = "".join(parts)
    return f"<{tag}>{content}</{name}>" if content else f"<{tag}/>"


def parsed(text: str) -> list[tuple[str, dict[str, str], str, int]]:
    """Return what the parser says of a document."""
    found: list[tuple[str, dict[str, str], list[str], int]] = []
    depth = 0
    is_direct = False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, is_direct
        depth, is_direct = depth + 1, True
        found.append((name, attributes, [], depth))

    def end(name: str) -> None:
        nonlocal depth, is_direct
        depth, is_direct = depth - 1, False

    def characters(data: str) -> None:
        if is_direct:
            found[-1][2].append(data)

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.Parse(text.encode(), True)
    return [(name, given, "".join(text).strip(), at) for name, given, text, at in found]


@given(documents(), st.integers(1, 40))
def test_the_parser_agrees(text: str, size: int) -> None:
    """Of what is well-formed both say the same, however it is cut into pieces."""
    found = shown(text, size)
    assert [(name, given, text, depth) for name, given, text, _, depth in found] == parsed(text)


@given(st.text("<>/!?[]-CDAT&;=\"' ax", max_size=60), st.integers(1, 20))
def test_pieces_change_nothing(text: str, size: int) -> None:
    """Whatever a text is, its elements do not depend on where it is cut."""
    assert shown(text, size) == shown(text)
