"""Every declared table: its headings, files, orders, filters and reference agree."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import manager.console.pages as pages
from manager.console.language import Lazy, in_all_languages
from manager.console.routes import PAGES, TABLES
from manager.console.tables.files import json_lines, plain_cell
from manager.console.tables.filters import Filter
from manager.console.tables.table import Column, Table
from manager.db.releases import releases
from manager.operations.fleet.block_list import add_blocked
from manager.operations.people.api_tokens import Holder, make_token
from tests.manager.console.browser import Browser
from tests.manager.console.filled import HOSTS, SCRIPT, fill_world
from tests.manager.console.markup import Markup
from tests.manager.console.pages.test_pages import ADDRESSES
from tests.manager.console.tabled import AGENT, HOST, PLAN, fill_tables
from tests.manager.console.test_templates import TEMPLATES
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running, running
from tests.postgres import PostgresServer, postgres_server
from tools.lists import PAGE, reference

__all__ = ["postgres_server"]

GIVEN = {"name": AGENT, "host": HOST, "url": HOST, "q": "example"}
OTHERS = {"user-sessions": {"name": "viewer"}, "client-tokens": {"name": "library"}}
"""Values of parameters: by name, and of tables that are not about an agent or a host."""
SORTED_WITH = {"distances": {"agent": AGENT}}
"""Filters without which a list is not sorted by all its orders."""

TYPED = {
    "group": "alerts",
    "version": "0.1.0",
    "area": "30,130,40,140",
    "in": "address",
    "client": "library",
    "host": HOSTS[5],
    "older": "1",
    "edges": "moved",
    "columns": "0",
    "action": "host.",
    "status": "404",
    "since": "2026-09-20T00:00",
    "until": "2026-09-22T00:00",
    "held": "no",
}
"""Values of filters that are no agent and have no options."""
HIDDEN = {"columns"}
"""Filters that only links set."""

FETCHED = [table for table in TABLES if table.method == "GET"]
LISTS = [table for table in FETCHED if table.is_list]
BY_HAND = {"csv_lines", "read_listing", "file_response", "json_lines"}
"""What only the tables' own modules call."""


@pytest.fixture(
    scope="session", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """Return an administrator's browser on a filled manager, on each database."""
    folder = tmp_path_factory.mktemp("tables")
    if request.param == "sqlite":
        tokens = fill_world(folder)
        with running(folder) as prsm:
            yield _browser(prsm, tokens)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.new_database() as url:
        place = f"database.url={url}"
        tokens = fill_world(folder, place)
        with running(folder, place) as prsm:
            yield _browser(prsm, tokens)


def _browser(prsm: Running, tokens: dict[str, str]) -> Browser:
    fill_tables(prsm)
    holder = Holder("user", "admin", "admin", "")
    for name in ("nightly", "weekly"):
        make_token(prsm.manager.db, holder, name, "viewer", 30, ADMIN, START_MS)
    add_blocked(prsm.manager.db, "^http://(a|b)[.]example/\n[.]zip$", SCRIPT, ADMIN, START_MS)
    release = {"target": f"{SCRIPT}.tar", "size_bytes": 9, "sha256": "0" * 64, "ring": "none"}
    release |= {"published_ms": START_MS, "published_by": "admin"}
    with prsm.manager.db.write() as tx:
        for version in ("1.9.0", "1.10.0"):
            releases.add(tx, {"version": version, **release, "sha256": version})
    return Browser(prsm.public, cookies={"prsm": tokens["admin"]})


def _address(table: Table[Any], suffix: str = "", **query: str) -> str:
    given = {
        name: OTHERS.get(table.name, GIVEN)[name] for name in table.parameters if name in GIVEN
    }
    path = table.path.replace("{number:int}", str(PLAN if "/plans/" in table.path else 1))
    said = "&".join(f"{name}={value}" for name, value in {**given, **query}.items())
    return f"/console{path}{suffix}?{said}"


def _csv(browser: Browser, table: Table[Any], **query: str) -> list[list[str]]:
    answer = browser.get(_address(table, ".csv", **query))
    assert answer.status_code == 200, answer.text[-500:]
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(answer.text, newline="")))


def _json(browser: Browser, table: Table[Any], **query: str) -> list[dict[str, Any]]:
    answer = browser.get(_address(table, ".json", **query))
    assert answer.status_code == 200, answer.text[-500:]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"].endswith('.json"')
    assert "<" not in answer.text
    rows: list[dict[str, Any]] = json.loads(answer.text)
    return rows


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_declaration_is_whole(table: Table[Any]) -> None:
    """Keys and CSV headings differ, shown columns have headings in both languages, orders exist."""
    keys = [column.key for column in table.columns]
    assert len(set(keys)) == len(keys)
    assert len({column.heading for column in table.in_files}) == len(table.in_files)
    assert set(table.shown) <= set(keys)
    assert not table.shown or table.head in table.shown
    for column in map(table.column, table.shown):
        assert isinstance(column.label, Lazy), column.key
        assert all(in_all_languages(column.label)), column.key
        assert not column.beside or table.column(column.beside).label
    for one in table.filters:
        assert one.label or one.kind == "own", one.name
    assert not table.is_list or table.default_sort.removeprefix("-") in table.sorts


@pytest.mark.parametrize("table", FETCHED, ids=lambda table: table.name)
def test_files_agree(both: Browser, table: Table[Any]) -> None:
    """CSV has the declared heading; JSON has the same rows, by keys, with numbers as numbers."""
    header, *rows = _csv(both, table)
    declared = [column.heading for column in table.in_files]
    assert header[: len(declared)] == declared
    assert table.more is not None or len(header) == len(declared)
    found = _json(both, table)
    assert len(found) == len(rows)
    for cells, row in zip(rows, found, strict=True):
        assert list(row)[: len(declared)] == [column.key for column in table.in_files]
        assert cells == [str(plain_cell(value)) for value in row.values()]


@pytest.mark.parametrize("table", LISTS, ids=lambda table: table.name)
def test_every_order_works(both: Browser, table: Table[Any]) -> None:
    """Page and files take each order, both ways; numbers and moments follow it."""
    for column in table.columns:
        for sort in (column.order, f"-{column.order}") if column.order else ():
            query = {"sort": sort, **SORTED_WITH.get(table.name, {})}
            page = both.page(_address(table, **query))
            order = "descending" if sort.startswith("-") else "ascending"
            marks = [
                each
                for each in page.elements
                if each.attributes.get("aria-sort") == order
                or each.attributes.get("class") == f"sorted-{order}"
            ]
            assert len(marks) == (1 if _is_shown(table, column) else 0), sort
            rows = _json(both, table, **query)
            if (
                column.sort
                and not column.sort_by
                and (column.kind.unit or column.kind.head)
                and column.heading
            ):
                _require_order([row[column.key] for row in rows], sort)


def _is_shown(table: Table[Any], column: Column[Any]) -> bool:
    return any(column.key in (key, table.column(key).beside) for key in table.shown)


def _require_order(values: list[Any], sort: str) -> None:
    """Require sorted values, unknown ones before or behind all others."""
    known = [value for value in values if value is not None]
    assert known in (values[: len(known)], values[len(values) - len(known) :]), sort
    assert known == sorted(known, reverse=sort.startswith("-")), sort


@pytest.mark.parametrize("table", LISTS, ids=lambda table: table.name)
def test_filters_stay_in_the_address(both: Browser, table: Table[Any]) -> None:
    """A chosen filter is chosen in the form, and kept by the links to sizes, orders and files."""
    for one in table.filters:
        value = _value(one)
        page = both.page(_address(table, **{one.name: value}))
        path = _address(table).partition("?")[0]
        if one.name not in HIDDEN:
            assert page.form(path, "get").fields[one.name] == value
        for suffix in ("", ".csv", ".json"):
            kept = [
                dict(parse_qsl(urlsplit(link).query))
                for link in page.links()
                if link.partition("?")[0] == path + suffix and (suffix or "size=25" in link)
            ]
            assert kept or _has_no_links(page), suffix
            assert all(query[one.name] == value for query in kept), suffix


def _has_no_links(page: Markup) -> bool:
    """Return whether a page without rows leaves out sizes and files; logs do."""
    return not [each for each in page.elements if "pager" in each.attributes.get("class", "")]


def _value(one: Filter[Any]) -> str:
    if one.name in TYPED:
        return TYPED[one.name]
    if not callable(one.options) and one.options:
        return next(iter(one.options))
    return AGENT


def test_a_row_has_as_many_cells_as_headings(both: Browser) -> None:
    """In every table of every page; each of its headings for columns says so."""
    for address in [*ADDRESSES, f"/console/host?host={HOST}", f"/console/plans/{PLAN}"]:
        page = both.page(address)
        for rows in _rows(page):
            assert len({len(row) for row in rows}) == 1, f"{address}: {rows}"


def _rows(page: Markup) -> Iterator[list[list[str]]]:
    """Yield each table of a page: its rows, each with the texts of its cells."""
    places = [at for at, each in enumerate(page.elements) if each.tag == "table"]
    for start, end in pairwise([*places, len(page.elements)]):
        rows: list[list[str]] = []
        for each in page.elements[start:end]:
            if each.tag == "tr":
                rows.append([])
            elif each.tag in ("td", "th") and rows:
                rows[-1] += [each.text] * int(each.attributes.get("colspan", "1"))
        yield rows


def test_files_need_the_role_of_their_page() -> None:
    """Each table has both files, by the same right and with the same parameters as the other."""
    routes = {(page.method, page.path): page for page in PAGES}
    for table in TABLES:
        files = [routes[table.method, f"{table.path}.{kind}"] for kind in ("csv", "json")]
        assert {(one.role, one.query) for one in files} == {(table.role, files[0].query)}
        page = routes.get(("GET", table.path))
        if page is not None and table.is_list:
            assert page.role == table.role
            assert set(table.query) <= set(page.query)


def test_json_is_streamed_and_holds_no_marks() -> None:
    """Many rows come in pieces that make one array; no browser would take a text for a page."""
    rows = [[number, SCRIPT, None, True, float("inf")] for number in range(1200)]
    pieces = list(json_lines(["n", "text", "nothing", "flag", "most"], rows))
    assert len(pieces) == 3
    assert "<" not in "".join(pieces)
    found = json.loads("".join(pieces))
    assert [row["n"] for row in found] == list(range(1200))
    assert found[0] == {"n": 0, "text": SCRIPT, "nothing": None, "flag": True, "most": None}
    assert json.loads("".join(json_lines(["n"], []))) == []


def test_no_page_makes_files_or_lists_by_hand() -> None:
    """Files and lists come from declarations only."""
    folder = Path(str(pages.__file__)).parent
    found = {
        f"{path.relative_to(folder)}: {node.id}"
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id in BY_HAND
    }
    assert not found
    by_table = {f"{table.path}.{kind}" for table in TABLES for kind in ("csv", "json")}
    assert {page.path for page in PAGES if page.path.endswith((".csv", ".json"))} == by_table


def test_no_template_writes_the_headings_of_a_table() -> None:
    """They come from declarations; the matrix alone has a column for each agent beside them."""
    found = {
        path.name
        for path in TEMPLATES.glob("*.html")
        for head in re.findall(r"<thead\b.*?</thead>", path.read_text(), re.DOTALL)
        if re.search(r"<th\b", head)
    }
    assert found == {"probe_matrix.html"}


def test_the_reference_is_current() -> None:
    """`make lists` has been run."""
    assert PAGE.read_text() == reference()
