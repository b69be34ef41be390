# ruff: noqa: ISC004
"""The complex elements of a page: the definition, and the compiled reader beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.html import markup
from agent.modules.page.html.complex_elements import ComplexElement, read_complex_elements
from agent.modules.page.html.markup import by_tree, links_of_markup

TOKEN = "prsm"


def compiled(page: str) -> list[ComplexElement]:
    """Return what the compiled reader makes of a page."""
    assert markup._function() is not None
    return [*links_of_markup(page.encode(), "utf-8", TOKEN)[0].complex_elements]


PIECES = (
    *("<p ", "<div ", "<style>", "</style>", "<style ", "<script>", "<script ", "</script>"),
    *('<script type="application/ld+json">', "<form>", "<form ", "<form method=post ", "</form>"),
    *("<input ", "<button ", "<select>", "<select ", "</select>", "<option>", "<option ", "<hr>"),
    *("<fieldset ", "<fieldset disabled>", "</fieldset>", "<legend>", "</legend>", "<optgroup "),
    *("</optgroup>", "<optgroup disabled>", "form=", "FormMethod=", "disabled ", "id=", "dirname="),
    *("about=", "ITEMID=", "resource=", "hx-get=", "lazy=", "ng-src=", "ng-include=", "up-href="),
    *("nitro-lazy-src=", "w3-include-html=", "ng-href=", "data-q=", '\'{"a":"/b"}\'', "[/]", "{"),
    *("\\", "u\\72 l(", "\\66", "image(", "@\\69mport", "@i", "https://a", "data-file="),
    *("<textarea ", "</textarea>", "<noframes>", "</noframes>", "<noembed>", "</noembed>"),
    *("<svg>", "<svg/>", "</svg>", "<image ", "<use ", "<title>", "</title>", "<title/>"),
    *("<meta ", "<param ", "<object ", "<amp-img ", "<é-x ", "<frame ", "<isindex ", "<plaintext>"),
    *(
        "<!--[if IE]>",
        "<!-- [IF",
        "<![endif]-->",
        "<!--",
        "-->",
        "--!>",
        "<!",
        "</",
        "<?",
        "<template>",
    ),
    *("<v:fill ", "<lineargradient ", "<fencedframe ", "<applet ", "fill=", "MASK=", "clip-path="),
    *(
        "marker-start=",
        "implementation=",
        "original=",
        "_SRC=",
        "zoomfile=",
        "valuetype=",
        "object=",
    ),
    *(
        "url(#a)",
        "accept-charset=",
        "./a",
        "http://b",
        "loader(",
        "content='<a>'",
        "filter=",
        "x:y=",
    ),
    *("style=", "data-src=", "data-x=", "data-", "DATA-Bg-Lazy=", "onclick=", "on=", "onchange "),
    *("cite=", "ping=", "xlink:href=", "href=", "src=", "content=", "property=", "name=", "value="),
    *("value ", "selected ", "checked ", "type=", "method=", "formaction=", "srcdoc=", "manifest="),
    *("background=", "text=", "codebase=", "data=", "itemprop=", f"{'x' * 41}=", "K=", "ſtyle="),
    *(
        "og:image",
        "url(x)",
        "uRl(",
        "@IMport",
        "-set(",
        "@",
        "image",
        "(",
        "'",
        '"',
        "`",
        "&quot;",
        "&",
        "post",
        " POST ",
        "x",
    ),
    *(
        " ",
        "/",
        "=",
        ">",
        ">",
        ">",
        "\n",
        "\t",
        "\x0c",
        "\x0b",
        "\r",
        "\0",
        "\x04",
        "\x05",
        "é",
        "<",
    ),
)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_the_compiled_reader_finds_the_same(page: str) -> None:
    """However it is nested, quoted and cut off."""
    assert compiled(page) == [*read_complex_elements(page)]


@given(st.text(max_size=200))
def test_any_text_is_read_alike(text: str) -> None:
    """In the places where text may stand."""
    text = text.encode("utf-8", "replace").decode()
    for page in (text, f"<form><input {text}", f"<p style={text}", f"<script>{text}</script>"):
        assert compiled(page) == [*read_complex_elements(page)]


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p style='color:red' class=x id=y>", []),
        ("<P STYLE='a:url(x)'>", [("p", {"style": "a:url(x)"})]),
        ("<p style=a(b style=url(d><p style=src(x) style=url(d>", [("p", {"style": "src(x)"})]),
        ("<p style='a:calc(1)'><style>@media x{}</style>", []),
        ("<style>p { }</style><style>@import 'x'</style>", [("style", {"text": "@import 'x'"})]),
        ("<script>1</script><script type=x>'y'</script>",
         [("script", {"type": "x", "text": "'y'"})]),
        ("<form method=post><input name=x></form><input name=y>", []),
        ("<form><form method=post><input name=x>", [("form", {}), ("input", {"name": "x"})]),
        ("<form method=post><input name=x><button formmethod=get></form>",
         [("form", {"method": "post"}), ("input", {"name": "x"}),
          ("button", {"formmethod": "get"}), ("/form", {})]),
        ("<input name=x><input name=y form=f><button formaction=z><textarea form=f>t</textarea>",
         [("input", {"name": "y", "form": "f"}), ("textarea", {"form": "f", "text": "t"})]),
        ("<fieldset><legend></legend></fieldset><fieldset disabled><fieldset><legend></legend>"
         "</fieldset></fieldset></fieldset>",
         [("fieldset", {"disabled": ""}), ("fieldset", {}), ("legend", {}), ("/legend", {}),
          ("/fieldset", {}), ("/fieldset", {})]),
        ("<select form=f><optgroup><optgroup disabled><optgroup></optgroup></select>",
         [("select", {"form": "f"}), ("optgroup", {"disabled": ""}), ("optgroup", {}),
          ("/select", {})]),
        ("<select><option>x</select>", []),
        (
            "<select onchange='go()'><option>x<option value=y></select>",
            [
                ("select", {}),
                ("option", {"text": "x"}),
                ("option", {"value": "y"}),
                ("/select", {}),
            ],
        ),
        ("<meta name=viewport content=x><meta property=OG:Image content=x>",
         [("meta", {"property": "OG:Image", "content": "x"})]),
        ("<!-- <a href=x> --><!--[if IE]><a><![endif]-->",
         [("!--", {"text": "[if IE]><a><![endif]"})]),
        ("<svg><script href=x /><image xlink:href=y></svg><title/><p cite=z>",
         [("script", {"href": "x"}), ("image", {"xlink:href": "y"})]),
        ("<p cite='x\x01'><p cite=y", []),
        ("<plaintext><p cite=x>", []),
        ("<p data-x=y DATA-X=/z data-y=/v data-y=/w>", [("p", {"data-y": "/v"})]),
        ("<p data-\0bg=/x cite=y><q-\0x src=/z>", [("p", {"cite": "y"})]),
    ],
)  # fmt: skip
def test_what_counts(page: str, found: list[ComplexElement]) -> None:
    """What may hold links, with the attributes that say which; nothing of what most pages have."""
    assert [*read_complex_elements(page)] == found
    assert compiled(page) == found


def test_they_are_read_where_a_tree_is_asked_for_the_rest() -> None:
    """A page whose tree matters has complex elements like any other, in any encoding."""
    for codec in ("utf-8", "cp932", "utf-16-le"):
        body = "<template><a href=日本></template><p cite='日本'>".encode(codec)
        assert links_of_markup(body, codec, TOKEN) == by_tree(body, codec)
        markup, _ = links_of_markup(body, codec, TOKEN)
        assert [*markup.complex_elements] == [("p", {"cite": "日本"})]


@pytest.mark.parametrize("piece", ["<p style=", "<form><option", "<option>", "<!--[if", "<a on=''"])
def test_no_page_keeps_the_reader_busy(piece: str) -> None:
    """A megabyte of what makes other readers go back to where they began."""
    page = piece * (1_000_000 // len(piece))
    assert compiled(page) == [*read_complex_elements(page)]
