"""A refusal that knows which command lists what there is leads to the page of that list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import manager
from manager.console.requests.error_pages import LISTS, list_of
from manager.console.routes import PAGES
from manager.errors import NotFoundError
from manager.operations.rounds import round_schedules
from manager.operations.segments import collection_schedules
from tests.manager.console.conftest import Visitor

SHOWN = {f"/console{page.path}" for page in PAGES if page.method == "GET"}


def _commands() -> Iterator[str]:
    """Yield the commands with which the manager's refusals go on."""
    for path in Path(manager.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NotFoundError":
                yield from (
                    str(one.value.value)
                    for one in node.keywords
                    if one.arg == "see" and isinstance(one.value, ast.Constant)
                )


def test_each_list_that_a_refusal_names_has_a_page() -> None:
    """And no page is named that there is none of, or for a command that nothing names."""
    named = {*_commands(), *(one.TIMETABLE.see for one in (collection_schedules, round_schedules))}
    assert len(named) > 10
    assert named >= set(LISTS)
    for see in named:
        page = list_of(see)
        assert page is not None, see
        assert page[0] in SHOWN, see


def test_a_page_leads_to_the_list_and_a_script_is_told_the_command(person: Visitor) -> None:
    """The page says what there is not and has a button; the API names the command."""
    viewer = person("viewer")
    page = viewer.page("/console/agent?name=none.example", 404)
    assert "agent none.example: " in page.text
    assert "prsm agents" not in page.text
    assert "/console/agents" in page.links()
    refusal = NotFoundError("agent none.example: there is none", see="agents")
    assert str(refusal) == "agent none.example: there is none; see `prsm agents`"
    assert str(NotFoundError("host b.example: not known")) == "host b.example: not known"
