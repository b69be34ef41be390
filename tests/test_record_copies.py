"""No record is copied by position: where fields go from one to the next two would be swapped."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("manager", "shared")
FEW = 4
"""Fields that may be given by position."""
OF_ONE = 3
"""So many values that are fields of the same object make it a copy."""

WRONG = """
@frozen
class Row:
    a: int
    b: int
    c: int
    d: int
    e: int

def made(one: Other) -> Row:
    return Row(one.a, one.b, one.c, 4, 5)
"""


def trees() -> dict[str, ast.Module]:
    """Return the syntax trees of all files, by name."""
    files = (path for part in PARTS for path in sorted((ROOT / part).rglob("*.py")))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in files}


def records(tree: ast.Module) -> Iterator[str]:
    """Yield the dataclasses of a file with more than a few fields of their own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            named = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            if named & {"frozen", "dataclass", "dataclasses.dataclass"} and len(fields) > FEW:
                yield node.name


def copies(files: Mapping[str, ast.Module]) -> list[str]:
    """Return the places where a record is made by position of the fields of another object."""
    known = {name for tree in files.values() for name in records(tree)}
    found = []
    for path, tree in files.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id not in known or len(node.args) <= FEW:
                continue
            sources = Counter(
                one.value.id
                for one in node.args
                if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
            )
            if max(sources.values(), default=0) >= OF_ONE:
                found.append(f"{path}:{node.lineno}: give the fields of {node.func.id} by name")
    return found


def test_no_record_is_copied_by_position() -> None:
    """With their names a field more, or another order, changes no other."""
    assert copies(trees()) == []


def test_a_copy_by_position_is_found() -> None:
    """The check itself."""
    assert copies({"x.py": ast.parse(WRONG)}) == ["x.py:11: give the fields of Row by name"]
    named = WRONG.replace("4, 5", "d=4, e=5")
    assert copies({"x.py": ast.parse(named)}) == []
