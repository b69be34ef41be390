"""Each sentence that counts something agrees with the number 1 where somebody reads it.

Programs write the plural; outlets put it right (`shared.plurals`). A sentence must therefore end in
an outlet: a refusal, a line of a log, what a command prints, or `with_plurals` itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from shared.messages import codes, template
from shared.messages.catalogue import pieces
from shared.plurals import ADJECTIVES, NOUNS, with_plurals

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = ("agent", "client", "launcher", "manager", "shared")
SPOKEN: Final = ("manager/cli", "agent/cli", "client/cli", "manager/console")
"""Packages all of whose sentences are printed, or shown, by their outlet."""

OUTLETS: Final = {
    "with_plurals",
    "say",
    "_say",
    "log_line",
    "_log_line",
    "echo",
    "Trouble",
    "Check",
}
LOGS: Final = {"debug", "info", "warning", "error", "exception"}
COUNTED: Final = re.compile(rf" (?:(?:{'|'.join(ADJECTIVES)}) )*(?:{'|'.join(NOUNS)})\b(?!/)")
PLURAL: Final = re.compile(rf"(?<![\w.,:/+-])(?<!edge )1{COUNTED.pattern}")
LIMIT: Final = re.compile(r"[A-Z_]+|.*\bmost_\w+|.*\.limits?\..*|.*_(?:most|limit)|.*max_\w+")
"""Names of limits, which are never 1."""


def sentences(tree: ast.AST, inside: frozenset[str] = frozenset()) -> Iterator[ast.JoinedStr]:
    """Yield what counts something and does not stand in the call of an outlet."""
    for node in ast.iter_child_nodes(tree):
        within = inside
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            within = inside | {name}
        if isinstance(node, ast.JoinedStr) and _counts(node):
            spoken = within & OUTLETS or any(name.endswith("Error") for name in within)
            if not spoken and not within & LOGS:
                yield node
        else:
            yield from sentences(node, within)


def _counts(node: ast.JoinedStr) -> bool:
    return any(
        isinstance(number, ast.FormattedValue)
        and isinstance(noun, ast.Constant)
        and COUNTED.match(str(noun.value))
        and not LIMIT.fullmatch(ast.unparse(number.value))
        for number, noun in zip(node.values, node.values[1:], strict=False)
    )


def of_one(node: ast.JoinedStr) -> str:
    """Return a sentence in which every number is 1."""
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values
    )


def files() -> list[Path]:
    """Return the sources of all programs."""
    return sorted(path for program in PROGRAMS for path in (ROOT / program).rglob("*.py"))


def test_each_sentence_ends_in_an_outlet() -> None:
    """None is shown with `1 lines`: what is wrong is named with its file and line."""
    wrong = []
    for path in files():
        name = str(path.relative_to(ROOT))
        if name.startswith(SPOKEN):
            continue
        tree = ast.parse(path.read_text())
        wrong += [f"{name}:{one.lineno}: {ast.unparse(one)[:90]}" for one in sentences(tree)]
    assert wrong == []


@pytest.mark.parametrize("package", ["manager/cli", "agent/cli", "client/cli"])
def test_commands_print_sentences_by_their_outlet(package: str) -> None:
    """What goes past it is data: JSON, files, links and columns for programs."""
    past = []
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "click.echo":
                past += [ast.unparse(one) for one in node.args if _has_counted(one)]
    assert past == []


def _has_counted(tree: ast.AST) -> bool:
    return any(isinstance(one, ast.JoinedStr) and _counts(one) for one in ast.walk(tree))


def test_each_sentence_of_all_programs_agrees_with_one() -> None:
    """Rendered with 1 for each value, none has a plural behind a 1; there are hundreds."""
    said = [
        of_one(node)
        for path in files()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.JoinedStr) and _counts(node)
    ]
    said += [text for code in codes() if PLURAL.search(text := template_of_one(code))]
    assert len(said) > 200
    assert [text for text in said if PLURAL.search(text)], "they are written in the plural"
    assert [one for one in map(with_plurals, said) if PLURAL.search(one)] == []


def template_of_one(code: str) -> str:
    """Return the English sentence of a code in which every parameter is 1."""
    parts = pieces(template(code) or "")
    return "".join(f"{one.text}{'1' if one.name else ''}" for one in parts)
