"""Write the reference of the console's lists from their declarations: `make lists`.

`--check` writes nothing and fails where the page is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from manager.console.language import Words
from manager.console.routes import TABLES
from manager.console.tables.filters import Filter
from manager.console.tables.table import Column, Table

__all__ = ["PAGE", "reference"]

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "operations" / "lists.md"
INTRODUCTION: Final = """\
# Lists of the console and their files

Reference of every table: the columns of its page, its CSV and its JSON. `make lists` writes it from
the declarations in `manager/console/pages`; do not edit it.

The links "CSV · JSON" below a table lead to all its rows, in the order and with the filters of the
page. Both files need the role of the page and have the same values. CSV: UTF-8, moments as ISO 8601
in UTC, `yes` and `no`, nothing for an unknown value, an apostrophe before a text that a spreadsheet
would run. JSON: an array of objects by column key; numbers, `true`, `false` and `null`.

A list takes `sort` (a sort key, `-` before it for descending), `size` (25, 50, 100, 200) and `page`
beside its filters; a list without sort keys takes `before`, the id of a row, instead of `page`.
"""


def reference() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *(line for table in TABLES for line in _table(table))]) + "\n"


def _table(table: Table[Any]) -> Iterator[str]:
    path = f"/console{table.path}".replace("{number:int}", "NUMBER")
    yield f"## {table.title}\n"
    more = "".join(f", parameter `{name}`" for name in table.parameters)
    sort = f", sorted by `{table.default_sort}`" if any(one.order for one in table.columns) else ""
    yield f"`{path}.csv`, `{path}.json` (role {table.role}{more}{sort})\n"
    yield "| key | on the page | in CSV | values | sort key |"
    yield "|---|---|---|---|---|"
    for column in table.columns:
        if not column.kind.is_mute:
            yield _row(table, column)
    yield ""
    if table.filters:
        yield "| filter | field | values |"
        yield "|---|---|---|"
        yield from map(_filter, table.filters)
        yield ""


def _row(table: Table[Any], column: Column[Any]) -> str:
    label = _words(column.label) if column.key in table.shown else ""
    kind = column.kind.name if column.value is not None else ""
    about = ": ".join(filter(None, (kind, column.about)))
    sort = f"`{column.order}`" if column.order else ""
    key = f"`{column.key}`" if column.heading else ""
    return f"| {key} | {label} | {column.heading} | {about} | {sort} |"


def _filter(one: Filter[Any]) -> str:
    given = [] if callable(one.options) else [f"`{value}`" for value in one.options]
    kind = {"agent": "name of an agent", "names": "a name"}.get(one.kind, "text")
    said = one.about or ", ".join(given) or _words(one.hint) or kind
    return f"| `{one.name}` | {_words(one.label)} | {said} |"


def _words(text: Words) -> str:
    return str(text).replace("|", "\\|")


def main() -> None:
    """Write the page, or only compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    made = reference()
    if parser.parse_args().check:
        if PAGE.read_text() != made:
            sys.exit(f"{PAGE.name} is not current; run `make lists`")
        return
    PAGE.write_text(made)
    print(f"{PAGE.name}: {len(TABLES)} tables")


if __name__ == "__main__":
    main()
