"""Balance and probes: nothing is applied by surprise, and what is drawn can be taken along."""

from __future__ import annotations

from xml.etree import ElementTree

from manager.operations.fleet.agent_summaries import agent_overviews
from manager.operations.ownership.unit_moves import move_unit
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import apply_plan, undo_preview, undoable
from manager.operations.planning.plan_tree import plan_tree
from manager.operations.planning.plans import list_plans, make_plan
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import SCRIPT
from tests.manager.console.markup import read
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running


def test_two_administrators_and_one_plan(prsm: Running, person: Visitor) -> None:
    """Who comes second learns who was first; an old question or plan is refused with figures."""
    db = prsm.manager.db
    first, second = person("operator"), person("admin")
    pages = [
        first.act("/console/balance", "/console/plans", {"method": method}).headers["location"]
        for method in ("random", "prices")
    ]
    prsm.clock.advance(60)
    same = second.act(pages[0], f"{pages[0]}/apply")
    other = second.act(pages[1], f"{pages[1]}/apply")
    asked = read(first.act(pages[0], f"{pages[0]}/apply").text)
    done = first.submit(asked.form(f"{pages[0]}/apply"))
    assert done.status_code == 303
    late = second.submit(read(same.text).form(f"{pages[0]}/apply"))
    assert late.status_code == 303
    assert "operator already applied plan" in second.page(late.headers["location"]).text

    crossed = second.submit(read(other.text).form(f"{pages[1]}/apply"))
    assert crossed.status_code == 409
    assert "another plan was applied or undone" in crossed.text

    stale = second.act(pages[1], f"{pages[1]}/apply")
    assert stale.status_code == 409, "a plan that does not fit is refused before it is asked about"
    text = read(stale.text).text
    assert "1 other plan was applied" in text
    assert "belong" in text
    assert "units got another owner" in text
    again = second.submit(read(stale.text).form("/console/plans"))
    assert again.headers["location"] not in pages
    assert list_plans(db)[0].method == "prices"

    number = int(pages[0].rsplit("/", 1)[1])
    undoing = second.act(pages[0], "/console/plans/undo")
    first.submit(read(first.act(pages[0], "/console/plans/undo").text).form("/console/plans/undo"))
    twice = second.submit(read(undoing.text).form("/console/plans/undo"))
    assert twice.status_code == 409, "the plan before it was not meant"
    assert f"names plan {number} as the plan in force" in twice.text


def test_drawings_are_files_and_tables(prsm: Running, person: Visitor) -> None:
    """SVG as an attachment, of the same name as the PNG; the edges as CSV."""
    browser = person("viewer")
    for address in (
        "/console/plans/2/tree.svg",
        "/console/plans/2/tree.svg?edges=moved",
        "/console/plans/2/costs.svg",
        "/console/balance/rounds.svg",
        "/console/rounds/2/agents.svg",
    ):
        answer = browser.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
        ElementTree.fromstring(answer.content)  # our own
    rows = browser.get("/console/plans/2/tree.csv").text.splitlines()
    assert rows[0].startswith("agent A,agent B")
    assert len(rows) == len(plan_tree(prsm.manager.db, 2).edges) + 1
    page = browser.page("/console/balance")
    assert [one for one in page.elements if one.tag == "svg" and "drawn" in one.attributes["class"]]
    assert SCRIPT not in browser.get("/console/plans/2/tree.svg").text


def test_probes_are_ordered_on_the_pages(prsm: Running, person: Visitor) -> None:
    """Of a host at once, by an agent after a question; a viewer sees and orders nothing."""
    browser = person("operator")
    host = "http://www001.example1.jp:80/"
    here = f"/console/host?host={host}"
    form = browser.page(here).form("/console/probes/order")
    done = browser.submit(form, agent="osaka.example.ac.jp")
    assert done.headers["location"].startswith("/console/host?host=")
    assert "probe" in browser.page(done.headers["location"]).text
    row = audit_page(prsm.manager.db, limit=1)[0]
    assert (row.actor_name, row.action, row.subject) == ("operator", "probe.order", host)

    asked = browser.act(
        "/console/probes", "/console/probes/order", {"agent": "sendai.example.ac.jp", "older": "0"}
    )
    assert asked.status_code == 200
    question = read(asked.text)
    assert "sendai.example.ac.jp probes all hosts" in question.text
    done = browser.submit(question.form("/console/probes/order"))
    assert done.status_code == 303
    assert audit_page(prsm.manager.db, limit=1)[0].subject == "sendai.example.ac.jp"
    nothing = browser.act("/console/probes", "/console/probes/order")
    assert nothing.status_code == 400
    viewer = person("viewer")
    assert "/console/probes/order" not in viewer.get("/console/probes").text
    matrix = viewer.get("/console/probes/matrix.csv").text.splitlines()
    assert matrix[0].startswith("host,owner,")
    assert len(matrix) > 50
    pairs = viewer.get("/console/probes/distances.csv?agent=osaka.example.ac.jp").text
    assert pairs.count("osaka.example.ac.jp") > 20


def test_undo_says_what_goes_back(prsm: Running, person: Visitor) -> None:
    """Before anything moves: how many units, to whom, and what the makespan becomes."""
    browser = person("operator")
    number = make_plan(prsm.manager.db, "random", ADMIN, prsm.manager.now_ms())
    apply_plan(prsm.manager.db, number, ADMIN, prsm.manager.now_ms())
    asked = browser.act(f"/console/plans/{number}", "/console/plans/undo")
    assert asked.status_code == 200
    page = read(asked.text)
    assert (
        "go back to their previous owners" in page.text
        or "goes back to its previous owner" in page.text
    )
    preview = undo_preview(prsm.manager.db)
    assert preview is not None
    assert preview.moves
    for move in preview.moves:
        assert move.taker in page.text
    assert undoable(prsm.manager.db) == number, "nothing was done yet"
    done = browser.submit(page.form("/console/plans/undo"))
    assert done.status_code == 303
    assert undoable(prsm.manager.db) != number


def test_undo_of_what_changed_since_is_refused_with_a_next_step(
    prsm: Running, person: Visitor
) -> None:
    """As for a stale plan: what changed, a new plan in its place; its button says so before."""
    browser, db = person("operator"), prsm.manager.db
    number = make_plan(db, "random", ADMIN, prsm.manager.now_ms())
    apply_plan(db, number, ADMIN, prsm.manager.now_ms())
    asked = browser.act(f"/console/plans/{number}", "/console/plans/undo")
    preview = undo_preview(db)
    assert preview is not None
    moved = preview.moves[0]
    others = {
        one.row.name
        for one in agent_overviews(db, prsm.manager.now_ms())
        if one.row.last_contact_ms is not None and one.row.retired_ms is None
    }
    other = min(others - {moved.giver, moved.taker})
    move_unit(db, moved.unit, other, "", ADMIN, prsm.manager.now_ms())
    late = browser.submit(read(asked.text).form("/console/plans/undo"))
    assert late.status_code == 409
    page = read(late.text)
    assert f"Plan {number} cannot be undone" in page.text
    assert page.has_form("/console/plans"), "make a new plan"
    for here in (f"/console/plans/{number}", "/console/balance"):
        seen = browser.page(here)
        assert "have changed since, so it cannot be undone" in seen.text
        [button] = [one for one in seen.all("button") if "disabled" in one.attributes]
        assert button.attributes["aria-describedby"] == "unable-console-plans-undo"
        assert "make a new plan" in seen.text
        assert seen.has_form("/console/plans")
    again = browser.post(
        "/console/plans/undo", {"csrf": browser.csrf, "plan": str(number), "confirmed": "yes"}
    )
    assert again.status_code == 409
    assert undoable(db) == number
