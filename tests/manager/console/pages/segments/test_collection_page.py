"""The collection, hosts and orders where agents are many: their names stand once on each page."""

from __future__ import annotations

import pytest

from manager.operations.identity.enrolment import enrol, issue_join_token
from manager.operations.segments.collection_orders import NewCollection, collect_now
from manager.operations.segments.collection_schedules import TIMETABLE, add_collection_schedule
from shared.wire.names import hash_of_key
from tests.manager.console.conftest import Visitor
from tests.manager.console.markup import read
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

MANY = 60


@pytest.fixture
def many(prsm: Running) -> list[str]:
    """Let more agents join than a menu holds; return their names."""
    db, now_ms = prsm.manager.db, prsm.clock()
    names = [f"one{number:03}.example" for number in range(MANY)]
    for name in names:
        token = issue_join_token(db, name, ADMIN, now_ms).token
        enrol(db, name, token, hash_of_key(name), now_ms, "sync")
    return names


@pytest.mark.parametrize(
    ("address", "fields"),
    [("/console/collection", 3), ("/console/collection/orders", 1), ("/console/hosts", 1)],
)
def test_names_of_a_large_fleet_stand_once(
    many: list[str], person: Visitor, address: str, fields: int
) -> None:
    """One list serves each field, and what the URL says stands in it."""
    filtered = "owner" if address.endswith("hosts") else "agent"
    page = person("operator").page(f"{address}?{filtered}={many[7]}")
    assert [each.attributes["id"] for each in page.all("datalist")] == ["agents-named"]
    offered = [each.attributes["value"] for each in page.all("option")]
    assert [name for name in offered if name.startswith("one")] == many
    typed = [each for each in page.all("input") if each.attributes.get("list") == "agents-named"]
    assert len(typed) == fields
    assert [each.attributes["value"] for each in typed if each.attributes["value"]] == [many[7]]


def test_who_is_typed_is_asked_and_nobody_typed_is_all(
    prsm: Running, many: list[str], person: Visitor
) -> None:
    """An agent at once; without one, a question with their number; who has too many is said."""
    db, here = prsm.manager.db, "/console/collection"
    browser = person("operator")
    assert browser.act(here, f"{here}/orders", {"agent": many[3]}).status_code == 303
    assert browser.act(here, f"{here}/orders", {"agent": "nobody.example"}).status_code == 404
    for _ in range(20):
        collect_now(db, many[5], NewCollection(), ADMIN, prsm.clock())
    question = read(browser.act(here, f"{here}/orders", {"agent": ""}).text)
    assert "Ask all agents to send?" in question.text
    browser.submit(question.form(f"{here}/orders"))
    page = browser.page(here)
    assert "1 agent was left out: it has too many open orders." in page.text


def test_an_edit_keeps_the_time_of_a_day_that_stays(prsm: Running, person: Visitor) -> None:
    """Commands take moments, the form days: what nobody touched is not moved to midnight."""
    db, here = prsm.manager.db, "/console/collection"
    first_ms, end_ms = 1_795_532_400_000, 1_795_561_200_000  # 15:00 and 23:00 of one day, UTC
    asked = NewCollection("period", "push", first_ms, end_ms)
    add_collection_schedule(db, None, "0 3 * * *", "UTC", asked, ADMIN, prsm.clock())
    browser = person("operator")
    form = browser.page(f"{here}?edit=1").form(f"{here}/schedules/change")
    assert browser.submit(form, crontab="0 4 * * *").status_code == 303
    (row,) = TIMETABLE.listed(db, prsm.clock())
    assert (row.schedule.crontab, row.schedule.from_ms, row.schedule.until_ms) == (
        "0 4 * * *",
        first_ms,
        end_ms,
    )
