"""Parameters of an address: a page knows its own, and refuses any other by its name."""

from __future__ import annotations

import re

import pytest

from manager.console.requests.page import Page
from manager.console.requests.query import Query
from manager.console.routes import PAGES
from tests.manager.console.conftest import Visitor
from tests.manager.console.pages.test_pages import ADDRESSES

OPENED = [page for page in PAGES if page.method == "GET"]
GIVEN = {"{number:int}": "1", "{which}": "pages"}


def _path(page: Page) -> str:
    path = page.path
    for name, value in GIVEN.items():
        path = path.replace(name, value)
    return f"/console{path}"


@pytest.mark.parametrize("page", OPENED, ids=lambda page: page.path)
def test_an_unknown_parameter_is_refused_by_its_name(onlooker: Visitor, page: Page) -> None:
    """Of pages and files alike, with all that the page knows, and the nearest of them."""
    browser = onlooker("admin")
    answer = browser.get(f"{_path(page)}?colour=red")
    assert answer.status_code == 400, answer.text[-300:]
    assert "&#39;colour&#39;: unknown query parameter" in answer.text
    for name in page.query:
        assert name in answer.text
    if page.query:
        name = page.query[0]
        twice = browser.get(f"{_path(page)}?{name}=1&{name}=2")
        assert twice.status_code == 400
        assert "is given twice" in twice.text


def test_the_nearest_name_is_offered(onlooker: Visitor) -> None:
    """Who mistypes a name learns what was meant."""
    answer = onlooker("viewer").get("/console/hosts.csv?stat=placed")
    assert answer.status_code == 400
    assert "did you mean state?" in answer.text


def test_an_action_takes_no_parameter_in_its_address(person: Visitor) -> None:
    """A form sends its fields in its body."""
    browser = person("admin")
    for page in PAGES:
        if page.method == "POST" and page.path not in ("/logout", "/login"):
            answer = browser.post(f"/console{page.path}?colour=red", {"csrf": browser.csrf})
            assert answer.status_code == 400, page.path
            break
    assert "unknown query parameter" in answer.text
    file = browser.get("/console/static/css/frame.css?colour=red")
    assert file.status_code == 400


def test_no_link_of_ours_is_refused(person: Visitor) -> None:
    """Every link and every form of every page names only parameters that its target knows."""
    browser = person("admin")
    known = {
        re.compile(re.sub(r"\{[^}]+\}", r"[^/?]+", f"/console{page.path}")): page.query
        for page in OPENED
    }

    def names_of(path: str) -> tuple[str, ...]:
        found = [names for pattern, names in known.items() if pattern.fullmatch(path)]
        assert found, path
        return found[0]

    looked = 0
    for address in ADDRESSES:
        page = browser.page(address)
        linked = [link for link in page.links() if link.startswith("/console/")]
        for link in linked:
            path, _, query = link.partition("#")[0].partition("?")
            names = {part.partition("=")[0] for part in query.split("&") if part}
            if names and "/static/" not in path:
                looked += 1
                assert names <= set(names_of(path)), (address, link)
        for form in page.forms:
            if form.method == "get":
                looked += 1
                names = set(form.fields) - {""}  # a field without a name is not sent
                assert names <= set(names_of(form.action.partition("#")[0])), (address, form)
    assert looked > 500


def test_a_page_that_reads_what_it_does_not_declare_fails() -> None:
    """So that a forgotten name shows in the first test."""
    query = Query({"q": "x"}, ("q",))
    assert query.get("q") == "x"
    with pytest.raises(AssertionError, match="'other'"):
        query.get("other")
