"""From text to elements, by the parser or without it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.elements import elements, is_hard


def names(text: str) -> list[str]:
    found, _ = elements(text)
    return [name for name, _ in found]


def test_elements_come_in_document_order() -> None:
    """Whatever their kind, elements come as they stand on the page."""
    text = "<base href=/><link href=l><body><a href=1></a><img src=2><a href=3></a><form action=4>"
    assert names(text) == ["base", "link", "a", "img", "a", "form"]


def test_only_elements_that_lead_somewhere_are_given() -> None:
    """Cells without a background and anchors without an address are not worth a look."""
    assert names("<table><td>x<a name=y></a><td background=b.gif>") == ["td"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 200_000 + "<a href=x>",
        "<b " + " ".join(f"a{n}=1" for n in range(200_000)) + "><a href=x>",
        ("<div>" * 100 + "</div>" * 99) * 6000 + "<a href=x>",
        "</b>" * 40_000 + "<div>" * 5_500 + "<a href=x>",
    ],
)
def test_text_that_would_stop_the_parser_is_searched(text: str) -> None:
    """Pages built to take minutes give their links at once, with a note."""
    found, note = elements(text)
    assert [dict(attributes) for _, attributes in found] == [{"href": "x"}]
    assert note.startswith("parse-simple")


@pytest.mark.parametrize(
    "text",
    [
        "<p>text <a href=x>link</a>" * 20_000,
        "<table>" + "<tr><td><div><b>x</b></div>" * 20_000,
        "<img src='data:image/png;base64," + "A" * 2_000_000 + "'>",
    ],
)
def test_large_honest_pages_are_parsed(text: str) -> None:
    """Long lists, tables and inline images are no reason to distrust a page."""
    assert not is_hard(text)


@given(st.text(max_size=300))
def test_any_text_gives_elements(text: str) -> None:
    """No text makes the parser's caller fail."""
    list(elements("<a href=x>" + text)[0])
