"""Declaration of a table: its columns, filters and rows, from which page and files are made.

Invariant: the columns stand in the order of the files; `shown` has those of the page in its order.
A column is in files where it has a value, unless its CSV heading is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, Literal, TypeVar

from markupsafe import Markup, escape
from starlette.responses import Response

from manager.console.language import Words, lazy
from manager.console.listing import LISTED, Cut, Listing, read_listing
from manager.console.rendering import finished, marks
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.files import Cell, file_response
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import ACTIONS, TEXT, Kind
from manager.console.tables.sources import BEFORE, ByCursor, InMemory, Older, OwnPage, Source
from manager.operations.people.users import Role
from shared.frozen import frozen

__all__ = ["BUTTONS", "Column", "Table", "TablePage", "View"]

R = TypeVar("R")
FORMATS: Final[tuple[Literal["csv", "json"], ...]] = ("csv", "json")


@frozen
class Column(Generic[R]):
    """A column. key: its name in JSON, in `shown` and, where it is sortable, in the address.

    value: of a row, as its kind takes it. label: the heading on the page. file: the heading in CSV,
    made from key and kind if it is empty. sort: whether rows sort by it, in memory or in SQL, or
    the name of that order in the address where it is not the key; sort_by: what they sort by where
    it is not the value. beside: the column whose label stands beside this one's in the heading.
    style, lang: of cells; tip: of the heading on hover. about: for the reference.
    """

    key: str
    value: Callable[[R], Any] | None = None
    label: Words = ""
    kind: Kind = TEXT
    file: str | None = ""
    sort: bool | str = False
    sort_by: Callable[[R], Any] | None = None
    beside: str = ""
    style: str = ""
    lang: str = ""
    tip: Words = ""
    about: str = ""

    @property
    def order(self) -> str:
        """Return the name of its order in the address; empty if it is not sortable."""
        if isinstance(self.sort, str):
            return self.sort
        return self.key if self.sort or self.sort_by else ""

    @property
    def heading(self) -> str:
        """Return its heading in CSV; empty if it is not in files."""
        if self.value is None or self.file is None:
            return ""
        return self.file or f"{self.key.replace('_', ' ')}{self.kind.unit}"

    def marks(self, *, is_head: bool) -> tuple[Markup, Markup]:
        """Return the marks before and behind a cell; narrow screens show its label."""
        given = {
            "scope": "row" if is_head else "",
            "class": f"{self.kind.style} {self.style}".strip(),
            "lang": self.lang,
        }
        said = {"data-label": "" if self.kind.is_mute else str(self.label)}
        said |= {name: value for name, value in given.items() if value}
        tag = "th" if is_head else "td"
        begin = Markup().join(marks(f' {name}="%s"', value) for name, value in said.items())
        return marks(f"<{tag}%s>", begin), marks(f"</{tag}>")

    def cell(self, row: R) -> Cell:
        """Return its value of a row as files have it."""
        value = self.value(row) if self.value is not None else None
        return None if value is None else self.kind.file(value)


BUTTONS: Final[Column[Any]] = Column("actions", None, lazy("Actions"), ACTIONS)
"""The last column of a page's table whose rows can be acted on."""


@frozen
class View(Generic[R]):
    """A table as a page shows it. listing: its filters, order and page; None inside of pages."""

    table: Table[R]
    visit: Visit
    columns: Sequence[Column[R]]
    part: Cut | Older
    listing: Listing | None = None

    @property
    def rows(self) -> Sequence[R]:
        """Return the rows of this page."""
        return self.part.rows

    @property
    def is_by_cursor(self) -> bool:
        """Return whether its pages lead from the newest row to older ones."""
        return isinstance(self.part, Older)

    @property
    def is_narrowed(self) -> bool:
        """Return whether there may be rows beside those of this page."""
        filtered = self.listing is not None and self.listing.is_filtered
        return filtered or (isinstance(self.part, Older) and self.part.before is not None)

    def body(self, write: Callable[[R, str, object], str] | None) -> Markup:
        """Return the rows of its table. write: makes a cell of (row, column, its plain value).

        Pages have thousands of cells, which a loop of a template makes more slowly.
        """
        columns = [
            (one.key, one.value, one.kind.cell, *one.marks(is_head=one.key == self.table.head))
            for one in self.columns
        ]
        made, now_ms = [], self.visit.now_ms
        for row in self.rows:
            made.append("<tr>")
            for key, value, cell, begin, end in columns:
                plain = "" if value is None else cell(value(row), now_ms)
                made += (begin, write(row, key, plain) if write else escape(finished(plain)), end)
            made.append("</tr>")
        return Markup("".join(made))  # noqa: S704  # marks of templates and escaped values


@frozen
class Table(Generic[R]):
    """A table. path: of its page, with `{number:int}` where it has one. title: in the reference.

    source: of its rows. page_columns: keys of the page's columns, where their order is not that of
    the files; row_name: key of the column that names the row, where it is not the page's first.
    parameters: in the addresses of page and files, beside the filters. more: further columns of its
    files, which depend on the address or the manager's state. files: their name, with `{number}`,
    where it is not that of the path.
    """

    path: str
    title: str
    source: Source[R]
    columns: tuple[Column[R], ...]
    page_columns: tuple[str, ...] = ()
    row_name: str = ""
    filters: tuple[Filter[R], ...] = ()
    default_sort: str = ""
    parameters: tuple[str, ...] = ()
    role: Role = "viewer"
    method: Literal["GET", "POST"] = "GET"
    more: Callable[[Visit], Sequence[Column[R]]] | None = None
    files: str = ""

    @property
    def name(self) -> str:
        """Return the name of its files, with `{number}` where its address has one."""
        return self.files or self.path.strip("/").replace("/", "-").replace(":int", "")

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the keys of the page's columns: those with a label that stand beside no other."""
        beside = {column.beside for column in self.columns}
        labelled = (one.key for one in self.columns if one.label and one.key not in beside)
        return self.page_columns or tuple(labelled)

    @property
    def head(self) -> str:
        """Return the key of the column that names the row; empty if no page shows the table."""
        return self.row_name or next(iter(self.shown), "")

    @property
    def in_files(self) -> tuple[Column[R], ...]:
        """Return the columns of its files, in their order, but for those of `more`."""
        return tuple(column for column in self.columns if column.heading)

    @property
    def sorts(self) -> tuple[str, ...]:
        """Return the names of its orders."""
        return tuple(filter(None, (one.order for one in self.columns))) or (self.default_sort,)

    @property
    def is_list(self) -> bool:
        """Return whether it has filters, orders and pages."""
        return bool(self.default_sort)

    @property
    def query(self) -> tuple[str, ...]:
        """Return the parameters in the addresses of its files."""
        listed = (*(one.name for one in self.filters), *LISTED) if self.is_list else ()
        return (*listed, *self.parameters)

    def column(self, key: str) -> Column[R]:
        """Return the column of a key."""
        return next(column for column in self.columns if column.key == key)

    def keys(self) -> dict[str, Callable[[R], Any]]:
        """Return what rows in memory are sorted by."""
        found: dict[str, Callable[[R], Any]] = {}
        for column in self.columns:
            key = column.sort_by or column.value
            if column.order and key is not None:
                found[column.order] = key
        return found

    def address(self, visit: Visit, text: str = "") -> str:
        """Return where it is in the console; or its name, with the number of the address."""
        made = text or f"/console{self.path}"
        return made.replace("{number:int}", "{number}").format(**visit.request.path_params)

    def listing(self, visit: Visit) -> Listing:
        """Return the filters, order and page of the address. Raises FormatError."""
        return read_listing(
            self.address(visit),
            visit.query,
            filters=[one.name for one in self.filters],
            sorts=self.sorts,
            default_sort=self.default_sort,
        )

    def view(self, visit: Visit, found: Iterable[R] | None = None) -> View[R]:
        """Return the page of the list that the address asks for. found: rows loaded already."""
        listing = self.listing(visit)
        assert not isinstance(self.source, OwnPage), "its page hands its rows to `page`"
        if not isinstance(self.source, InMemory):
            return self.page(visit, listing, self.source.page(visit, listing))
        rows = self.source.rows(visit) if found is None else found
        return self.page(visit, listing, listing.cut(self._matching(rows, listing)))

    def page(self, visit: Visit, listing: Listing, part: Cut | Older) -> View[R]:
        """Return a page of the list whose rows are loaded already."""
        return View(self, visit, self._shown(()), part, listing)

    def part(self, visit: Visit, rows: Sequence[R], *, without: Sequence[str] = ()) -> View[R]:
        """Return rows for a table inside of a page. without: keys of columns that it leaves out."""
        cut = Cut(rows, len(rows), 1 if rows else 0, len(rows), has_next=False)
        return View(self, visit, self._shown(without), cut)

    def _shown(self, without: Sequence[str]) -> list[Column[R]]:
        return [self.column(key) for key in self.shown if key not in without]

    def pages(self, answer: Callable[[Visit], Response], *more: str) -> tuple[Page, ...]:
        """Return its page and its files. more: parameters of the page alone."""
        cursor = (BEFORE,) if isinstance(self.source, ByCursor) else ()
        query = (*self.query, *cursor, *more)
        return (Page("GET", self.path, self.role, answer, query=query), *self.file_pages())

    def file_pages(self) -> tuple[TablePage, ...]:
        """Return its files."""
        return tuple(TablePage(self, f".{kind}", self._sender(kind)) for kind in FORMATS)

    def _sender(self, kind: Literal["csv", "json"]) -> Callable[[Visit], Response]:
        def send(visit: Visit) -> Response:
            columns = (*self.in_files, *(self.more(visit) if self.more is not None else ()))
            rows = ([column.cell(row) for column in columns] for row in self.every(visit))
            name = self.address(visit, self.name)
            names = [column.heading if kind == "csv" else column.key for column in columns]
            return file_response(name, kind, names, rows)

        return send

    def every(self, visit: Visit) -> Iterable[R]:
        """Return all rows that match."""
        if not isinstance(self.source, InMemory):
            return self.source.every(visit, self.listing(visit))
        rows = self.source.rows(visit)
        return self._matching(rows, self.listing(visit)) if self.is_list else rows

    def _matching(self, rows: Iterable[R], listing: Listing) -> Sequence[R]:
        """Return the rows in memory that the filters of a list leave, sorted."""
        for one in self.filters:
            if one.keeps is not None and (value := listing.filters[one.name]):
                rows = [row for row in rows if one.keeps(row, value)]
        return listing.sorted(rows, self.keys())


class TablePage(Page):
    """A route of a table's file."""

    __slots__ = ("table",)

    def __init__(self, table: Table[Any], suffix: str, answer: Callable[[Visit], Response]) -> None:
        query = table.query if table.method == "GET" else ()
        super().__init__(table.method, table.path + suffix, table.role, answer, query=query)
        self.table = table
