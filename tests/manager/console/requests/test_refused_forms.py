"""A form that is refused keeps what was typed, and says beside which field why."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from manager.console.routes import PAGES
from manager.errors import BusyError
from manager.operations.rounds.rounds import cancel_round
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import Element, Markup, read
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

AGENT = "kyoto.example.ac.jp"
NO_PAGE = {
    "/login": "answers with itself, and keeps the name",
    "/logout": "has no field, and stands on every page",
    "/look": "has no field that can be wrong, and stands on every page",
    "/agent/contradicted.csv": "sends a file",
    "/agent/contradicted.json": "sends a file",
}
"""Which POST is shown nowhere again, and why."""
HOST = f"http://{HOSTS[3]}:80/"


@dataclass(frozen=True)
class Refused:
    """A form, what is typed into it, and the field that is wrong; empty: none alone."""

    page: str
    action: str
    typed: dict[str, str]
    wrong: str
    role: str = "admin"
    status: int = 400
    confirmed: dict[str, str] = field(default_factory=dict)


def schedule(page: str, **typed: str) -> Refused:
    """Return a schedule's form with something wrong in it."""
    wrong = next(iter(typed))
    fields = {"crontab": "0 3 * * *", "zone": "Asia/Tokyo"} | typed
    return Refused(page, f"{page}/schedules", fields, wrong)


FORMS = [
    schedule("/console/rounds", crontab="at noon"),
    schedule("/console/rounds", crontab="61 3 * * *"),
    schedule("/console/rounds", zone="Mars/Olympus"),
    schedule("/console/rounds", moves="many"),
    schedule("/console/collection", crontab="0 25 * * *"),
    schedule("/console/collection", zone="Nowhere"),
    schedule("/console/collection", condition="since"),
    schedule("/console/collection", first="yesterday", condition="since"),
    schedule("/console/collection", end="2026-01-01", first="2026-02-01", condition="period"),
    Refused("/console/balance", "/console/plans", {"moves": "half", "method": "tree"}, "moves"),
    Refused("/console/new-user", "/console/new-user",
            {"name": "a b", "role": "viewer", "password": "a long password"}, "name"),
    Refused("/console/new-user", "/console/new-user",
            {"name": "newone", "role": "operator", "password": "short"}, "password"),
    Refused("/console/new-user", "/console/new-user",
            {"name": "viewer", "role": "admin", "password": "a long password"}, "name", status=409),
    Refused("/console/new-client", "/console/new-client",
            {"name": "UPPER", "contact": "a@example.org", "purpose": "x"}, "name"),
    Refused("/console/new-client", "/console/new-client",
            {"name": "fine", "contact": " ", "purpose": "words to keep"}, "contact"),
    Refused("/console/new-agent", "/console/new-agent", {"name": "no_host"}, "name"),
    Refused("/console/tokens", "/console/tokens", {"name": "a b", "days": "9"}, "name"),
    Refused("/console/tokens", "/console/tokens", {"name": "ok", "days": "9999"[:3]}, "days"),
    Refused("/console/fleet-rules", "/console/fleet-rules/block",
            {"text": "good\n(bad", "reason": "because"}, "text"),
    Refused("/console/fleet-rules", "/console/fleet-rules/limits",
            {"interval_s": "soon", "parallel_hosts": "7"}, "interval_s"),
    Refused("/console/fleet-rules", "/console/fleet-rules/limits",
            {"interval_s": "5", "parallel_hosts": "0"}, "parallel_hosts"),
    Refused("/console/fleet-rules", "/console/fleet-rules/limits",
            {"kbytes_per_s": "0.001", "interval_s": "5"}, "kbytes_per_s"),
    Refused("/console/alerts", "/console/alerts/windows",
            {"from": "soon", "until": "2026-12-01T22:00", "reason": "a move"}, "from"),
    Refused("/console/alerts", "/console/alerts/windows",
            {"until": "2020-12-01T22:00", "reason": "a move"}, "until"),
    Refused("/console/alerts", "/console/alerts/windows",
            {"until": "2026-12-01T22:00", "zone": "Moon", "reason": "a move"}, "zone"),
    Refused("/console/withdrawn", "/console/withdrawn", {"host": "www.example.jp"}, "reason"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/position",
            {"latitude": "91", "longitude": "5"}, "latitude"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/position",
            {"latitude": "9", "longitude": "east"}, "longitude"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/sending",
            {"rate": "fast", "weekday": "02:00-08:00"}, "rate"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/sending",
            {"rate": "900", "weekday": "8 to 9"}, "weekday"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/sending",
            {"rate": "900", "weekend": "25:00-26:00"}, "weekend"),
    Refused(f"/console/agent?name={AGENT}", "/console/agent/sending",
            {"rate": "900", "zone": "Asia/Atlantis"}, "zone"),
    Refused("/console/probes", "/console/probes/order",
            {"host": "unknown.example", "older": "3"}, "host", status=404),
    Refused("/console/probes", "/console/probes/order", {"older": "long"}, "older"),
    Refused("/console/releases", "/console/releases/minimum", {"version": "new"}, "version"),
    Refused("/console/own-password", "/console/own-password",
            {"old_password": "x", "password": "a long password",
             "password_again": "another password"}, "password_again"),
    Refused("/console/own-password", "/console/own-password",
            {"old_password": "not this one", "password": "a long password",
             "password_again": "a long password"}, "old_password"),
]  # fmt: skip


def _named(page: Markup, name: str) -> list[Element]:
    return [one for one in page.elements if one.attributes.get("name") == name]


def _check_marked(page: Markup, wrong: str) -> None:
    """Look at what a field that is wrong has: the mark, its message, and no other has it."""
    marked = [one for one in page.elements if one.attributes.get("aria-invalid") == "true"]
    assert [one.attributes["name"] for one in marked] == [wrong]
    about = marked[0].attributes["aria-describedby"]
    [message] = [one for one in page.elements if one.attributes.get("id") == about]
    assert message.text.strip()
    [alert] = [one for one in page.elements if "flash-refused" in one.attributes.get("class", "")]
    assert alert.attributes["role"] == "alert"


@pytest.mark.parametrize("form", FORMS, ids=lambda one: f"{one.action[9:]}-{one.wrong}")
def test_what_was_typed_stays_and_the_wrong_field_is_marked(
    prsm: Running, person: Visitor, form: Refused
) -> None:
    """Every field as it was but passwords, the message beside the field, nothing done."""
    browser = person(form.role)
    sent = browser.page(form.page).form(form.action).fields | form.typed
    answer = browser.post(form.action, sent)
    assert answer.status_code == form.status, answer.text[:2000]
    page = read(answer.text)
    _check_marked(page, form.wrong)
    again = page.form(form.action).fields
    for name, value in form.typed.items():
        assert again[name] == ("" if "password" in name else value), name
    assert browser.post(form.action, again | form.typed).status_code == form.status


def test_each_form_of_the_console_has_a_page() -> None:
    """Or a reason why it has none; pages are routes that there are."""
    posts = [page for page in PAGES if page.method == "POST"]
    assert {page.path for page in posts if not page.form} == NO_PAGE.keys()
    shown = {page.path for page in PAGES if page.method == "GET"}
    for path in (page.form for page in posts if page.form):
        bare = path.partition("?")[0].replace("{plan}", "{number:int}")
        assert bare.replace("{number}", "{number:int}") in shown, path


def test_a_conflict_keeps_what_was_typed_and_says_what_holds_now(
    prsm: Running, person: Visitor
) -> None:
    """The second of two people sees both values, and may send again."""
    first, second = person("operator"), person("admin")
    here, action = f"/console/agent?name={AGENT}", "/console/agent/position"
    forms = [one.page(here).form(action) for one in (first, second)]
    first.submit(forms[0], latitude="10", longitude="20")
    late = second.submit(forms[1], latitude="30", longitude="40")
    assert late.status_code == 409
    page = read(late.text)
    assert "changed since it was shown" in page.text
    assert "now: 10.0" in page.text
    form = page.form(action)
    assert (form.fields["latitude"], form.fields["longitude"]) == ("30", "40")
    assert second.submit(form).status_code == 303, "who has seen it may decide so"


def test_a_schedule_that_somebody_changed_meanwhile(prsm: Running, person: Visitor) -> None:
    """What was typed stays in the form of the schedule, which is still there."""
    first, second = person("operator"), person("admin")
    first.act("/console/rounds", "/console/rounds/schedules", {"crontab": "0 1 * * *"})
    here, action = "/console/rounds?edit=1", "/console/rounds/schedules/change"
    forms = [one.page(here).form(action) for one in (first, second)]
    prsm.clock.advance(60)
    first.submit(forms[0], crontab="0 2 * * *")
    late = second.submit(forms[1], crontab="0 3 * * *", zone="Europe/Oslo")
    assert late.status_code == 409
    form = read(late.text).form(action)
    assert (form.fields["crontab"], form.fields["zone"]) == ("0 3 * * *", "Europe/Oslo")
    assert "now: 0 2 * * *" in read(late.text).text
    assert second.submit(form).status_code == 303


def test_a_refusal_after_the_question_leads_back_to_the_form(
    prsm: Running, person: Visitor
) -> None:
    """Also where the wrong value is found when it was confirmed: the reason is not lost."""
    browser = person("operator")
    here, action = f"/console/host?host={HOST}", "/console/host/move"
    asked = browser.act(here, action, {"agent": "nobody.example", "reason": "it is slow"})
    late = browser.submit(read(asked.text).form(action))
    assert late.status_code == 404
    page = read(late.text)
    _check_marked(page, "agent")
    form = page.form(action)
    assert form.fields["reason"] == "it is slow"
    assert form.fields["agent"] == "nobody.example"


def test_a_round_that_cannot_begin_keeps_its_form(prsm: Running, person: Visitor) -> None:
    """The share that it may move is marked; what else was chosen stays chosen."""
    cancel_round(prsm.manager.db, ADMIN, prsm.manager.now_ms(), "")
    sent = {"method": "prices", "moves": "101"}
    answer = person("operator").act("/console/rounds", "/console/rounds/start", sent)
    assert answer.status_code == 400
    page = read(answer.text)
    _check_marked(page, "moves")
    again = page.form("/console/rounds/start").fields
    assert (again["method"], again["moves"]) == ("prices", "101")


def test_a_database_that_refuses_loses_nothing(
    prsm: Running, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed stands in the form, to be sent again when it can be kept."""

    def refuse(*_args: object, **_more: object) -> None:
        raise BusyError("the database takes no changes: its disk is full", retry_after_s=30)

    browser = person("operator")
    fields = {"crontab": "0 4 * * *", "zone": "Asia/Tokyo"}
    monkeypatch.setattr("manager.console.pages.rounds.rounds.add_schedule", refuse)
    answer = browser.act("/console/rounds", "/console/rounds/schedules", fields)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "30"
    page = read(answer.text)
    assert "its disk is full" in page.text
    form = page.form("/console/rounds/schedules")
    assert {name: form.fields[name] for name in fields} == fields


def test_a_failure_of_the_manager_keeps_what_was_typed(
    prsm: Running, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of the failure holds it, and may send it again."""

    def fail(*_args: object, **_more: object) -> None:
        raise RuntimeError("a fault")

    browser = person("operator")
    monkeypatch.setattr("manager.console.pages.health.alerts.add_window", fail)
    typed = {"until": "2027-12-01T22:00", "reason": "a long story\nof two lines"}
    answer = browser.act("/console/alerts", "/console/alerts/windows", typed)
    assert answer.status_code == 500
    form = read(answer.text).form("/console/alerts/windows")
    assert {name: form.fields[name] for name in typed} == typed
    assert "a fault" not in answer.text


def test_what_was_typed_is_escaped(prsm: Running, person: Visitor) -> None:
    """In values, in areas, in options that there are not."""
    browser, hostile = person("admin"), '"><script>alert(1)</script>\u202e'
    fields = {"text": f"({hostile}", "reason": hostile}
    answer = browser.act("/console/fleet-rules", "/console/fleet-rules/block", fields)
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    form = read(answer.text).form("/console/fleet-rules/block")
    assert form.fields["reason"] == hostile
    fields = {"crontab": "x", "method": hostile}
    answer = browser.act("/console/rounds", "/console/rounds/schedules", fields)
    assert "<script>alert" not in answer.text
    assert read(answer.text).form("/console/rounds/schedules").fields["method"] == hostile
