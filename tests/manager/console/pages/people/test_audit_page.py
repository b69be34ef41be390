"""The page of the audit knows all that is written there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import manager
from manager.console.messages.audit_words import acts_about
from manager.operations.actor import CLOCK, note_alone
from manager.operations.audit_actions import ACTIONS, label_code
from manager.operations.health import alerts
from manager.operations.logs.source_files import KINDS
from manager.operations.releases.update_reports import OUTCOMES
from manager.operations.rounds import round_schedules
from manager.operations.segments import collection_orders, collection_schedules
from shared.messages import codes, template
from tests.manager.console.conftest import Visitor
from tests.manager.running import Running

FOLDER = Path(manager.__path__[0])
ACTION = re.compile(r"[a-z-]+\.[a-z-]*")
ELSEWHERE = {
    "operations/actor.py": set(),  # `note` itself
    "operations/archive/archive_files.py": {"segment.download", "index.download"},
    "operations/health/alerts.py": set(alerts.SENT.values()),
    "operations/segments/collection_orders.py": set(collection_orders.ENDS.values()),
    "operations/timetables.py": {*round_schedules.WORDS, *collection_schedules.WORDS},
    "operations/releases/update_reports.py": {f"agent.update-{outcome}" for outcome in OUTCOMES},
    "app/maintenance/backup.py": {"manager.backup", "manager.backup-incomplete"},
}
"""Where the action is said elsewhere than in the call, and which it is."""

ENDINGS = {"export.": KINDS}
"""Of actions whose end is a value of the call."""


def _texts(node: ast.expr, said: dict[str, str]) -> Iterator[str]:
    """Yield the actions that an expression may be; `` where it is said elsewhere."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, said)
        yield from _texts(node.orelse, said)
    elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        yield str(node.values[0].value)
    elif isinstance(node, ast.Name) and node.id in said:
        yield said[node.id]
    else:
        yield ""


def _noted() -> Iterator[tuple[Path, str]]:
    """Yield where which action is noted."""
    for path in FOLDER.rglob("*.py"):
        source = path.read_text()
        if "note(" not in source and "note_alone(" not in source:
            continue  # most files note nothing, and a tree takes long
        tree = ast.parse(source)
        said = {
            target.id: str(node.value.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
            for target in [node.target]
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in ("note", "note_alone") or len(node.args) < 4:
                continue
            yield from ((path, text) for text in _texts(node.args[3], said))


def test_each_action_that_the_sources_note_is_in_the_registry_with_a_label() -> None:
    """None that is written is missing, and none is there that is never written."""
    noted = list(_noted())
    unsaid = {str(path.relative_to(FOLDER)) for path, text in noted if not text}
    assert unsaid == set(ELSEWHERE)
    found = {text for _, text in noted if ACTION.fullmatch(text)}
    assert {text for text in found if text.endswith(".")} == set(ENDINGS)
    whole = found - set(ENDINGS)
    whole |= {f"{noun}{end}" for noun, ends in ENDINGS.items() for end in ends}
    whole |= set().union(*ELSEWHERE.values())
    assert whole == set(ACTIONS)
    assert {label_code(action) for action in ACTIONS} == {
        code for code in codes() if code.startswith("actions.")
    }
    assert {f"{key.partition('.')[0]}." for key in whole} == set(acts_about())


def test_no_name_of_an_action_means_two_things() -> None:
    """Of today and earlier; the index of sent alerts holds all names of its actions."""
    names = [name for action, earlier in ACTIONS.items() for name in (action, *earlier)]
    assert len(names) == len(set(names))
    for action, earlier in ACTIONS.items():
        assert len({name.startswith("alert.") for name in (action, *earlier)}) == 1


def test_the_documentation_lists_each_action() -> None:
    """With its label and its earlier names."""
    rows = [
        f"| `{action}` | {template(label_code(action))} | "
        f"{', '.join(f'`{name}`' for name in earlier)} |"
        for action, earlier in ACTIONS.items()
    ]
    text = (FOLDER.parent / "docs" / "operations" / "audit.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def test_the_menu_offers_what_acts_are_about(person: Visitor) -> None:
    """What was moved or pinned is found by it; who came by a link to one act sees which it is."""
    page = person("viewer").page("/console/audit?action=unit.")
    options = {each.attributes["value"]: each for each in page.all("option")}
    assert set(acts_about()) <= set(options)
    assert "selected" in options["unit."].attributes
    assert options["unit."].text == "units"
    page = person("viewer").page("/console/audit?action=user.login")
    (chosen,) = [each for each in page.all("option") if "selected" in each.attributes]
    assert (chosen.attributes["value"], chosen.text) == ("user.login", "logged in")


def test_the_clock_is_the_manager_and_found_by_that_name(prsm: Running, person: Visitor) -> None:
    """Nobody knows what `tick` is; whoever copies the name that is shown finds its rows."""
    note_alone(prsm.manager.db, prsm.clock(), CLOCK, "agent.lost", "a.example")
    viewer = person("viewer")
    for actor in ("the+manager", "tick"):
        page = viewer.page(f"/console/audit?action=agent.mark-lost&actor={actor}")
        (row,) = [each for each in page.all("tr") if "a.example" in each.text]
        assert "the manager" in row.text
        assert "tick" not in row.text
