"""Releases in the browser: what runs, who is offered what, halt and widen without a key."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from manager.db.fleet import agents
from manager.db.releases import releases
from manager.operations.actor import Actor
from manager.operations.people.audit_log import audit_page
from manager.operations.releases.rollouts import (
    halt,
    offers,
    pin_version,
    roll_out,
    set_canary,
    set_minimum_version,
    too_old,
)
from manager.operations.releases.update_reports import report_update
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import SCRIPT
from tests.manager.console.markup import read
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

DAY_MS = 86_400_000
NAMES = ("release-a.example", "release-b.example", "release-c.example")


@pytest.fixture
def fleet(prsm: Running) -> Running:
    """Return a manager with two releases, signatures, and agents of three versions."""
    db, now_ms = prsm.manager.db, prsm.clock()
    joined = [prsm.agent(name, "sync").identity for name in NAMES]
    with db.write() as tx:
        for version in ("1.3", "1.4"):
            releases.add(tx, _release(version, now_ms))
        for role, days in (("root", 200), ("targets", 18), ("snapshot", 9), ("timestamp", -1)):
            releases.add_metadata(tx, role, 1, b"{}", now_ms + days * DAY_MS, now_ms)
        for identity, version in zip(joined, ("1.4", "1.3", "1.2"), strict=True):
            agents.update(tx, identity.id, version=version)
    roll_out(db, "1.3", "all", ADMIN, now_ms)
    roll_out(db, "1.4", "canary", ADMIN, now_ms)
    set_canary(db, NAMES[0], ADMIN, now_ms, canary=True)
    detail = f"no room {SCRIPT}"
    report_update(db, joined[2], "1.3", "went-back", "install", detail, now_ms - 1000)
    return prsm


def _release(version: str, now_ms: int) -> dict[str, Any]:
    return {
        "version": version, "target": f"prs-{version}.zip", "sha256": version * 16,
        "size_bytes": 10**6, "published_by": "koji", "published_ms": now_ms,
    }  # fmt: skip


def _last(prsm: Running) -> tuple[str, str, str]:
    (row,) = audit_page(prsm.manager.db, limit=1)
    return row.actor_name, row.action, row.detail


def test_the_page_says_what_runs_and_what_failed(fleet: Running, person: Visitor) -> None:
    """Versions with their numbers, signatures with days left, failures in words by agent."""
    page = person("viewer").page("/console/releases")
    assert "18" in page.text
    assert "people with root keys" in page.text
    assert f"{NAMES[2]} tried 1.3, rolled back at step install, and runs 1.2" in page.text
    assert SCRIPT in page.text
    assert "prsm release publish BUNDLE next.json" in page.text
    assert not [form for form in page.forms if form.action.startswith("/console/releases/")]
    answer = person("viewer").get("/console/releases.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["version"], row["ring"], row["agents that run it"]) for row in rows] == [
        ("1.4", "canary", "1"),
        ("1.3", "all", "1"),
    ]


def test_a_release_is_halted_and_goes_on(fleet: Running, person: Visitor) -> None:
    """One click and one question; needs no key, and an administrator."""
    browser = person("admin")
    asked = browser.act("/console/releases", "/console/releases/halt", {"version": "1.4"})
    question = read(asked.text)
    assert "Halt 1.4?" in question.text
    browser.follow(browser.submit(question.form("/console/releases/halt")))
    assert _last(fleet)[:2] == ("admin", "release.halt")
    page = browser.page("/console/releases?state=halted")
    asked = browser.submit(page.form("/console/releases/rollout"))
    browser.follow(browser.submit(read(asked.text).form("/console/releases/rollout")))
    assert _last(fleet)[1] == "release.rollout"
    assert '"ring": "canary"' in _last(fleet)[2]
    fields = {"csrf": person("operator").csrf, "version": "1.4", "confirmed": "yes"}
    assert person("operator").post("/console/releases/halt", fields).status_code == 403


def test_a_release_is_widened_step_by_step(fleet: Running, person: Visitor) -> None:
    """The next ring is offered; what is asked names it."""
    browser = person("admin")
    page = browser.page("/console/releases?q=1.4")
    form = page.form("/console/releases/rollout")
    assert form.fields["ring"] == "tenth"
    question = read(browser.submit(form).text)
    assert "Offer 1.4 to a tenth and the canaries?" in question.text
    browser.follow(browser.submit(question.form("/console/releases/rollout")))
    page = browser.page("/console/releases?q=1.4")
    assert page.form("/console/releases/rollout").fields["ring"] == "all"


def test_a_page_from_before_a_halt_does_not_end_it(fleet: Running, person: Visitor) -> None:
    """Neither its button nor its question; the new question names the ring and who halted."""
    browser, db = person("admin"), fleet.manager.db
    form = browser.page("/console/releases?q=1.4").form("/console/releases/rollout")
    asked = read(browser.submit(form).text)
    assert "It is offered to the canaries now." in asked.text
    fleet.clock.advance(60)
    halt(db, "1.4", Actor("user", "anna"), fleet.clock())
    for stale in (form, asked.form("/console/releases/rollout")):
        refused = browser.submit(stale)
        assert refused.status_code == 409
        assert "halted since it was shown" in refused.text
    assert _last(fleet)[1] == "release.halt"
    fleet.clock.advance(120)
    page = browser.page("/console/releases?q=1.4")
    question = read(browser.submit(page.form("/console/releases/rollout")).text)
    assert "anna halted it" in question.text
    assert "when it was offered to the canaries. This resumes the rollout." in question.text
    browser.follow(browser.submit(question.form("/console/releases/rollout")))
    assert '"ended_halt": true' in _last(fleet)[2]


def test_a_pin_and_the_lowest_version_keep_to_what_was_shown(
    fleet: Running, person: Visitor
) -> None:
    """Set by somebody else meanwhile, they stay as that one set them."""
    browser, db = person("admin"), fleet.manager.db
    pin = browser.page(f"/console/release-agents?q={NAMES[1]}").form("/console/release-agents/pin")
    least = browser.page("/console/releases").form("/console/releases/minimum")
    pin_version(db, NAMES[1], "1.3", ADMIN, fleet.clock())
    set_minimum_version(db, "1.2", ADMIN, fleet.clock())
    assert browser.submit(pin, version="1.4").status_code == 409
    question = read(browser.submit(least, version="1.3").text)
    assert browser.submit(question.form("/console/releases/minimum")).status_code == 409
    assert _last(fleet)[1:] == ("release.set-minimum", "")


def test_the_lowest_version_is_asked_about_with_its_price(fleet: Running, person: Visitor) -> None:
    """How many agents would get no work; nonsense is refused."""
    browser = person("admin")
    fields = {"csrf": browser.csrf, "version": "1.3"}
    asked = browser.post("/console/releases/minimum", fields)
    question = read(asked.text)
    below = sum(too_old("1.3", one.running) for one in offers(fleet.manager.db))
    assert below >= 1
    assert f"{below} agents run an older version now" in question.text
    browser.follow(browser.submit(question.form("/console/releases/minimum")))
    assert _last(fleet)[1] == "release.set-minimum"
    assert "Agents below 1.3 get no work." in browser.page("/console/releases").text
    early = fields | {"version": "1.4", "confirmed": "yes"}
    assert browser.post("/console/releases/minimum", early).status_code == 409
    assert browser.post("/console/releases/minimum", fields | {"version": "x"}).status_code == 400


def test_agents_are_listed_by_version_and_pinned(fleet: Running, person: Visitor) -> None:
    """Filters by version, outcome and kind; pin and canary are actions of their own."""
    browser = person("admin")
    assert NAMES[2] in browser.page("/console/release-agents?who=behind").text
    shown = browser.page("/console/release-agents?version=1.4").text
    assert NAMES[0] in shown
    assert NAMES[1] not in shown
    assert NAMES[2] in browser.page("/console/release-agents?outcome=went-back").text
    path = f"/console/release-agents?q={NAMES[1]}"
    browser.follow(browser.act(path, "/console/release-agents/pin", {"version": "1.4"}))
    assert _last(fleet)[1] == "release.pin"
    assert NAMES[1] in browser.page("/console/release-agents?who=pinned").text
    browser.follow(browser.act(path, "/console/release-agents/canary"))
    assert _last(fleet)[1:] == ("release.set-canary", '{"canary": true}')
    kept = "/console/release-agents?sort=-pin"
    answer = browser.act(kept, "/console/release-agents/canary")
    assert "sort=-pin" in answer.headers["location"], "the list is left as it was"
    rows = csv.DictReader(io.StringIO(browser.get("/console/release-agents.csv?who=pinned").text))
    assert [(row["agent"], row["is offered"]) for row in rows] == [(NAMES[1], "1.4")]


def test_of_many_releases_a_pin_is_typed(fleet: Running, person: Visitor) -> None:
    """A field beside one list of them, in place of a menu in each row; what is none is refused."""
    browser = person("admin")
    path = f"/console/release-agents?q={NAMES[1]}"
    assert "<datalist" not in browser.get(path).text
    with fleet.manager.db.write() as tx:
        for number in range(30):
            releases.add(tx, _release(f"0.{number}", fleet.clock()))
    page = browser.get(path).text
    assert page.count('<option value="0.7">') == 1
    assert "<select" not in page.partition('<div id="list">')[2]
    assert browser.act(path, "/console/release-agents/pin", {"version": "9.9"}).status_code == 404
    browser.follow(browser.act(path, "/console/release-agents/pin", {"version": "0.7"}))
    assert _last(fleet)[1:] == ("release.pin", '{"version": "0.7"}')
    browser.follow(browser.act(path, "/console/release-agents/pin", {"version": ""}))
    assert _last(fleet)[1:] == ("release.pin", '{"version": ""}')
