"""The page of the trash: what lies there, when it is deleted, and the ways back."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.operations.people.audit_log import audit_page
from tests.manager.console.conftest import Visitor
from tests.manager.console.markup import read
from tests.manager.running import Running

DAY = "2026-09-20"
FILE = "indexes/robot.example/2026/a.parquet"


@pytest.fixture
def trashed(prsm: Running) -> Path:
    """Put a file that no row names into the trash of a day."""
    path = prsm.manager.layout.trash / DAY / FILE
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * 2500)
    return path


def test_each_day_has_its_files_and_its_end(prsm: Running, person: Visitor, trashed: Path) -> None:
    """How many, how much, from when they are deleted; the same as CSV. Viewers only look."""
    browser = person("viewer")
    page = browser.page("/console/trash")
    assert DAY in page.text
    assert FILE in page.text.replace("\u200b", "")
    assert "2.50\u00a0KB" in page.text
    assert not page.has_form("/console/trash/adopt")
    assert not page.has_form("/console/trash/put-back")
    rows = browser.get(f"/console/trash/files.csv?day={DAY}").text.splitlines()
    assert len(rows) == 2
    assert FILE in rows[1]
    assert browser.get("/console/trash?day=../../etc").status_code == 400
    assert "/console/trash" in browser.page("/console/data").links()


def test_an_empty_trash_says_so_and_offers_nothing(prsm: Running, person: Visitor) -> None:
    """Its button is disabled, with the reason beside it."""
    page = person("admin").page("/console/trash")
    assert page.text.count("The trash is empty.") == 2
    [button] = [one for one in page.all("button") if "disabled" in one.attributes]
    assert button.text.strip() == "Put back"


def test_files_without_a_row_stay_when_others_are_put_back(
    prsm: Running, person: Visitor, trashed: Path
) -> None:
    """It asks once; nothing that no row names leaves the trash."""
    browser, action = person("admin"), "/console/trash/put-back"
    asked = browser.act("/console/trash", action)
    assert asked.status_code == 200
    done = browser.submit(read(asked.text).form(action))
    assert "0 files were put back" in browser.page(done.headers["location"]).text
    assert trashed.exists()


def test_a_look_changes_nothing_and_adopting_is_audited(
    prsm: Running, person: Visitor, trashed: Path
) -> None:
    """The operation of `prsm archive adopt`, its dry run first."""
    browser, action, db = person("admin"), "/console/trash/adopt", prsm.manager.db
    before = len(audit_page(db, limit=100, action="archive.adopt"))
    seen = browser.act("/console/trash", action, {"look": "yes"})
    assert seen.status_code == 200
    assert "Preview of the adoption" in read(seen.text).text
    assert len(audit_page(db, limit=100, action="archive.adopt")) == before
    form = browser.page("/console/trash").form(action)
    asked = browser.post(action, {n: v for n, v in form.fields.items() if n != "look"})
    assert "Adopt the files of this manager?" in read(asked.text).text
    done = browser.submit(read(asked.text).form(action))
    assert "Segments entered" in read(done.text).text
    assert len(audit_page(db, limit=100, action="archive.adopt")) == before + 1
    bad = browser.act("/console/trash", action, {"id_of": "mine", "look": "yes"})
    assert bad.status_code == 400
    assert read(bad.text).form(action).fields["id_of"] == "mine"


def test_all_files_are_verified_on_demand(prsm: Running, person: Visitor) -> None:
    """Once: while a pass goes on its button is disabled, and says why."""
    browser, action = person("admin"), "/console/scrub"
    assert browser.act("/console/data", action).status_code == 303
    assert audit_page(prsm.manager.db, limit=1)[0].action == "archive.scrub"
    page = browser.page("/console/data")
    [button] = [one for one in page.all("button") if "disabled" in one.attributes]
    assert button.attributes["aria-describedby"] == "unable-console-scrub"
    assert browser.submit(page.form(action)).status_code == 409


def test_withdrawn_hosts_are_compacted_on_demand(prsm: Running, person: Visitor) -> None:
    """What `prsm compact` does; where nothing waits for it, the button is disabled."""
    browser, action = person("admin"), "/console/compact"
    page = browser.page("/console/withdrawn")
    done = browser.submit(page.form(action))
    assert "were rewritten" in browser.page(done.headers["location"]).text
    after = browser.page("/console/withdrawn")
    assert "No segments to rewrite." in after.text
    assert not person("operator").page("/console/withdrawn").has_form(action)


def test_a_manager_that_still_runs_is_not_forgotten(prsm: Running, person: Visitor) -> None:
    """It asks once; one with a fresh sign of life is refused, one that there is none of, too."""
    browser, action = person("admin"), "/console/managers/forget"
    fields = {"csrf": browser.csrf, "name": "nowhere"}
    asked = browser.post(action, fields)
    assert "Forget manager nowhere?" in read(asked.text).text
    refused = browser.submit(read(asked.text).form(action))
    assert refused.status_code == 404
    assert "nowhere" in read(refused.text).text
