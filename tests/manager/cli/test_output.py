"""Answers are printed so that people can read them and nobody can forge them."""

from __future__ import annotations

import pytest

from manager.cli import output


def test_a_table_has_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns are aligned, nothing is `-`, and an empty table says what to do."""
    rows = [{"name": "long name", "n": 1}, {"name": "b", "n": None}]
    output.table(rows, "none", *output.columns("name", "n"))
    output.table([], "none yet", output.Column("name"))
    assert capsys.readouterr().out == "name       n\nlong name  1\nb          -\nnone yet\n"


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """What a site or an agent wrote cannot move the cursor or colour the screen."""
    output.table([{"x": "\x1b[2Jgone\r\n"}], "", output.Column("x"))
    output.facts([("y", "\x07bell"), ("empty", ""), ("none", None)])
    out = capsys.readouterr().out
    assert out == "x\n\ufffd[2Jgone\ufffd\ufffd\ny  \ufffdbell\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0 ms"), (999, "999 ms"), (1500, "1.5 s"), (90_000, "1.5 min"),
     (5_400_000, "1.5 h")],
)  # fmt: skip
def test_durations(value: float | None, text: str) -> None:
    """Durations are said in the unit that a person would choose."""
    assert output.ms_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (999, "999 B"), (1500, "1.5 KB"), (2.5e12, "2.5 TB")]
)
def test_sizes(value: float | None, text: str) -> None:
    """Sizes are in units of thousands, as the protocol counts."""
    assert output.bytes_text(value) == text


def test_times() -> None:
    """A time has its zone; none is `-`."""
    assert output.time_text(None) == "-"
    assert output.time_text(0).startswith(("1969-12-31", "1970-01-01"))


def test_links_are_shown_by_kind_where_any_were_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A line a kind, behind an empty one; nothing at all without."""
    output.link_kinds([])
    assert capsys.readouterr().out == ""
    output.link_kinds([{"kind": "string", "links": 40, "pages": 2, "missing": 37}])
    empty, heads, kind = capsys.readouterr().out.splitlines()
    assert (empty, heads.split()) == ("", ["links", "of", "kind", "URLs", "pages", "missing"])
    assert kind.split() == ["string", "40", "2", "37"]
