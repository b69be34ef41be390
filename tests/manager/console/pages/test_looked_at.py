"""What is looked at in a browser (`tools/screenshots`) is every page that there is."""

from __future__ import annotations

from pathlib import PurePath

from manager.console.routes import PAGES as ROUTES
from tools.screenshots.pages import PAGES

NO_PAGES = {"/events", "/logs/more"}  # a stream, rows of a page


def route(name: str) -> str:
    """Return a page's route, as `manager.console.routes` writes it."""
    path = PAGES[name].partition("?")[0].removeprefix("/console")
    return path.replace("{round}", "{number:int}").replace("{plan}", "{number:int}")


def test_every_page_is_looked_at() -> None:
    """A page that is added to the console is added to the pictures."""
    pages = {
        page.path
        for page in ROUTES
        if page.method == "GET" and not PurePath(page.path).suffix and page.path not in NO_PAGES
    }
    assert pages == {route(name) for name in PAGES}
