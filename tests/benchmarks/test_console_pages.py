"""The benchmark of the console looks at every page, and weighs all that a browser loads for it."""

from __future__ import annotations

import re

from benchmarks.console.data import Filled
from benchmarks.console.page_views import NOT_LOOKED_AT, addresses, named_by, named_in_styles
from manager.console.routes import PAGES

FILES = (".csv", ".json", ".svg", "/file")
HERE = "http://prsm.example/console/agents"


def test_every_page_is_looked_at_or_excused() -> None:
    """A page that the console gets is measured, or has a reason not to be."""
    pages = {
        page.path or "/" for page in PAGES if page.method == "GET" and not page.path.endswith(FILES)
    }
    asked = {one.removeprefix("/console").partition("?")[0] for one in addresses(Filled(1, 1, 1))}
    looked_at = {re.sub(r"/\d+", "/{number:int}", one) for one in asked}
    assert looked_at | set(NOT_LOOKED_AT) == pages
    assert not looked_at & set(NOT_LOOKED_AT)


def test_what_drawings_and_style_sheets_name_is_weighed() -> None:
    """The map of the world is in a file of its own, which `<use>` names; a part of the page is
    not loaded."""
    html = (
        '<link rel="stylesheet" href="/a.css"><script src="b.js"></script><img src="/c.svg">'
        '<a href="/d">d</a><svg><use href="/world.svg#land"></use><use href="#e"></use></svg>'
    )
    assert named_by(html, HERE) == {
        "http://prsm.example/a.css",
        "http://prsm.example/console/b.js",
        "http://prsm.example/c.svg",
        "http://prsm.example/world.svg",
    }
    css = 'a { background: url("../f.png") } b { src: url(/g.woff2?1#x), url(data:x) }'
    assert named_in_styles(css, "http://prsm.example/static/css/a.css") == {
        "http://prsm.example/static/f.png",
        "http://prsm.example/g.woff2?1",
    }
