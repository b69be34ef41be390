"""Alerts in the browser: what is wrong, silences with reason and end, windows, a test message."""

from __future__ import annotations

from manager.operations.health.silences import end_silence, list_silences, silence
from manager.operations.people.audit_log import audit_page
from tests.manager.console.conftest import Visitor
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

HOUR_MS = 3_600_000


def _going(prsm: Running) -> str:
    """Let an agent be late, and return the trouble's key."""
    agent = prsm.agent("late.example", "plain")
    agent.call.get("/servlets/isrestart?host=late.example")
    prsm.clock.advance(40 * 3600)
    return "agent:late.example"


def test_what_goes_on_is_shown_and_silenced(prsm: Running, person: Visitor) -> None:
    """With reason and end; then it is no longer told, and by whom that was decided is said."""
    key = _going(prsm)
    browser = person("")
    browser.log_in("operator")
    page = browser.page("/console/alerts?q=late.example")
    assert "Agent late.example is" in page.text
    assert "Alerts have no recipients" in page.text
    form = page.form("/console/alerts/silence")
    assert form.fields["key"] == key
    refused = browser.submit(form, reason=" ", hours="8")
    assert refused.status_code == 400
    assert browser.submit(form, reason="moves", hours="nan").status_code == 400
    assert browser.submit(form, reason="moves", hours="721").status_code == 400
    browser.follow(browser.submit(form, reason="its site moves", hours="8"))
    (row,) = list_silences(prsm.manager.db, prsm.clock())
    assert (row.key, row.until_ms - row.from_ms) == (key, 8 * HOUR_MS)
    shown = browser.page("/console/alerts?told=silent").text
    assert "its site moves" in shown
    done = browser.act("/console/alerts?told=silent", "/console/alerts/end")
    assert done.headers["location"] == "/console/alerts?told=silent"
    browser.follow(done)
    assert list_silences(prsm.manager.db, prsm.clock())[0].ended_ms == prsm.clock()
    assert audit_page(prsm.manager.db, limit=1)[0].action == "alert.end-silence"
    csv = browser.get("/console/alerts.csv?q=late.example").text
    assert key in csv


def test_what_somebody_knows_of_is_quiet_on_the_overview(prsm: Running, person: Visitor) -> None:
    """It gives its place to what nobody knows of; a line leads to it; ended, it is there again."""
    key, db = _going(prsm), prsm.manager.db
    browser = person("")
    browser.log_in("viewer")

    def told() -> bool:
        items = browser.page("/console/").all("li")
        wanting = [each for each in items if "notice" in each.attributes.get("class", "")]
        return any("late.example is " in each.text for each in wanting)

    assert told()
    silence(db, key, prsm.clock() + HOUR_MS, "its site moves", ADMIN, prsm.clock())
    assert not told()
    page = browser.page("/console/")
    assert "1 acknowledged, silenced" in page.text
    assert "/console/alerts?told=silent" in page.links()
    end_silence(db, list_silences(db, prsm.clock())[0].id, ADMIN, prsm.clock())
    assert told()
    assert "acknowledged, silenced" not in browser.page("/console/").text


def test_windows_are_planned_and_taken_back(prsm: Running, person: Visitor) -> None:
    """From a browser's fields for date and time; the zone is said beside."""
    browser = person("operator")
    page = browser.page("/console/alerts")
    form = page.form("/console/alerts/windows")
    until = "2026-10-01T02:00"
    assert browser.submit(form, until="soon").status_code == 400
    assert browser.submit(form, until=until, zone="Mars/Base").status_code == 400
    assert browser.submit(form, until="0001-01-01T00:00", zone="Asia/Tokyo").status_code == 400
    fields = {"from": "2026-09-30T22:00", "until": until, "zone": "Asia/Tokyo", "reason": "switch"}
    browser.follow(browser.submit(form, **fields))
    (row,) = list_silences(prsm.manager.db, prsm.clock())
    assert (row.key, row.reason, row.until_ms - row.from_ms) == ("", "switch", 4 * HOUR_MS)
    browser.follow(browser.act("/console/alerts", "/console/alerts/end"))
    assert list_silences(prsm.manager.db, prsm.clock())[0].ended_ms is not None
    browser.follow(browser.submit(form, **{"from": "", "until": until}))
    assert "A maintenance window is open" in browser.page("/console/alerts").text
    browser.follow(browser.act("/console/alerts", "/console/alerts/speak"))
    assert "A maintenance window is open" not in browser.page("/console/alerts").text


def test_a_viewer_sees_and_does_nothing(prsm: Running, person: Visitor) -> None:
    """No form that acts, and none is taken."""
    browser = person("viewer")
    page = browser.page("/console/alerts")
    assert not [form for form in page.forms if form.action.startswith("/console/alerts/")]
    for path in ("silence", "windows", "end", "speak", "test"):
        fields = {"csrf": browser.csrf}
        assert browser.post(f"/console/alerts/{path}", fields).status_code == 403
