"""What a style sheet loads."""

from __future__ import annotations

import pytest

from agent.modules.page.html.style_sheets import style_references


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@import 'a.css'; @import \"b.css\" screen; @import url(c);", ["a.css", "b.css", "c"]),
        ("@IMPORT URL( 'a' );", ["a"]),
        ("p{background:url(a)}q{background:URL( \"b c\" )}", ["a", "b c"]),
        ("@font-face{src:local('No'),url(a.woff2) format('woff2'),url(b)}", ["a.woff2", "b"]),
        ("p{background:image-set('a' 1x, url(b) 2x)}", ["a", "b"]),
        ("p{background:-webkit-image-set(url(a) 1x, 'b' 2x)} q::before{content:'c'}", ["a", "b"]),
        ("p{background:url(\\66 oo)} q{background:url('a\\'b\\\nc')}", ["foo", "a'bc"]),
        ("/* url(a) */ p{} /* @import 'b';", []),
        ("@namespace url(a); @namespace x 'b'; @import 'c';", ["c"]),
        ("p::before{content:'url(a)'} q{--x:src(\"b\")}", ["b"]),
        ("p{background:url()} q{background:url('')}", []),
        ("p{background:url(a", ["a"]),
        ("@import 'a' ; } ) 'b' ; { url(c)", ["a", "c"]),
        ("p{background:u\\72 l(a)} @\\69mport 'b'; q{background:\\55\\52L('c')}", ["a", "b", "c"]),
        ("p{background:url(a b)} q{background:url(c\nd)} r{background:url( e )}", ["e"]),
        ("p{filter:progid:X.AlphaImageLoader(src='a.png',sizingMethod='scale')}", ["a.png"]),
        ("p{filter:progid:X.AlphaImageLoader(sizingMethod='scale', src='a.png')}", ["a.png"]),
        ("p{background:image('a') } q{content:'b';-x:my-image-x('c')}", ["a"]),
        ("p{background:url(\\0 \\110000 \\d800 )}", ["\ufffd" * 3]),
    ],
)  # fmt: skip
def test_references(text: str, found: list[str]) -> None:
    """Imports, images and fonts, as they are meant; nothing of comments, names and other texts."""
    assert list(style_references(text)) == found


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "url(",
        "url('",
        "/*",
        "@import",
        "\\",
        "image-set(",
        "'",
        "url(a",
        "\\72",
        "u\\72",
        "url(\\72",
        "url(\\zz",
        "AlphaImageLoader(",
        "url( ",
    ],
)
def test_no_style_sheet_keeps_it_busy(piece: str) -> None:
    """Megabytes of what makes other readers go back to where they began."""
    list(style_references(piece * (2_000_000 // len(piece))))
