"""Each `prs ...` and `prsm ...` that a program, a page or a guide names is a command there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.cli import main as prs
from manager.cli import main as prsm

ROOT = Path(__file__).parents[1]
SOURCES = ("agent", "client", "launcher", "manager", "shared", "tools", "deploy")
PROGRAMS: dict[str, click.Command] = {"prs": prs, "prsm": prsm}
PROSE = {"and", "are", "as", "commands", "ended", "is", "or", "process", "program", "what"}
"""What may follow the name of a program in a sentence about it."""

_QUOTED = re.compile(r"(?<![\w/.@-])(prsm?) ([a-z][^`\"'\n;<>|#]*)")


def texts(path: Path) -> Iterator[str]:
    """Yield what a file says: of Python each string whole, however many lines it stands on."""
    if path.suffix != ".py":
        yield path.read_text()
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = [one.value if isinstance(one, ast.Constant) else "X" for one in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def wrong_in(text: str) -> list[str]:
    """Return the commands in a text that there are not, each with what is wrong."""
    text = re.sub(r"(`[^`\n]*)\n\s*([^`\n]*`)", r"\1 \2", text)
    found = []
    for program, rest in _QUOTED.findall(text):
        words = rest.split()
        if words[0].rstrip(".,:)") in PROSE:
            continue
        said = _wrong(PROGRAMS[program], words)
        if said:
            found.append(f"{program} {rest.strip()}: {said}")
    return found


def _wrong(command: click.Command, words: list[str]) -> str:
    context = click.Context(command)
    for number, word in enumerate(words):
        name = word.rstrip(".,:)")
        if isinstance(command, click.Group) and re.fullmatch("[a-z][a-z-]*", name):
            inner = command.get_command(context, name)
            if inner is None:
                return f"no command {name!r}"
            command = inner
            if name != word:
                return ""  # the sentence goes on
            continue
        option = re.match(r"--[a-z-]+", word)
        if option and option[0] != "--help" and not _takes(command, option[0]):
            return f"no option {option[0]} of {' '.join(words[:number])}"
    return ""


def _takes(command: click.Command, option: str) -> bool:
    return any(option in (*one.opts, *one.secondary_opts) for one in command.params)


def files() -> list[Path]:
    """Return what people are told commands by."""
    found = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    for folder in SOURCES:
        for suffix in ("*.py", "*.html", "*.po", "*.service", "*.conf", "*.sh"):
            found += (ROOT / folder).rglob(suffix)
    return sorted(found)


def test_commands_that_are_named_exist() -> None:
    """Whoever is told a command can type it."""
    paths = files()
    assert ROOT / "manager" / "operations" / "fleet" / "sync.py" in paths
    wrong = {
        str(path.relative_to(ROOT)): said
        for path in paths
        if (said := [one for text in texts(path) for one in wrong_in(text)])
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("`prs subscribe` brings it back", "no command 'subscribe'"),
        ("run: prsm release revok 1.4.0", "no command 'revok'"),
        ("`prs stop --hard` ends it", "no option --hard of stop"),
        ("`prsm agents\n    forgotten`", "no command 'forgotten'"),
    ],
)
def test_a_command_that_is_not_there_is_found(text: str, said: str) -> None:
    """A name, one of a group, an option, and one over the end of a line."""
    (wrong,) = wrong_in(text)
    assert wrong.endswith(said)
