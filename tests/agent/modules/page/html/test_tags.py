"""The plain search for start tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.html.tags import MAX_ATTRIBUTES, start_tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("<a href=x>", [("a", {"href": "x"})]),
        ("<A HREF = 'x y' HREF=z>t</A>", [("a", {"href": "x y"})]),
        ('<img src="a>b"/><br/>', [("img", {"src": "a>b"}), ("br", {})]),
        ("<a href='?a=1&amp;b=2&copy=3'>", [("a", {"href": "?a=1&b=2&copy=3"})]),
        ("<!-- <a href=x> --><a href=y>", [("a", {"href": "y"})]),
        ("<!--><a href=y>", [("a", {"href": "y"})]),
        ("<script>'<a href=x>'</script ><a href=y>", [("script", {}), ("a", {"href": "y"})]),
        ("<!doctype html><?php ?></p><b>", [("b", {})]),
        ("<a href", []),
        ("1 < 2 <", []),
        ("<input disabled value=>", [("input", {"disabled": "", "value": ""})]),
    ],
)
def test_finds_tags_as_a_browser_would(text: str, tags: list[object]) -> None:
    """Quotes, comments, raw text and references are understood."""
    assert list(start_tags(text)) == tags


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a b='", "<a b=\"'", "<!--", "<!-->", "<a =", "< ", "<a b", "<script>", "</", "&#x"],
)
def test_hostile_text_takes_one_pass(piece: str) -> None:
    """A piece of markup repeated without end does not take the square of its length."""
    for _ in start_tags(piece * 200_000):
        pass


def test_attributes_have_a_limit() -> None:
    """A tag with more attributes than anybody needs keeps the first."""
    text = "<a " + " ".join(f"a{n}=1" for n in range(1000)) + ">"
    [(_, attributes)] = start_tags(text)
    assert len(attributes) == MAX_ATTRIBUTES


@given(st.text(alphabet="<a='\">/!- &;x\n", max_size=200))
def test_any_text_is_html(text: str) -> None:
    """No text makes the search fail."""
    list(start_tags(text))
