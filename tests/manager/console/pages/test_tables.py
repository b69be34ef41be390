"""Every table of the console is a file, too: those inside of pages have one of their own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import pytest
import sqlalchemy as sa

from manager.console.routes import PAGES as ROUTES
from manager.db.tables import agents, collection_orders
from manager.operations.hosts.host_views import host_detail
from manager.operations.planning.plan_tree import plan_tree
from manager.operations.planning.plans import plan_detail
from manager.operations.rounds.round_holders import holders_of
from manager.operations.rounds.rounds import list_rounds
from manager.operations.segments.collection_orders import cancel_order, list_orders
from tests.manager.console import tabled
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import AGENTS, SCRIPT
from tests.manager.console.markup import Markup
from tests.manager.console.pages.test_pages import ADDRESSES
from tests.manager.console.tabled import AGENT, HOST, OTHER, PLAN, fill_tables
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

ALSO: Final = (
    f"/console/host?host={HOST}",
    f"/console/plans/{PLAN}",
)
"""Pages with tables that those of `test_pages` have not."""
SMALL: Final = {
    page.path
    for page in ROUTES
    if page.method == "GET"
    and page.path.endswith(".csv")
    and page.path.removesuffix(".csv") not in {each.path for each in ROUTES}
    and page.path != "/activity.csv"
}
"""Files of tables inside of pages; `test_lists` has the others."""


@pytest.fixture
def tables(prsm: Running) -> Running:
    """Return a manager whose short tables are filled."""
    fill_tables(prsm)
    return prsm


def _rows(browser: Browser, path: str) -> list[dict[str, str]]:
    answer = browser.get(f"/console{path}")
    assert answer.status_code == 200, f"{path}: {answer.text[-500:]}"
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    for row in rows:
        assert None not in row, f"{path}: more cells than headings"
        assert all(cell is not None for cell in row.values()), f"{path}: fewer cells than headings"
        assert all(not cell or cell[0] not in "=+@" for cell in row.values()), row
    return rows


def _files(page: Markup) -> list[tuple[str, list[str]]]:
    """Return each table of a page: its first headings, and the files linked before the next."""
    places = [at for at, each in enumerate(page.elements) if each.tag == "table"]
    found = []
    for start, end in pairwise([*places, len(page.elements)]):
        part = page.elements[start:end]
        heads = [each.text.strip() for each in part if each.attributes.get("scope") == "col"]
        links = [each.attributes["href"] for each in part if each.tag == "a"]
        files = [link for link in links if link.partition("?")[0].endswith(".csv")]
        found.append((", ".join(heads[:4]), files))
    return found


def test_every_table_is_a_file(tables: Running, person: Visitor) -> None:
    """Behind each table of each page there is a link to a CSV file of it, which is there."""
    browser = person("admin")
    seen: set[str] = set()
    missing: set[str] = set()
    for address in [*ADDRESSES, *ALSO]:
        page = browser.page(address)
        for heads, files in _files(page):
            if not files:
                missing.add(f"{address}: {heads}")
            seen.update(files)
        seen.update(link for link in page.links() if _routes([link]) <= SMALL)
    assert not missing, "tables without a CSV file behind them"
    for link in seen:
        answer = browser.get(link)
        assert answer.status_code == 200, link
        assert answer.headers["content-type"] == "text/csv; charset=utf-8", link
        assert "," in answer.text.partition("\r\n")[0], link
    assert _routes(seen) >= SMALL, "files that no page links to"


def _routes(links: Iterable[str]) -> set[str]:
    paths = {link.partition("?")[0].removeprefix("/console") for link in links}
    return {
        "/".join("{number:int}" if part.isdigit() else part for part in path.split("/"))
        for path in paths
    }


def test_all_owners_of_a_host(tables: Running, person: Visitor) -> None:
    """Each owner has a row, the last first."""
    rows = _rows(person("viewer"), f"/host/owners.csv?host={HOST}")
    detail = host_detail(tables.manager.db, HOST)
    assert len(rows) == len(detail.owners) > 0
    assert rows[0]["until (UTC)"] == ""
    assert {row["agent"] for row in rows} <= set(AGENTS)
    assert {row["unit"] for row in rows} == {HOST}
    assert rows == sorted(rows, key=lambda row: row["since (UTC)"], reverse=True)


def test_all_distances_of_a_host(tables: Running, person: Visitor) -> None:
    """Measured ones, the nearest first, then what is predicted; each with its evidence."""
    rows = _rows(person("viewer"), f"/host/distances.csv?host={HOST}")
    assert len(rows) == len(host_detail(tables.manager.db, HOST).distances) > 0
    predicted = [row["state"] == "predicted" for row in rows]
    assert predicted == sorted(predicted)
    for some in (False, True):
        of_state = [float(row["ms/KB"]) for row in rows if (row["state"] == "predicted") is some]
        assert of_state == sorted(of_state) != []
    assert all(row["reason"] for row in rows)


def test_all_that_was_measured_of_a_host(tables: Running, person: Visitor) -> None:
    """Rounds beyond those that the page shows are in the file, in bytes and milliseconds."""
    browser = person("viewer")
    rows = _rows(browser, f"/host/measured.csv?host={HOST}")
    assert len(rows) == len(host_detail(tables.manager.db, HOST).sums) > len(tabled.ROUNDS)
    assert [row["round"] for row in rows[:2]] == ["160", "159"]
    assert {rows[0][name] for name in ("requests", "received (bytes)", "took (ms)")} == {
        "9",
        "900",
        "90",
    }
    assert f"{len(rows) - 50} more" in browser.page(f"/console/host?host={HOST}").text


def test_all_probe_orders_of_a_host(tables: Running, person: Visitor) -> None:
    """Orders beyond those that the page shows are in the file."""
    rows = _rows(person("viewer"), f"/host/probe-orders.csv?host={HOST}")
    assert {row["round"] for row in rows} >= set(map(str, tabled.ROUNDS))
    assert rows[0]["state"] == "done"
    assert rows[0]["ordered (UTC)"].endswith("Z")


def test_all_hosts_beside_a_host_and_all_its_start_pages(tables: Running, person: Visitor) -> None:
    """Both are counted whole, and the page has the first hundred of each."""
    db = tables.manager.db
    browser = person("viewer")
    page = browser.page(f"/console/host?host={HOST}").text
    assert "Shares its address with 130" in page
    assert "Start pages 120" in page
    assert "20 more" in page
    assert len(host_detail(db, HOST).group) == len(host_detail(db, HOST).start_pages) == 100
    beside = _rows(browser, f"/host/beside.csv?host={HOST}")
    assert [row["host"] for row in beside] == tabled.BESIDE
    rows = _rows(browser, f"/host/start-pages.csv?host={HOST}")
    assert [row["page"] for row in rows] == tabled.START_PAGES
    assert {row["unit"] for row in rows} == {HOST}
    for name in ("beside", "start-pages"):
        answer = browser.get(f"/console/host/{name}.csv?host=nobody.example")
        assert answer.status_code == 404


def test_all_directories_of_a_host(tables: Running, person: Visitor) -> None:
    """The page has the largest hundred and says so; the file has all."""
    browser = person("viewer")
    rows = _rows(browser, f"/host/directories.csv?host={HOST}")
    assert {row["directory"] for row in rows} == {f"/d{n}/" for n in range(tabled.DIRECTORIES)}
    assert {row["took (ms)"] for row in rows} == {"90"}
    assert {row["agent"] for row in rows} <= set(AGENTS)
    assert "Shown: 100; the file has all rows." in browser.page(f"/console/host?host={HOST}").text
    assert browser.get("/console/host/directories.csv?host=nobody.example").status_code == 404


def test_all_rounds_of_an_agent(tables: Running, person: Visitor) -> None:
    """Its part of each round, with its units by state."""
    rows = _rows(person("viewer"), f"/agent/rounds.csv?name={AGENT}")
    assert [row["round"] for row in rows] == ["2", "1"]
    for row in rows:
        parts = ("units finished", "units granted", "units waiting", "units cancelled")
        assert int(row["units"]) == sum(int(row[part]) for part in parts) > 0
        assert int(row["measured (ms)"]) > 0


def test_all_pages_that_others_fetched_again(tables: Running, person: Visitor) -> None:
    """A row for each agent that saw a page, of all pages."""
    browser = person("viewer")
    rows = _rows(browser, f"/agent/refetched.csv?name={AGENT}")
    assert len(rows) == 2 * tabled.PAGES
    assert {(row["seen by"], row["status"], row["received (bytes)"]) for row in rows} == {
        (AGENT, "200", "1000"),
        (tabled.OTHER, "404", "500"),
    }
    assert any(SCRIPT in row["page"] for row in rows)
    assert f"{tabled.PAGES - 20} more" in browser.page(f"/console/agent?name={AGENT}").text


def test_all_rounds_over_time(tables: Running, person: Visitor) -> None:
    """Each round with its makespans in ms, newest first."""
    rows = _rows(person("viewer"), "/balance/rounds.csv")
    assert [row["round"] for row in rows] == ["3", "2", "1"]
    assert all(float(row["measured (ms)"]) > 0 for row in rows[1:])
    assert [float(row["planned (ms)"]) for row in rows[1:]]


def test_the_tables_of_a_plan(tables: Running, person: Visitor) -> None:
    """Its costs, the other methods and who gives what to whom, in numbers."""
    browser, db = person("viewer"), tables.manager.db
    detail, tree = plan_detail(db, PLAN, limit=1), plan_tree(db, PLAN)
    costs = _rows(browser, f"/plans/{PLAN}/costs.csv")
    assert {row["agent"] for row in costs} == {one["name"] for one in detail.agents}
    after = [float(row["after (ms)"]) for row in costs]
    assert after == sorted(after, reverse=True)
    assert after[0] == pytest.approx(detail.plan.makespan_ms)
    methods = _rows(browser, f"/plans/{PLAN}/methods.csv")
    assert [row["method"] for row in methods] == [one.method for one in detail.compared] != []
    assert any(float(row["makespan / lower bound"] or 0) >= 1 for row in methods)
    flows = _rows(browser, f"/plans/{PLAN}/flows.csv")
    assert sum(int(row["units"]) for row in flows) == sum(flow.units for flow in tree.flows) > 0
    apart = _rows(browser, f"/plans/{PLAN}/flows.csv?neighbours=no")
    assert apart == [row for row in flows if row["neighbours"] == "no"]
    assert browser.get("/console/plans/999/costs.csv").status_code == 404


def test_how_far_each_agent_is_in_a_round(tables: Running, person: Visitor) -> None:
    """Units by state, what came, and what it cost."""
    rows = _rows(person("viewer"), "/rounds/1/progress.csv")
    assert {row["agent"] for row in rows} == set(AGENTS)
    assert all(row["units"] == row["units finished"] for row in rows)
    costs = [int(row["measured (ms)"]) for row in rows]
    assert costs == sorted(costs, reverse=True)


def test_what_a_round_waits_for(tables: Running, person: Visitor) -> None:
    """As many rows as its page says, each with its reason; nothing of a round that is over."""
    browser, manager = person("viewer"), tables.manager
    number = max(row.number for row in list_rounds(manager.db))
    held = holders_of(manager.db, number, manager.policy, tables.clock(), 1000)
    rows = _rows(browser, f"/rounds/{number}/holders.csv")
    assert [row["host"] for row in rows] == [one.unit for one in held.holders] != []
    assert [row["reason"] for row in rows] == [one.reason.value for one in held.holders]
    assert _rows(browser, "/rounds/1/holders.csv") == []
    assert browser.get("/console/rounds/99/holders.csv").status_code == 404


def test_all_schedules(tables: Running, person: Visitor) -> None:
    """The times as they were typed, and the next runs in UTC."""
    browser = person("viewer")
    (row,) = _rows(browser, "/rounds/schedules.csv")
    assert (row["times"], row["zone"], row["method"]) == ("0 2 * * *", "Asia/Tokyo", "tree")
    assert row["share of units moved"] == "0.1"
    assert len(row["next runs (UTC)"].split()) == 5
    assert row["next runs (UTC)"].split()[0].endswith("T17:00:00Z")
    (row,) = _rows(browser, "/collection/schedules.csv")
    assert (row["times"], row["agent"], row["sends"]) == ("0 3 * * *", AGENT, "since")
    assert row["captures from (UTC)"].endswith("Z")


def test_all_that_agents_were_asked_to_send(tables: Running, person: Visitor) -> None:
    """Orders that are over and not on the page any more are in the file."""
    db = tables.manager.db
    asked = [order.id for order in list_orders(db)]
    assert len(asked) == tabled.ORDERS
    for number in asked:
        cancel_order(db, number, ADMIN, tables.clock())
    browser = person("viewer")
    rows = _rows(browser, "/collection/orders.csv")
    assert [int(row["id"]) for row in rows] == asked
    assert {row["state"] for row in rows} == {"cancelled"}
    assert all(row["ended (UTC)"].endswith("Z") for row in rows)
    assert "Shown: 10; the file has all rows." in browser.page("/console/collection").text


def test_orders_are_paged_and_filtered(tables: Running, person: Visitor) -> None:
    """By the URL; open ones behind many that are over are found, cancelled, and the list stays."""
    db, here = tables.manager.db, "/console/collection/orders"
    asked = [order.id for order in list_orders(db)]
    oldest, others = asked[-1], asked[:-1]
    for number in others:
        cancel_order(db, number, ADMIN, tables.clock())
    now_ms = tables.clock()
    with db.write() as tx:
        ended = {"way": "push", "condition": "full", "made_by": "koji", "made_ms": now_ms}
        agent_id = tx.value(sa.select(agents.c.id).where(agents.c.name == OTHER))
        tx.insert(collection_orders, [{**ended, "agent_id": agent_id, "state": "done"}] * 40)
    browser = person("operator")
    page = browser.page(f"{here}?size=25")
    assert not [form for form in page.forms if form.action == f"{here}/cancel"]
    assert "1 open" in page.text
    assert "25 rows, newest first" in page.text
    (older,) = {link for link in page.links() if "before=" in link}
    page = browser.page(older)
    assert "Newest" in page.text
    assert not [link for link in browser.page(f"{here}?size=200").links() if "before=" in link]
    assert "No matching orders" in browser.page(f"{here}?agent=nobody.example").text
    rows = _rows(browser, "/collection/orders.csv?state=open")
    assert [int(row["id"]) for row in rows] == [oldest]
    assert "1 open" in browser.page("/console/collection").text
    done = browser.act(f"{here}?state=open&size=25", f"{here}/cancel")
    assert done.headers["location"] == f"{here}?state=open&size=25"
    assert list_orders(db, state="open") == []


def test_windows_and_keys(tables: Running, person: Visitor) -> None:
    """When nobody is told, and until when signatures hold."""
    browser = person("viewer")
    (window,) = _rows(browser, "/alerts/windows.csv")
    assert window["why"] == f"a switch {SCRIPT}"
    assert window["from (UTC)"] < window["until (UTC)"]
    keys = {row["key"]: row for row in _rows(browser, "/releases/keys.csv")}
    assert [keys[role]["state"] for role in ("root", "targets", "timestamp")] == [
        "good",
        "soon",
        "ended",
    ]
    assert keys["targets"]["days left"] == "18"


def test_all_files_that_are_damaged(tables: Running, person: Visitor) -> None:
    """Newest first, in words; the page has some of them and says so."""
    browser = person("viewer")
    rows = _rows(browser, "/data/problems.csv")
    assert [row["place"] for row in rows] == [f"logs/{n}" for n in range(tabled.PROBLEMS)][::-1]
    assert {(row["kind"], row["problem"], row["answer"]) for row in rows} == {
        ("crawl log", "wrong size", "")
    }
    assert all(SCRIPT in row["file"] for row in rows)
    assert "Shown: 10; the file has all rows." in browser.page("/console/data").text


def test_the_trash_by_day(tables: Running, person: Visitor) -> None:
    """Each day with its files, its size and the day of their deletion, the oldest first."""
    browser = person("viewer")
    rows = _rows(browser, "/trash/days.csv")
    assert [row["day"] for row in rows] == list(tabled.TRASHED)
    assert {(row["files"], row["size (bytes)"]) for row in rows} == {("1", "2500")}
    assert all(row["deleted from"] > row["day"] for row in rows)
    links = browser.page("/console/trash").all("a")
    days = {each.attributes["href"]: "aria-current" in each.attributes for each in links}
    assert [days[f"/console/trash?day={day}"] for day in tabled.TRASHED] == [True, False]


def test_tokens_without_what_they_are(tables: Running, person: Visitor) -> None:
    """Join tokens and those of third parties are listed; no secret is in a file."""
    (waiting,) = _rows(person("admin"), "/agents/join-tokens.csv")
    assert list(waiting) == ["agent", "made by", "made (UTC)", "valid until (UTC)"]
    assert waiting["agent"] == "nagoya.example.ac.jp"
    assert person("operator").get("/console/agents/join-tokens.csv").status_code == 403
    (token,) = _rows(person("viewer"), "/client/tokens.csv?name=library")
    assert (token["state"], token["a day (bytes)"]) == ("good", "")
    assert not any("hash" in name for name in token)
    assert person("viewer").get("/console/client/tokens.csv?name=nobody").status_code == 404


def test_managers_sessions_and_control_hosts(tables: Running, person: Visitor) -> None:
    """Who serves, where somebody is logged in, which hosts all agents probe."""
    browser = person("admin")
    (manager,) = _rows(browser, "/settings/managers.csv")
    assert (manager["leads"], manager["silent"]) == ("yes", "no")
    (session,) = _rows(browser, "/user/sessions.csv?name=viewer")
    assert len(session["number"]) == 16
    assert session["since (UTC)"] < session["until (UTC)"]
    assert person("operator").get("/console/user/sessions.csv?name=viewer").status_code == 403
    controls = _rows(browser, "/probes/control-hosts.csv")
    assert controls
    assert all(row["host"].startswith("http://") for row in controls)
    assert all(int(row["agents that measured it"]) for row in controls)
