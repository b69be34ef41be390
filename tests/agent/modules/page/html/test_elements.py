"""From text to elements, by the parser or without it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from agent.modules.page.encodings import decoded, encoded
from agent.modules.page.encodings.encoding_labels import _CODECS
from agent.modules.page.html.elements import BEYOND_ASCII, MAX_DEPTH, Element, elements, is_hard
from agent.modules.page.html.markup import Markup
from agent.modules.page.links import links_of


def names(text: str) -> list[str]:
    found, _ = elements(text.encode(), "utf-8")
    return [name for name, _ in found]


def test_elements_come_in_document_order() -> None:
    """Whatever their kind, elements come as they stand on the page."""
    text = "<base href=/><link href=l><body><a href=1></a><img src=2><a href=3></a><form action=4>"
    assert names(text) == ["base", "link", "a", "img", "a", "form"]


def test_only_elements_that_lead_somewhere_are_given() -> None:
    """Cells without a background and anchors without an address are not worth a look."""
    assert names("<table><td>x<a name=y></a><td background=b.gif>") == ["td"]


def test_what_a_browser_copies_is_found_where_it_stands() -> None:
    """The button of a `select` shows a copy of the option that is chosen."""
    text = (
        "<select><button><selectedcontent></selectedcontent></button><option><img src=a></option>"
        "<option selected><img src=b></option></select>"
    )
    found, _ = elements(text.encode(), "utf-8")
    assert [attributes["src"] for _, attributes in found] == ["a", "b"]


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
    found, note = elements(text.encode(), "utf-8")
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
    assert not is_hard(text.encode())


@pytest.mark.parametrize("text", ["", "x" * 7, "x" * 40_000, "<br></p>" * 9_000])
@pytest.mark.parametrize("around", [("", ""), ("<p>", "</p>")])
def test_depth_is_counted_exactly_where_it_may_be_too_deep(
    text: str, around: tuple[str, str]
) -> None:
    """Wherever on the page the elements stand, and whatever else stands there."""
    for depth in (MAX_DEPTH - 1, MAX_DEPTH):
        open_tags = "<i>" * depth
        assert is_hard(f"{text}{open_tags}<i>{text}".encode()) == (depth == MAX_DEPTH)
        closed = f"{around[0]}{around[1]}" * 2000
        assert is_hard(f"{closed}{open_tags}{text}".encode()) is False


@given(st.text(max_size=300))
def test_any_text_gives_elements(text: str) -> None:
    """No text makes the parser's caller fail."""
    list(elements(b"<a href=x>" + text.encode(), "utf-8")[0])


BYTES = st.sampled_from(
    (
        *(
            b"<a href=",
            b"<img src='",
            b'<p title="',
            b"'",
            b'"',
            b">",
            b" ",
            b"\r\n",
            b"=",
            b"<!--",
        ),
        *(b"-->", b"&amp;", b"&#x3042;", b"&#128;", b"&", b"\x00", b"x", b"</", b"<meta content="),
        *(
            b"\xe3\x81\x82",
            b"\xe3\x81",
            b"\xe3",
            b"\x80",
            b"\xff",
            b"\xc0\xaf",
            b"\xf0\x9f",
            b"\xef",
        ),
        *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0", b"<script>", b"</script>", b"<title>"),
    )
)


@given(st.lists(BYTES, max_size=25).map(b"".join))
def test_bytes_that_are_no_utf8_are_replaced_as_in_text(body: bytes) -> None:
    """What the parser is given as it came reads as if it had been decoded first."""
    decoded = body.decode("utf-8", "replace").encode()
    assert elements(body, "utf-8") == elements(decoded, "utf-8")


MARKUP = st.sampled_from(
    (
        *(
            "<a ",
            "<AREA ",
            "<base ",
            "<frame ",
            "<iframe ",
            "<script ",
            "<img ",
            "<source ",
            "<td ",
        ),
        *("<audio ", "<video ", "<track ", "<embed ", "<object ", "<body ", "<table ", "<th "),
        *("<tr>", "<input type=image ", "<link ", "<form ", "<meta http-equiv=refresh ", "<svg "),
        *(
            "<image ",
            "<template>",
            "</template>",
            "</table>",
            "</a>",
            "</script>",
            "</form>",
            "<b>",
        ),
        *(
            "href=1 ",
            "HREF=2 ",
            "src=3 ",
            "srcset='4 1x' ",
            "action=5 ",
            "background=6 ",
            "data=7 ",
        ),
        *("imagesrcset='8 2x' ", "poster=9 ", "content='0;url=10' ", "xlink:href=11 ", "Src=12 "),
        *("BACKGROUND=13 ", "rel=nofollow ", "rel=canonical ", ">", "/>", "<!--", "-->", "</b>"),
    )
)


def tree_only(found: Iterable[Element]) -> Markup:
    """Return elements as `links_of` takes them."""
    items = [*found]
    return Markup(items, bytes(len(items)))


@given(st.lists(MARKUP, max_size=30).map("".join))
def test_no_element_with_a_link_is_left_out(text: str) -> None:
    """What is asked of the parser holds all links of the whole tree."""
    body = text.encode()
    root = LexborHTMLParser(body).root
    assert root is not None
    every = [(node.tag or "", node.attributes) for node in root.css("*")]
    wanted = links_of(
        tree_only(every), b"", "http://a.example/", "utf-8", agent_token="x", max_links=99
    )
    found, _ = elements(body, "utf-8")
    assert (
        links_of(tree_only(found), b"", "http://a.example/", "utf-8", agent_token="x", max_links=99)
        == wanted
    )


@pytest.mark.parametrize("codec", sorted(set(_CODECS.values())))
@pytest.mark.parametrize("text", ["<a href='a'>", "<a href='é~日\\'>", "<a href='\x1b$BF|\x1b(B'>"])
def test_pages_of_all_encodings_are_read(codec: str, text: str) -> None:
    """A page in ASCII alone needs no decoding where its encoding is ASCII's larger sister."""
    wide = codec.startswith("utf-16")
    body = text.encode(codec) if wide else encoded(text, codec)
    expected = elements(decoded(body, codec).encode(), "utf-8")
    assert elements(body, codec) == expected


@given(st.text(st.characters(max_codepoint=127)), st.sampled_from(sorted(set(_CODECS.values()))))
def test_ascii_is_ascii_in_most_encodings(text: str, codec: str) -> None:
    """Only the encodings named as such read bytes of ASCII in another way."""
    assert codec in BEYOND_ASCII or decoded(text.encode(), codec) == text


SISTERS = sorted(set(_CODECS.values()) - BEYOND_ASCII - {"utf-8"})
MARKS = b"<>\"'&=/!-?;# \t\n\x0c\r"


@pytest.mark.parametrize("codec", SISTERS)
def test_no_mark_of_html_is_a_part_of_a_character(codec: str) -> None:
    """Even behind the first bytes of a character that is not whole."""
    starts = [bytes((lead,)) for lead in range(0x80, 0x100)]
    starts += [b"\x81\x30", b"\x81\x30\x81", b"\x8f\xa1", b"\xa4\xd4", b"\xa4\xd4\xa4", b"\x8e"]
    for start in starts:
        for mark in MARKS:
            text = decoded(start + bytes((mark,)) + b"xyz", codec)
            assert text.endswith(chr(mark) + "xyz")


PIECES = st.sampled_from(
    (
        *(b"<a href=", b"<img src='", b"<meta name=robots content='", b"<meta name=description"),
        *(b" content='", b"<link rel='", b" alt='", b' title="', b" href='", b"<base href=", b"'"),
        *(b'"', b">", b" ", b"nofollow", b"x.html", b"?q=", b"</a>", b"<!--", b"-->", b"<svg>"),
        *(b"<![CDATA[", b"]]>", b"]", b">", b"&eacute;", b"&", b"<script>", b"</script>", b"\\"),
    )
)


@given(
    st.lists(
        PIECES | st.binary(max_size=3) | st.sampled_from((b"\x83]", b"\x81@", b"\xe9")), max_size=20
    ),
    st.sampled_from(SISTERS),
)
def test_a_page_that_is_not_decoded_leads_where_the_decoded_one_does(
    pieces: list[bytes], codec: str
) -> None:
    """Only values that nobody reads may come out otherwise."""
    body = b"".join(pieces) + b"\n\n\n"  # what ends inside a character is one piece
    as_utf8 = decoded(body, codec).encode()
    one, other = (
        links_of(tree_only(found), b"", "http://a.example/", codec, agent_token="x", max_links=99)
        for found, _ in (elements(body, codec), elements(as_utf8, "utf-8"))
    )
    assert one == other


def test_values_that_nobody_reads_need_no_decoding() -> None:
    """A description in Japanese is on every other page; the links of the page are in ASCII."""
    text = "<meta name=Description content=日本><a href=x title=日本><img src=y alt=日本>日本"
    found, _ = elements(text.encode("euc_jp"), "euc_jp")
    assert dict(found)["img"] == {"src": "y", "alt": "\ufffd" * 4}
    found, _ = elements((text + "<a href=日本>").encode("euc_jp"), "euc_jp")
    assert dict(found)["img"] == {"src": "y", "alt": "日本"}
