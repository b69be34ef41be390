"""`prsm explain-tree` says what figure 8 says, and refuses what is no tree of agents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from manager.cli import main
from manager.cli.explain_tree import MOST_AGENTS, MOST_BYTES, ExplainError, read_tree

FIGURE_8 = {
    "costs": {"A": 10, "B": 10, "C": 6, "D": 4, "E": 10, "F": 10},
    "edges": [["A", "C"], ["B", "C"], ["C", "D"], ["D", "E"], ["D", "F"]],
}


def run(text: str | bytes, *options: str, code: int = 0) -> str:
    """Run the command on standard input and return what it prints."""
    result = CliRunner().invoke(main, ["explain-tree", "-", *options], input=text)
    assert result.exit_code == code, result.output
    return result.output


def test_figure_8_as_json() -> None:
    """Give of both ends of each edge, Move in the direction of the edge, the costs after."""
    assert json.loads(run(json.dumps(FIGURE_8), "--json")) == {
        "give": [
            ["A", "C", 2],
            ["C", "A", -2.5],
            ["B", "C", 2],
            ["C", "B", -2.5],
            ["C", "D", 3.5],
            ["D", "C", 1.5],
            ["D", "E", -2.5],
            ["E", "D", 3],
            ["D", "F", -2.5],
            ["F", "D", 3],
        ],
        "move": [["A", "C", 2], ["B", "C", 2], ["C", "D", 2], ["D", "E", -2.5], ["D", "F", -2.5]],
        "after": {"A": 8, "B": 8, "C": 8, "D": 11, "E": 7.5, "F": 7.5},
    }


def test_figure_8_for_people() -> None:
    """The tree with its costs, the table, and that the greatest cost rises for a step."""
    lines = run(json.dumps(FIGURE_8)).splitlines()
    assert lines[:6] == [
        "A 10 -> 8",
        "`- C 6 -> 8  (A gives C 2)",
        "   |- B 10 -> 8  (B gives C 2)",
        "   `- D 4 -> 11  (C gives D 2)",
        "      |- E 10 -> 7.5  (E gives D 2.5)",
        "      `- F 10 -> 7.5  (F gives D 2.5)",
    ]
    rows = [line.split() for line in lines[7:13]]
    assert rows[0] == ["A", "B", "Give(A,B)", "Give(B,A)", "Move(A,B)"]
    assert rows[4] == ["D", "E", "-2.5", "3", "-2.5"]
    assert "10 before and 11 after" in lines[-1]


def test_one_agent_has_nobody_to_give_to() -> None:
    """The smallest tree has no edge."""
    text = json.dumps({"costs": {"alone": 7}, "edges": []})
    assert json.loads(run(text, "--json")) == {"give": [], "move": [], "after": {"alone": 7}}
    assert "nothing moves" in run(text)


def test_equal_costs_stay() -> None:
    """Where nobody wants to give, the figure says so on each edge."""
    text = json.dumps({"costs": {"a": 1, "b": 1}, "edges": [["b", "a"]]})
    assert "`- b 1 -> 1  (nothing moves)" in run(text)


def test_a_name_cannot_move_the_cursor() -> None:
    """Control characters of a file do not reach the terminal."""
    text = json.dumps({"costs": {"a\x1b[2J": 1}, "edges": []})
    assert "\x1b" not in run(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"1" * 5000, "is no JSON"),
        (b" " * (MOST_BYTES + 1), "more than 1,000,000 bytes"),
        (b"[1]", "is [1]: must be"),
        (b'{"costs": {"A": 1}, "edge": []}', '"edge": unknown'),
        (b'{"costs": {"A": 1, "A": 2}, "edges": []}', '"A" stands there twice'),
    ],
)
def test_what_is_no_object_is_refused(text: bytes, said: str) -> None:
    """The file is JSON with costs and edges, and not longer than any tree."""
    assert said in run(text, code=1)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        (None, '"costs" must be an object'),
        ({}, '"costs" must be an object'),
        ([10, 6], '"costs" must be an object'),
        ({"A": "10"}, 'the cost of "A" is "10": must be a number'),
        ({"A": True}, 'the cost of "A" is true: must be a number'),
        ({"A": None}, 'the cost of "A" is null: must be a number'),
        ({"A": -1}, 'the cost of "A" is -1: must be from 0'),
        ({"A": 1e300}, 'the cost of "A" is 1e+300: must be from 0'),
        ({"A": float("nan")}, 'the cost of "A" is NaN: must be from 0'),
        ({"A": float("inf")}, 'the cost of "A" is Infinity: must be from 0'),
        ({" ": 1}, "a name without a letter"),
        ({str(n): 1 for n in range(MOST_AGENTS + 1)}, "1,001 names: at most 1,000"),
    ],
)
def test_what_is_no_cost_is_refused(costs: Any, said: str) -> None:
    """Each agent has one finite cost that is not negative."""
    assert said in run(json.dumps({"costs": costs, "edges": []}), code=1)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (None, '"edges" must be a list'),
        ([["PRS01"]], 'edge 1 is ["PRS01"]: must be a pair'),
        ([["PRS01", "PRS02", 3]], "must be a pair"),
        ([["PRS01", 7]], "edge 1 names 7, which has no cost"),
        ([["PRS01", "PRS2"]], 'edge 1 names "PRS2", which has no cost; did you mean "PRS02"?'),
        ([["PRS01", "PRS01"]], 'edge 1 joins "PRS01" with itself'),
        ([["PRS01", "PRS02"], ["PRS02", "PRS01"]], "edge 2 joins"),
        ([["PRS01", "PRS02"], ["PRS02", "PRS03"], ["PRS03", "PRS01"]], "a tree has no cycle"),
        ([["PRS01", "PRS02"]], 'no edges lead from "PRS01" to "PRS03"'),
    ],
)
def test_what_is_no_tree_is_refused(edges: Any, said: str) -> None:
    """Edges join the names that have a cost, each pair once, all of them, without a cycle."""
    costs = {"PRS01": 1, "PRS02": 2, "PRS03": 3}
    assert said in run(json.dumps({"costs": costs, "edges": edges}), code=1)


def test_a_missing_file_is_a_usage_error() -> None:
    """As with every command."""
    result = CliRunner().invoke(main, ["explain-tree", "no-such-file.json"])
    assert result.exit_code == 2
    assert "No such file" in result.output


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists), st.binary())
def test_any_input_is_read_or_refused(value: Any, raw: bytes) -> None:
    """Nothing but an ExplainError comes out, whatever the file holds."""
    for text in (raw, json.dumps({"costs": {"A": 1}, "edges": value}).encode()):
        try:
            names, edges, costs = read_tree(text)
        except ExplainError:
            continue
        assert len(names) == len(costs) == len(edges) + 1
