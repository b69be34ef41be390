"""Code that tests, tools and benchmarks keep in strings imports what there is.

It runs in a process of its own, often in slow tests only: no type checker reads it, and no rename.
"""

from __future__ import annotations

import ast
import importlib
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "agent",
    "benchmarks",
    "client",
    "launcher",
    "manager",
    "shared",
    "simweb",
    "tests",
    "tools",
)


def _imports(text: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of each import of ours in a string; name is empty for a module."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names)


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if "import " in text and any(f"{one}." in text for one in FOLDERS):
                yield node.lineno, text


def _is_there(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
        if name and name != "*" and not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def test_imports_in_strings_name_what_there_is() -> None:
    """Modules and names of this tree."""
    missing, seen = [], 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" in path.parts:
                continue
            for line, text in _strings(path):
                for module, name in _imports(text):
                    if module.split(".")[0] in FOLDERS:
                        seen += 1
                        if not _is_there(module, name):
                            missing.append(f"{path.relative_to(ROOT)}:{line}: {module} {name}")
    assert missing == []
    assert seen > 20, "such strings are read"
