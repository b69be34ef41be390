"""Managers of the version before go on after an upgrade: from 0017 on, steps only add."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import migrations

STEPS = sorted((Path(migrations.__file__).parent / "versions").glob("[0-9]*.py"))
LATER = [path for path in STEPS if path.name[:4] >= "0017"]
REMOVING = {"drop_table", "drop_column", "rename_table", "alter_column"}


def objections(source: str) -> list[str]:
    """Return what an older version would stumble over in `upgrade`."""
    found = []
    (upgrade,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "upgrade"
    )
    for call in (node for node in ast.walk(upgrade) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in REMOVING:
            found.append(f"{name}: an older version still uses it; remove it one version later")
    made = [
        node
        for node in ast.walk(upgrade)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "create_table"
    ]
    inside = {id(each) for table in made for each in ast.walk(table)}
    for call in (node for node in ast.walk(upgrade) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        required = ast.unparse(given["nullable"]) == "False" if "nullable" in given else False
        bare = required and "server_default" not in given
        if name == "Column" and id(call) not in inside and bare:
            found.append("a required column without server_default: older versions omit it")
    return found


@pytest.mark.parametrize("path", LATER, ids=lambda path: path.stem)
def test_a_step_only_adds(path: Path) -> None:
    """New tables, new columns that have a default, wider checks."""
    assert objections(path.read_text()) == []


def test_what_would_break_the_version_before_is_found() -> None:
    """The reader of steps does see them."""
    step = """
def upgrade():
    op.create_table("t", sa.Column("id", sa.Integer(), nullable=False))
    op.add_column("agents", sa.Column("a", sa.Text(), nullable=False))
    op.drop_column("agents", "b")
"""
    assert len(objections(step)) == 2
    assert objections(step.replace('"a", sa.Text()', '"a", sa.Text(), server_default=""')) == [
        "drop_column: an older version still uses it; remove it one version later"
    ]
