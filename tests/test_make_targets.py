"""What the targets of the Makefile run starts, has the options they name, and is type-checked."""

from __future__ import annotations

import contextlib
import importlib
import io
import multiprocessing
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("benchmarks", "tools")
PEERS: Final = ROOT / "benchmarks" / "crawl" / "peers"
"""Crawlers that we are compared with: they have an environment of their own."""

_TARGET: Final = re.compile(r"^([a-z0-9-]+):(?!=)[^#\n]*(?:## (.*))?((?:\n\t.*)*)", re.MULTILINE)
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_MODULE: Final = re.compile(r"python3? -m ((?:benchmarks|tools)[a-z_.]*)")
_SCRIPT: Final = re.compile(r"(?<![\w/])tools/[\w/]+\.py")
_FILE: Final = re.compile(r"(?<![\w/.-])(?:benchmarks|shared|tests|tools)/[\w./-]*\w")


@dataclass
class Target:
    """A target of the Makefile: the programs of ours that it runs, and all options it names."""

    name: str
    programs: list[str]  # modules, or scripts by their path
    options: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Start:
    """What became of a program started with `--help`."""

    code: int | str | None
    output: str


def targets(makefile: str) -> list[Target]:
    """Return the targets of a Makefile, with what is said of each behind `##`."""
    found = []
    for name, comment, recipe in _TARGET.findall(makefile):
        target = Target(name, [*_MODULE.findall(recipe), *_SCRIPT.findall(recipe)])
        target.files = _FILE.findall(recipe)
        benchmark = re.search(r"BENCH=([a-z]+)", comment)
        if benchmark:
            target.programs.append(f"benchmarks.{benchmark[1]}")
        for line in (comment, *recipe.splitlines()):
            if line is comment or _MODULE.search(line) or _SCRIPT.search(line):
                target.options += _OPTION.findall(line)
        found.append(target)
    return found


def named_in(text: str) -> list[Target]:
    """Return the programs that a page names as `python -m MODULE --option ...`, with options."""
    return [
        Target(module, [module], _OPTION.findall(rest))
        for module, rest in re.findall(rf"{_MODULE.pattern}([^`\n#|>]*)", text)
    ]


def wrong_in(targets: Sequence[Target], starts: dict[str, Start]) -> list[str]:
    """Return what is wrong with the programs of targets, each with the target's name."""
    found = []
    for target in targets:
        found += [f"{target.name}: no {name}" for name in target.files if not exists(name)]
        for program in target.programs:
            start = starts[program]
            if start.code or "usage:" not in start.output.lower():
                found.append(f"{target.name}: {program} --help: {start.code}: {start.output}")
        known = {word for name in target.programs for word in _OPTION.findall(starts[name].output)}
        if target.programs:
            found += [
                f"{target.name}: {' and '.join(target.programs)} has no option {option}"
                for option in target.options
                if option not in known
            ]
    return found


def exists(name: str) -> bool:
    """Return whether a file that a recipe names is in the tree."""
    return (ROOT / name).exists()


def starts_of(programs: Sequence[str]) -> dict[str, Start]:
    """Start each program with `--help`, as `python -m` or by its path; return what came of it."""
    return {program: _start(program) for program in programs}


def _start(program: str) -> Start:
    output = io.StringIO()
    sys.argv = [program, "--help"]
    code: int | str | None = None
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            if program.endswith(".py"):
                runpy.run_path(program, run_name="__main__")
            else:
                runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    except Exception as error:  # noqa: BLE001 - each is a program that does not start
        code = repr(error)
    return Start(code, output.getvalue())


def failed_imports(modules: Sequence[str]) -> list[str]:
    """Import modules; return those that cannot be imported, each with the error."""
    found = []
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:  # noqa: BLE001 - each is a module that is broken
            found.append(f"{module}: {error!r}")
    return found


def modules() -> list[str]:
    """Return every module of the benchmarks and tools."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    inside = [path.relative_to(ROOT).with_suffix("") for path in paths if PEERS not in path.parents]
    return [".".join(path.parts).removesuffix(".__init__") for path in inside]


@pytest.fixture
def process() -> ProcessPoolExecutor:
    """Yield a new process, so that what was imported before hides nothing that is missing."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))


def test_what_targets_run_starts_and_has_the_options_named(process: ProcessPoolExecutor) -> None:
    """Also what `docs` names; in one process, as each alone would take 20 s together."""
    makefile = targets((ROOT / "Makefile").read_text())
    assert {"demo", "faults", "screenshots", "show-site", "bench-console"} <= {
        target.name for target in makefile if target.programs
    }
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "history" not in path.parts]
    named = [target for page in pages for target in named_in(page.read_text())]
    programs = sorted({program for target in (*makefile, *named) for program in target.programs})
    with process:
        starts = process.submit(starts_of, programs).result()
        broken = process.submit(failed_imports, modules()).result()
    assert broken == []
    assert wrong_in((*makefile, *named), starts) == []


def test_what_is_wrong_with_a_target_is_found() -> None:
    """A file, a program or an option that there is not; of the options, those of our programs."""
    makefile = (
        "bench-a: dev  ## a look; ARGS=--rows\n"
        "\t@tools/gone.sh check\n"
        "\tuv --upgrade\n"
        "\tpython -m benchmarks.a --quick $(ARGS)\n"
        "b:\n"
        "\tpython -m tools.b\n"
    )
    starts = {"benchmarks.a": Start(0, "usage: a [--quick]"), "tools.b": Start("no b", "")}
    assert wrong_in(targets(makefile), starts) == [
        "bench-a: no tools/gone.sh",
        "bench-a: benchmarks.a has no option --rows",
        "b: tools.b --help: no b: ",
    ]
    assert wrong_in(named_in("`python -m benchmarks.a --slow 3`"), starts) == [
        "benchmarks.a: benchmarks.a has no option --slow"
    ]


def test_a_broken_program_and_a_broken_module_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv)
    script = tmp_path / "rotten.py"
    script.write_text("import no_such_module_of_ours\n")
    assert "no_such_module_of_ours" in str(starts_of([str(script)])[str(script)].code)
    assert "no_such_module_of_ours" in failed_imports(["no_such_module_of_ours"])[0]


def test_every_target_is_phony_and_told() -> None:
    """A file of a target's name would keep make from running it; `make help` shows the rest."""
    makefile = (ROOT / "Makefile").read_text()
    names = {target.name for target in targets(makefile)}
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == names
    # Below another make, as `make test` is, it would tell which folder it enters.
    command = ["make", "--no-print-directory", "help"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.split()[1] for line in told.stdout.splitlines()} == names


def test_mypy_checks_every_folder_of_python() -> None:
    """What nothing in the suite runs is at least type-checked."""
    folders = {path.parent.name for path in ROOT.glob("[a-z]*/*.py")} - {"build", "dist"}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert folders == set(settings["packages"])
