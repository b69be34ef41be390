"""Which strings of a script are clearly addresses."""

from __future__ import annotations

import pytest

from agent.modules.page.html.script_strings import (
    MOST_STRINGS,
    is_clear_path,
    modules_of,
    source_map_of,
    strings_of,
)


@pytest.mark.parametrize(
    "text",
    [
        *("/news/today.html", "/news", "/a1/", "./x.js", "../up/", "/x.php?id=1&b=2#c"),
        *(
            "http://a.example/",
            "https://a.example:8080/x",
            "//cdn.example/x.js",
            "http://a.example",
        ),
        *("page.html", "img/logo.png", "doc.PDF", "a/b/app.js", "/img/x%20y.gif"),
    ],
)
def test_what_is_clearly_a_path(text: str) -> None:
    """A scheme, a slash in front, or the name of a file."""
    assert is_clear_path(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "/", "//", "./", "text/html", "application/json", "en/US", "1/2", "a.b", "Node.js"),
        *("/^a+$/", "/*", "/a b", "</p>", "${x}/y.html", "/{id}/x", "and/or", "e.g.", "3.5", "//x"),
        *("mailto:a@b.example", "javascript:x", "jquery.js", "style.css", "/a'b", "http:///x"),
    ],
)
def test_what_is_none(text: str) -> None:
    """Types, words, expressions, templates."""
    assert not is_clear_path(text)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("a = '/x/y'; b = \"/z1\"; c = `/w.html`; d = '/x/y'", ["/x/y", "/z1", "/w.html"]),
        ("go('/part/' + id); go(base + '/part'); go('/whole' , 1)", ["/whole"]),
        ("go(`/part/${id}/x.html`)", []),
        ('{"next": "\\/a\\/b", "x": "\\u002fcd"}', ["/a/b", "/cd"]),
        ("'it\\'s', '/x.html'", ["/x.html"]),
        (
            "a.style.background = 'url(/b1.png)'; c = '<p style=\\'d:url(\"/e1.png\")\\'>'",
            ["/b1.png", "/e1.png"],
        ),
        ("a = 'url(no)'; b = 'curl(/no.png)'", []),
        ("a = 'open", []),
        ("/*! it's ours */a='/x1.html';b='/x2.html'", ["/x1.html", "/x2.html"]),
        ("// don't\na='/x1.html' // http://b.example/it's\nb='/x2.html'", ["/x1.html", "/x2.html"]),
        ("a=b.replace(/'/g,'');c='/x1.html'", ["/x1.html"]),
        ("a = /[\"'/]/.test(b);c='/x1.html'", ["/x1.html"]),
        ("if (a) return /\\/'/;c='/x1.html'", ["/x1.html"]),
        ("a=b/2;c='/x1.html';d=e/2", ["/x1.html"]),
        ("function f(a){return/^https?:\\/\\//.test(a)}b='/x1.html'", ["/x1.html"]),
        ("if(a)/\\/\\//.test(b);c='/x1.html'", ["/x1.html"]),
        ("a.replace(/\\/\\*/g,'');c='/x1.html'", ["/x1.html"]),
        ("a='http://b.example/x1';c='/x2.html'", ["http://b.example/x1", "/x2.html"]),
        ("/* open '/x1.html'", []),
        ("w('<a href=\"/x1\">x<\\/a>')", ["/x1"]),
        ("e.innerHTML = `<img src='/x1.png'><script src=/x2.js></script>`", ["/x1.png", "/x2.js"]),
        ("w('<img src=\"/pics/' + name + '\">')", []),
        ("t = '<a href=\"{{url}}\">'", []),
        ("a='\\u{2f}x1\\u{2f}y'", ["/x1/y"]),
    ],
)
def test_strings(script: str, found: list[str]) -> None:
    """Whole ones, each once, as they are meant."""
    assert list(strings_of(script)) == found


def test_strings_have_a_limit() -> None:
    """Of a file of data the first are taken."""
    script = ",".join(f"'/x/{number}'" for number in range(2 * MOST_STRINGS))
    assert len(list(strings_of(script))) == MOST_STRINGS


def test_modules_and_source_maps() -> None:
    """What a browser or its tools load with a script; nothing that has a bare name."""
    script = (
        "import a from './a.js'; import '/b.js'; export * from \"../c.js\"; import r from 'react';"
        "import('./d.js'); import('lodash'); new Worker('e.js');"
        "importScripts('f.js', \"/g.js\"); new URL('./h.wasm', import.meta.url); new URL('no', x)"
    )
    assert list(modules_of(script)) == [
        *("./a.js", "/b.js", "../c.js", "./d.js", "e.js", "f.js", "/g.js", "./h.wasm"),
    ]
    assert source_map_of("x\n//# sourceMappingURL=a.map\n") == "a.map"
    assert source_map_of("x\n/*# sourceMappingURL=a.css.map */") == "a.css.map"
    assert source_map_of("x\n//# sourceMappingURL=data:application/json;base64,e30=") is None
    assert source_map_of("") is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "'",
        '"\\',
        "`${",
        "import ",
        "import(",
        "'/a",
        "//# sourceMappingURL=",
        "'/a/a/a'+",
        "/*",
        "//",
        "=/[",
        "=/a",
        "=/\\",
        "importScripts(",
        "URL('a',",
        "'<src='",
        "'<src=a",
    ],
)
def test_no_script_keeps_it_busy(piece: str) -> None:
    """A megabyte of what makes other readers go back to where they began."""
    script = piece * (1_000_000 // len(piece))
    list(strings_of(script))
    list(modules_of(script))
    source_map_of(script)
