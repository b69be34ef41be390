"""Lists as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console.tables.files import csv_lines

FORMULA = "=+-@\t\r\n＝＋－＠"


def _cells(*cells: str | float | bool | None) -> list[str]:
    text = "".join(csv_lines(["head"] * len(cells), [cells]))
    return list(csv.reader(io.StringIO(text, newline="")))[1]


@given(st.text())
def test_no_cell_is_a_formula(text: str) -> None:
    """Whatever text comes, its cell begins with nothing that a spreadsheet would run."""
    (cell,) = _cells(text)
    assert not cell.startswith(tuple(FORMULA))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_formulas_get_an_apostrophe(text: str) -> None:
    """A text that looks like a formula is kept, behind an apostrophe."""
    (cell,) = _cells(text)
    assert cell == f"'{text}"


def test_numbers_stay_numbers() -> None:
    """A negative number is no formula; nothing known is an empty cell; yes and no are words."""
    assert _cells(-5, 1.5, None, True, False) == ["-5", "1.5", "", "yes", "no"]


def test_quotes_commas_and_lines_stay_in_their_cell() -> None:
    """What CSV itself uses is quoted, and hidden characters are named."""
    assert _cells('a "b", c\nd', "x\x00\u202e") == ['a "b", c\nd', "x⟨U+0000⟩⟨U+202E⟩"]


def test_long_lists_come_in_pieces() -> None:
    """Rows are given on as they are read, not gathered first."""
    rows = ([number] for number in range(1200))
    assert [piece.count("\r\n") for piece in csv_lines(["n"], rows)] == [501, 500, 200]
