"""What people do in pages is done, said, and written down; what destroys is asked once."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.rounds import round_units
from manager.db.tables import assignments, rights, unit_rounds
from manager.operations.fleet.agents import agent_detail, list_agents, set_next_list_limit
from manager.operations.fleet.fleet_rules import LimitsRow, fleet_rules_of
from manager.operations.hosts.host_views import host_detail, list_hosts
from manager.operations.identity.agent_positions import set_position
from manager.operations.people.audit_log import audit_page
from manager.operations.people.users import list_users, set_role
from manager.operations.planning.plans import list_plans, plan_detail
from manager.operations.planning.requested_probes import next_round
from manager.operations.rounds.carried_work import carried_work
from manager.operations.rounds.rounds import cancel_round, current_round
from manager.operations.segments.collection_orders import list_orders
from manager.operations.segments.sending_limits import limits_for_agent
from shared.wire.positions import Position
from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS, PASSWORD
from tests.manager.console.markup import read
from tests.manager.console.pages.fleet.test_join_tokens import shown_token
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.doubted import doubt
from tests.manager.operations.world import ADMIN
from tests.manager.running import START_MS, Running

KYOTO = "kyoto.example.ac.jp"
PLAIN = "plain.example.ac.jp"
AGENT = f"/console/agent?name={KYOTO}"
HOST = f"http://{HOSTS[5]}:80/"


def _last(prsm: Running) -> tuple[str, str, str]:
    (row,) = audit_page(prsm.manager.db, limit=1)
    return row.actor_name, row.action, row.subject


def _result(browser: Browser, answer_path: str) -> str:
    """Return what the next page says of the action, and that it says it once."""
    page = browser.page(answer_path)
    (flash,) = [
        each for each in page.all("div") if "flash" in each.attributes.get("class", "").split()
    ]
    again = browser.page(answer_path)
    assert not any("flash" in each.attributes.get("class", "").split() for each in again.all("div"))
    return flash.text


def _confirm(browser: Browser, page: str, action: str, changes: dict[str, str]) -> str:
    """Do something that is asked about first; return what the next page says."""
    asked = browser.act(page, action, changes)
    assert asked.status_code == 200
    question = read(asked.text)
    assert "Cancel" in question.text
    done = browser.submit(question.form(action))
    assert done.status_code == 303, done.text[-500:]
    return _result(browser, done.headers["location"])


def test_pausing_an_agent(prsm: Running, person: Visitor) -> None:
    """What destroys nothing is done at once, with the result on the next page."""
    browser = person("operator")
    form = browser.page(AGENT).form("/console/agent/command", command="pause")
    done = browser.submit(form)
    assert done.headers["location"] == AGENT
    assert f"{KYOTO} will stop fetching" in _result(browser, AGENT)
    detail = agent_detail(prsm.manager.db, KYOTO, prsm.clock())
    assert (detail.view.row.command, detail.view.row.command_done_ms) == ("pause", None)
    assert _last(prsm) == ("operator", "agent.command", KYOTO)


@pytest.mark.parametrize("command", ["restart", "drain"])
def test_commands_that_destroy_are_asked_once(prsm: Running, person: Visitor, command: str) -> None:
    """A restart is done after one question, and not before it."""
    browser = person("operator")
    form = browser.page(AGENT).form("/console/agent/command", command=command)
    asked = browser.submit(form)
    assert asked.status_code == 200
    assert not agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row.command
    browser.submit(read(asked.text).form("/console/agent/command"))
    row = agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row
    assert row.command == command
    assert (row.restart_ordered_ms is not None) == (command == "restart")


@pytest.mark.parametrize("pages", [False, True])
def test_a_restart_deletes_pages_where_that_was_ticked(
    prsm: Running, person: Visitor, pages: bool
) -> None:
    """The question has a box for it; what the agent is told, the result and the audit follow."""
    browser = person("operator")
    form = browser.page(AGENT).form("/console/agent/command", command="restart")
    question = read(browser.submit(form).text)
    assert "Collected pages stay" in question.text
    ticked = {"pages": "yes"} if pages else {}
    done = browser.submit(question.form("/console/agent/command"), **ticked)
    row = agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row
    assert (row.command, row.command_argument) == ("restart", "confirmed" if pages else "")
    assert ("all pages" in _result(browser, done.headers["location"])) == pages
    (noted,) = audit_page(prsm.manager.db, limit=1)
    assert ("pages" in noted.detail) == pages
    plain = {"csrf": browser.csrf, "name": PLAIN, "command": "restart"}
    asked = browser.post("/console/agent/command", plain)
    assert "its own program decides" in asked.text
    assert 'name="pages"' not in asked.text


def test_pages_are_deleted_from_the_table_of_restarts(prsm: Running, person: Visitor) -> None:
    """The question names whose pages are deleted; the others keep theirs; a plain agent has no
    such choice."""
    browser, osaka = person("operator"), "osaka.example.ac.jp"
    fields = {f"restart {KYOTO}": "pages too", f"restart {osaka}": "yes"}
    asked = browser.act("/console/restart", "/console/restart", fields)
    assert f"even undelivered ones: {KYOTO}." in asked.text
    done = browser.submit(read(asked.text).form("/console/restart"))
    assert "1 of them deletes its pages." in _result(browser, done.headers["location"])
    for name, argument in ((KYOTO, "confirmed"), (osaka, "")):
        row = agent_detail(prsm.manager.db, name, prsm.clock()).view.row
        assert (row.command, row.command_argument) == ("restart", argument)
    prsm.agent("simple.example")
    page = browser.get("/console/restart?q=simple").text
    assert "restart simple.example" in page
    assert "delete its pages" not in page
    fields = {"restart simple.example": "pages too", "pages simple.example": "50"}
    assert browser.act("/console/restart", "/console/restart", fields).status_code == 409


def test_a_command_that_cannot_be_is_refused_in_words(prsm: Running, person: Visitor) -> None:
    """What the operation refuses is shown with its reason, and nothing is written down."""
    browser = person("operator")
    before = _last(prsm)
    token = {"csrf": browser.csrf, "name": "plain.example.ac.jp", "command": "pause"}
    answer = browser.post("/console/agent/command", token)
    assert answer.status_code == 409
    assert "it can only restart" in answer.text
    answer = browser.post("/console/agent/command", {**token, "command": "explode"})
    assert answer.status_code == 400
    assert _last(prsm) == before


def test_retiring_an_agent(prsm: Running, person: Visitor) -> None:
    """An agent is retired after a question that says how many units go to others."""
    assert not person("operator").page(AGENT).has_form("/console/agent/retire")
    browser = person("admin")
    asked = browser.act(AGENT, "/console/agent/retire")
    owned = agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.units_owned
    assert f"Its {owned} units go to the other agents." in read(asked.text).text
    said = _confirm(browser, AGENT, "/console/agent/retire", {})
    assert said.strip().startswith(f"{KYOTO} is retired")
    assert _last(prsm) == ("admin", "agent.retire", KYOTO)
    assert not browser.page(AGENT).has_form("/console/agent/retire")
    assert KYOTO not in browser.page("/console/agents").text


def test_trusting_an_agent(prsm: Running, person: Visitor) -> None:
    """The button is there while an agent is doubted; it asks first, and says what follows."""
    browser = person("operator")
    assert not browser.page(AGENT).has_form("/console/agent/believe")
    doubt(prsm.manager.db, KYOTO)
    asked = browser.act(AGENT, "/console/agent/believe")
    assert "plans use them" in read(asked.text).text
    said = _confirm(browser, AGENT, "/console/agent/believe", {})
    assert said.strip().startswith(f"{KYOTO} is trusted")
    assert _last(prsm)[1:] == ("agent.clear-doubts", KYOTO)
    assert not browser.page(AGENT).has_form("/console/agent/believe")


def test_limiting_the_next_lists(prsm: Running, person: Visitor) -> None:
    """The next lists of an agent allow 50 pages of a unit, or all."""
    browser = person("operator")
    browser.act(AGENT, "/console/agent/list-limit", {"pages": "50"})
    assert agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row.list_limit == 50
    browser.act(AGENT, "/console/agent/list-limit", {"pages": "all"})
    assert agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row.list_limit == 0
    assert browser.act(AGENT, "/console/agent/list-limit", {"pages": "7"}).status_code == 400
    form = browser.page(AGENT).form("/console/agent/list-limit")
    set_next_list_limit(prsm.manager.db, KYOTO, 7, ADMIN, prsm.clock())
    late = browser.submit(form, pages="50")
    assert (late.status_code, "changed since it was shown" in late.text) == (409, True)
    assert agent_detail(prsm.manager.db, KYOTO, prsm.clock()).view.row.list_limit == 7


def test_a_position_and_a_role_that_were_changed_meanwhile_stay(
    prsm: Running, person: Visitor
) -> None:
    """The second of two administrators is told, instead of undoing what the first did."""
    browser, db = person("admin"), prsm.manager.db
    place = browser.page(AGENT).form("/console/agent/position")
    set_position(db, KYOTO, Position(1, 2), ADMIN, prsm.clock())
    assert browser.submit(place, latitude="3", longitude="4").status_code == 409
    row = agent_detail(db, KYOTO, prsm.clock()).view.row
    assert (row.latitude, row.longitude) == (1, 2)
    role = browser.page("/console/user?name=viewer").form("/console/user/role")
    set_role(db, "viewer", "operator", ADMIN, prsm.clock())
    assert browser.submit(role, role="viewer").status_code == 409
    assert {user.name: user.role for user in list_users(db)}["viewer"] == "operator"


def test_an_administrator_is_made_after_a_question(prsm: Running, person: Visitor) -> None:
    """What the role may do is said first; other roles are set at once."""
    browser, page = person("admin"), "/console/user?name=viewer"
    assert browser.act(page, "/console/user/role", {"role": "operator"}).status_code == 303
    said = _confirm(browser, page, "/console/user/role", {"role": "admin"})
    assert "viewer is administrator now." in said or "viewer is admin now." in said
    assert {user.name: user.role for user in list_users(prsm.manager.db)}["viewer"] == "admin"


def test_limiting_how_it_sends(prsm: Running, person: Visitor) -> None:
    """Rate and hours of its segments; what is no number and no hour is refused."""
    browser, here = person("operator"), "/console/agent/sending"
    fields = {"rate": "250", "weekday": "02:00-08:00, 20:00-24:00", "weekend": "never"}
    done = browser.act(AGENT, here, fields)
    words = "at most 250,000 bytes/s; Monday to Friday 02:00-08:00 20:00-24:00"
    assert words in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "collection.set-limits", KYOTO)
    page = person("viewer").page(AGENT)
    assert "At most 250,000 bytes/s" in page.text
    assert not page.has_form(here)
    browser.act(AGENT, here, {"rate": "", "weekday": "", "weekend": ""})
    assert "Rate set by its site" in browser.page(AGENT).text
    for wrong in ({"rate": "fast"}, {"rate": "nan"}, {"rate": "1e999"}, {"weekday": "night"}):
        assert browser.act(AGENT, here, wrong).status_code == 400


def test_a_join_token_is_shown_once(prsm: Running, person: Visitor) -> None:
    """A token comes with the commands to use it, works, and stands nowhere afterwards."""
    browser = person("admin")
    answer = browser.act("/console/new-agent", "/console/new-agent", {"name": "Nara.Example.jp "})
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    page = read(answer.text)
    command = "prs enrol http://127.0.0.1 --name nara.example.jp "
    assert command in " ".join(page.text.split())
    token = shown_token(page)
    assert _last(prsm) == ("admin", "agent.create-token", "nara.example.jp")
    for path in ("/console/agents", "/console/audit", "/console/new-agent"):
        assert token not in browser.get(path).text
    joined = prsm.anybody.post(
        "/api/v1/enrol",
        json={"agent": "nara.example.jp", "token": token, "key_hash": "0" * 64, "kind": "plain"},
    )
    assert joined.status_code == 200
    assert "nara.example.jp" in browser.page("/console/agents").text
    wrong = browser.act("/console/new-agent", "/console/new-agent", {"name": "a b"})
    assert wrong.status_code == 400


def test_the_restart_page_changes_what_differs(prsm: Running, person: Visitor) -> None:
    """One form for all agents: restarts are asked once, limits are set, the rest stays."""
    browser = person("operator")
    here = "/console/restart?q=a&sort=-check"
    form = browser.page(here).form("/console/restart")
    assert form.fields[f"restart {KYOTO}"] == "no"
    assert "restart plain.example.ac.jp" not in form.fields  # ordered, and not done yet
    assert form.fields["pages osaka.example.ac.jp"] == "50"
    nothing = browser.submit(form)
    assert nothing.headers["location"] == here
    assert "already set" in _result(browser, nothing.headers["location"])
    before = _last(prsm)
    changes = {f"restart {KYOTO}": "yes", "pages osaka.example.ac.jp": "all"}
    asked = browser.submit(form, **changes)
    assert f"Restart {KYOTO}?" in read(asked.text).text
    assert _last(prsm) == before
    assert read(asked.text).form("/console/restart").fields["back"] == here
    done = browser.submit(read(asked.text).form("/console/restart"))
    assert done.headers["location"] == here
    said = _result(browser, here)
    assert "1 agent will restart" in said
    elsewhere = browser.submit(form, back="//evil.example/console/restart?q=")
    assert elsewhere.headers["location"] == "/console/restart"
    rows = {v.row.name: v.row for v in list_agents(prsm.manager.db, prsm.clock())}
    assert rows[KYOTO].restart_ordered_ms == prsm.clock()
    assert rows["osaka.example.ac.jp"].list_limit == 0
    assert rows["sendai.example.ac.jp"].restart_ordered_ms is None


def test_a_table_of_restarts_that_is_old_reverts_nothing(prsm: Running, person: Visitor) -> None:
    """A row acts only where it differs from what it showed; one that somebody else has changed
    meanwhile is refused by its name, with all others."""
    browser, osaka, sendai = person("operator"), "osaka.example.ac.jp", "sendai.example.ac.jp"
    form = browser.page("/console/restart").form("/console/restart")
    assert form.fields[f"pages {KYOTO}"] == "all"
    set_next_list_limit(prsm.manager.db, KYOTO, 50, ADMIN, prsm.clock())

    def limit_of(name: str) -> int | None:
        return agent_detail(prsm.manager.db, name, prsm.clock()).view.row.list_limit

    done = browser.submit(form, **{f"pages {sendai}": "50"})
    assert f"{sendai}." in _result(browser, done.headers["location"])
    assert (limit_of(KYOTO), limit_of(sendai)) == (50, 50)
    set_next_list_limit(prsm.manager.db, KYOTO, 7, ADMIN, prsm.clock())
    refused = browser.submit(form, **{f"pages {KYOTO}": "50", f"pages {osaka}": "all"})
    assert refused.status_code == 409
    assert f"{KYOTO}: changed since it was shown" in refused.text
    assert (limit_of(KYOTO), limit_of(osaka)) == (7, 50)
    fresh = browser.page("/console/restart").form("/console/restart")
    changes = {f"restart {sendai}": "yes", f"pages {KYOTO}": "50"}
    question = read(browser.submit(fresh, **changes).text)
    assert f"change their limit: {KYOTO}." in question.text
    set_next_list_limit(prsm.manager.db, KYOTO, 8, ADMIN, prsm.clock())
    assert browser.submit(question.form("/console/restart")).status_code == 409
    assert (limit_of(KYOTO), _last(prsm)[1]) == (8, "agent.set-list-limit")


def test_limits_that_were_changed_meanwhile_stay(prsm: Running, person: Visitor) -> None:
    """Forms that set several values at once are refused where others hold than they showed."""
    browser, db = person("operator"), prsm.manager.db
    rules = browser.page("/console/fleet-rules").form("/console/fleet-rules/limits")
    limits = "/console/fleet-rules/limits"
    for changes, status in (({"interval_s": "30"}, 303), ({"parallel_hosts": "5"}, 409)):
        question = read(browser.submit(rules, **changes).text).form(limits)
        assert browser.submit(question).status_code == status
    assert fleet_rules_of(db).limits == LimitsRow(interval_s=30.0)
    assert browser.submit(rules, interval_s="30").status_code == 303  # it holds already
    hours = browser.page(AGENT).form("/console/agent/sending")
    assert browser.submit(hours, rate="500").status_code == 303
    answer = browser.submit(hours, weekday="02:00-08:00")
    assert answer.status_code == 409
    assert f"{KYOTO}: the limits were changed since they were shown" in answer.text
    sending = limits_for_agent(agent_detail(db, KYOTO, prsm.clock()).view.row)
    assert sending is not None
    assert (sending.bytes_per_s, sending.weekday) == (500_000, ((0, 1440),))


def test_the_source_s_addresses_lead_here(person: Visitor) -> None:
    """The addresses of the source's servlets lead to the pages that replace them."""
    browser = person("viewer")
    assert browser.page("/servlets/listrobot").text.count("Agents")
    assert "Last restart check" in browser.page("/servlets/restart").text
    assert browser.get("/").headers["location"] == "/console/"


def test_excluding_and_including_a_host(prsm: Running, person: Visitor) -> None:
    """A host is excluded after a question, with the reason kept, and comes back on demand."""
    browser = person("operator")
    page, action = f"/console/host?host={HOST}", "/console/host/exclude"
    said = _confirm(browser, page, action, {"reason": "asked by its owner"})
    assert f"{HOST} is excluded" in said
    assert host_detail(prsm.manager.db, HOST).host.excluded_reason == "asked by its owner"
    assert "asked by its owner" in browser.page(page).text
    asked = browser.act(page, "/console/host/include")
    assert "asked by its owner" in asked.text
    assert host_detail(prsm.manager.db, HOST).host.excluded_ms is not None
    browser.submit(read(asked.text).form("/console/host/include"))
    assert host_detail(prsm.manager.db, HOST).host.excluded_ms is None
    assert _last(prsm) == ("operator", "host.include", HOST)


def test_splitting_and_merging_a_host(prsm: Running, person: Visitor) -> None:
    """The pieces are shown before a host is split; merging asks too; both are written down."""
    db = prsm.manager.db
    owner = agent_detail(db, KYOTO, prsm.clock()).view.row.id
    know_directories(db, HOST, owner)
    with db.write() as tx:  # the round of this scene is over for the host
        tx.execute(rights.delete())
        tx.execute(unit_rounds.delete())
    browser = person("operator")
    page = f"/console/host?host={HOST}"
    asked = browser.act(page, "/console/host/split", {"pieces": "2", "interval_s": "7"})
    question = read(asked.text)
    assert "Each waits 14 s between two requests" in question.text
    assert "/docs/" in question.text
    done = browser.submit(question.form("/console/host/split"))
    assert "is split among 2 agents" in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "host.split", HOST)
    shown = browser.page(page).text
    assert "Owner of /" in shown
    assert "Several agents may own its pieces at once" in shown
    assert "is one unit again" in _confirm(browser, page, "/console/host/merge", {})
    assert _last(prsm) == ("operator", "host.merge", HOST)
    refused = browser.act(page, "/console/host/split", {"pieces": "two"})
    assert "must be a number" in refused.text


def test_logs_are_reached_from_hosts_agents_rounds_and_reports(person: Visitor) -> None:
    """Each of them leads to its own lines, and to those that failed."""
    browser = person("viewer")
    host = f"/console/logs?host={HOSTS[5]}"
    hosts = browser.page(f"/console/host?host={HOST}").links()
    assert {host, f"{host}&status=bad", f"{host}&url=%2Frobots.txt"} <= set(hosts)
    agent = f"/console/logs?agent={KYOTO}"
    assert {agent, f"{agent}&status=bad"} <= set(browser.page(AGENT).links())
    for page in ("/console/rounds/3", "/console/reports"):
        (lines, *_) = [
            each
            for each in browser.page(page).links()
            if "/console/logs?" in each and "since" in each
        ]
        assert browser.get(lines).status_code == 200


def test_adding_hosts(prsm: Running, person: Visitor) -> None:
    """Hosts are typed in, a line each; lines that name none come back with the reason."""
    browser = person("operator")
    page = "/console/add-hosts"
    done = browser.act(page, page, {"lines": "www.new.jp\nhttps://www.other.jp/deep/page.html\n"})
    assert "2 hosts are new" in _result(browser, done.headers["location"])
    assert list_hosts(prsm.manager.db).matching
    assert "www.other.jp" in browser.page("/console/hosts?q=other.jp").text
    wrong = browser.act(page, page, {"lines": "www.third.jp\nhttp://a b/\n"})
    assert wrong.status_code == 400
    left = read(wrong.text)
    assert "line 2" in left.text
    assert left.form(page).fields["lines"] == "http://a b/"


def test_cancelling_and_starting_a_round(prsm: Running, person: Visitor) -> None:
    """A round is cancelled after a question, with a reason; the next one starts by a form."""
    browser = person("operator")
    running = current_round(prsm.manager.db)
    assert running is not None
    can_start = browser.page("/console/rounds").has_form("/console/rounds/start")
    assert can_start == (running.state == "crawling")  # rounds may overlap
    asked = read(browser.act("/console/rounds/3", "/console/rounds/cancel").text)
    form = asked.form("/console/rounds/cancel")
    done = browser.submit(form, reason="the network is down")
    assert "Round 3 is cancelled." in _result(browser, done.headers["location"])
    assert "the network is down" in browser.page("/console/rounds/3").text
    assert current_round(prsm.manager.db) is None
    form = browser.page("/console/rounds").form("/console/rounds/start")
    assert form.fields["probe"] == "yes"
    assert browser.submit(form, method="keep", moves="many").status_code == 400
    assert browser.submit(form, method="keep", moves="101").status_code == 400
    done = browser.submit(form, method="keep", moves="2.5")
    assert done.headers["location"] == "/console/rounds/4"
    current = current_round(prsm.manager.db)
    assert current is not None
    assert (current.method, current.probe, current.started_by) == ("keep", True, "operator")
    assert current.plan_moves == 0.025
    late = browser.submit(form, method="keep")
    assert late.status_code == 409
    assert "round 4 is probing" in late.text
    asked = read(browser.act("/console/rounds/4", "/console/rounds/use-predictions").text)
    assert "Plan round 4 with predictions?" in asked.text
    done = browser.submit(asked.form("/console/rounds/use-predictions"))
    assert done.headers["location"] == "/console/rounds/4"
    current = current_round(prsm.manager.db)
    assert current is not None
    assert current.predicted_ms is not None


def test_carried_work_is_cancelled_on_the_page_of_rounds(prsm: Running, person: Visitor) -> None:
    """Between two rounds it is shown, and stopped after a question."""
    browser = person("operator")
    assert not browser.page("/console/rounds").has_form("/console/rounds/cancel")
    db = prsm.manager.db
    while (running := current_round(db)) is not None:
        cancel_round(db, ADMIN, START_MS, meant=running.number)
    with db.write() as tx:
        (unit, owner) = tx.tuples(
            sa.select(assignments.c.unit_id, assignments.c.agent_id)
            .where(assignments.c.until_ms.is_(None))
            .limit(1)
        )[0]
        number = next_round(tx)
        round_units.carry_into(tx, number, {unit: owner})
    assert "Carried work" in browser.page("/console/rounds").text
    asked = read(browser.act("/console/rounds", "/console/rounds/cancel").text)
    done = browser.submit(asked.form("/console/rounds/cancel"), reason="not needed")
    assert done.headers["location"] == f"/console/rounds/{number}"
    assert "not needed" in browser.page(f"/console/rounds/{number}").text
    assert carried_work(db) is None


def test_a_plan_is_looked_at_before_it_is_applied(prsm: Running, person: Visitor) -> None:
    """A preview moves nothing; applying asks once and moves what the preview said."""
    browser = person("operator")
    made = browser.act("/console/balance", "/console/plans", {"method": "random"})
    page = made.headers["location"]
    assert "nothing was moved" in _result(browser, page)
    plan = list_plans(prsm.manager.db)[0]
    assert page == f"/console/plans/{plan.id}"
    assert (plan.applied_ms, plan.method, plan.made_by) == (None, "random", "operator")
    first = plan_detail(prsm.manager.db, plan.id).moves[0]
    said = _confirm(browser, page, f"{page}/apply", {})
    assert f"{plan.moves} units moved" in said
    assert not browser.page(page).has_form(f"{page}/apply")
    owner = browser.page(f"/console/host?host={first.unit}")
    assert first.taker in owner.text
    for moves, status in (("0", 303), ("101", 400), ("few", 400)):
        asked = {"method": "default", "moves": moves}
        assert browser.act("/console/balance", "/console/plans", asked).status_code == status
    unknown = browser.post("/console/plans", {"csrf": browser.csrf, "method": "luck"})
    assert unknown.status_code == 400


def test_an_administrator_manages_users(prsm: Running, person: Visitor) -> None:
    """Users are added, get another role or password, are disabled after a question, enabled."""
    browser = person("admin")
    fields = {"name": "koji", "role": "operator", "password": "a long enough one"}
    done = browser.act("/console/new-user", "/console/new-user", fields)
    assert "koji may log in now, as operator." in _result(browser, done.headers["location"])
    koji = Browser(prsm.public)
    assert koji.log_in("koji", "a long enough one").status_code == 303
    page = "/console/user?name=koji"
    browser.act(page, "/console/user/role", {"role": "viewer"})
    assert koji.get("/console/add-hosts").status_code == 403
    password = "/console/user/password"
    assert not browser.page(page).has_form(password)
    new = {"password": "another long one"}
    done = browser.act(f"{password}?name=koji", password, new)
    said = _result(browser, done.headers["location"])
    assert "koji has a new password, and was logged out everywhere." in said
    assert "Tokens" not in said
    assert koji.get("/console/agents").status_code == 303
    assert koji.log_in("koji", "another long one").status_code == 303
    _confirm(browser, page, "/console/user/disable", {})
    assert koji.get("/console/agents").status_code == 303
    browser.act(page, "/console/user/enable")
    assert koji.log_in("koji", "another long one").status_code == 303
    assert _last(prsm)[1] == "user.login"


def test_a_new_password_offers_to_revoke_tokens(prsm: Running, person: Visitor) -> None:
    """The page says that there are some; the next one what became of them."""
    prsm.local.post("/api/v1/tokens", json={"user": "viewer", "name": "nightly"})
    browser, path = person("admin"), "/console/user/password"
    page = browser.page(f"{path}?name=viewer")
    assert "1 token of this user's scripts stays valid" in page.text
    form = page.form(path)
    assert "tokens" not in form.fields
    done = browser.submit(form, password="another long one")
    assert "Tokens still valid: 1." in _result(browser, done.headers["location"])
    done = browser.submit(form, password="another long one", tokens="yes")
    assert "Tokens revoked: 1." in _result(browser, done.headers["location"])
    assert "keep their own tokens" not in browser.page(f"{path}?name=viewer").text


def test_what_is_wrong_with_a_new_user_is_said_beside_the_form(
    prsm: Running, person: Visitor
) -> None:
    """A short password or a taken name is said, name and role stay as they were typed."""
    browser = person("admin")
    short = {"name": "koji", "role": "operator", "password": "short"}
    for fields, status, words in (
        (short, 400, "must be 12 to"),
        ({**short, "name": "viewer", "password": PASSWORD}, 409, "exists already"),
        ({**short, "name": "<b>", "password": PASSWORD}, 400, "user name"),
        ({**short, "role": "god", "password": PASSWORD}, 400, "must be one of viewer"),
    ):
        answer = browser.act("/console/new-user", "/console/new-user", fields)
        assert answer.status_code == status
        page = read(answer.text)
        assert words in page.text
        assert page.form("/console/new-user").fields["name"] == fields["name"]
    assert len(list_users(prsm.manager.db)) == 3
    answer = browser.act(
        "/console/user/password?name=viewer", "/console/user/password", {"password": "short"}
    )
    assert answer.status_code == 400
    assert "must be 12 to" in answer.text


def test_the_last_administrator_stays(person: Visitor) -> None:
    """Nobody can take the last administrator's role away, not even that administrator."""
    browser = person("admin")
    answer = browser.act("/console/user?name=admin", "/console/user/role", {"role": "viewer"})
    assert answer.status_code == 409
    assert "last administrator" in answer.text
    assert browser.get("/console/users").status_code == 200


def test_the_nearest_other_agent_is_offered_first(prsm: Running, person: Visitor) -> None:
    """Who moves a host has the best taker chosen already, of those that measured it: neither its
    owner nor who is banned."""
    browser, page = person("operator"), f"/console/host?host={HOST}"
    detail = host_detail(prsm.manager.db, HOST)
    owners = {row.agent_id for row in detail.owners if row.until_ms is None}
    lengths = {
        detail.agents[row.agent_id]: row.ms_per_kb
        for row in detail.distances
        if row.agent_id not in owners and row.ms_per_kb is not None and row.state != "predicted"
    }
    nearest, next_one, *_ = sorted(lengths, key=lambda name: lengths[name])
    assert browser.page(page).form("/console/host/move").fields["agent"] == nearest
    _confirm(browser, page, "/console/host/ban", {"agent": nearest, "reason": ""})
    assert browser.page(page).form("/console/host/move").fields["agent"] == next_one


def test_pinning_and_banning_on_a_hosts_page(prsm: Running, person: Visitor) -> None:
    """Both are asked once, shown on the page with who did it, and taken back with one button."""
    browser = person("operator")
    page = f"/console/host?host={HOST}"
    how = {"agent": KYOTO, "reason": "near", "keep": "yes"}
    said = _confirm(browser, page, "/console/host/move", how)
    assert f"is pinned to {KYOTO}." in said
    assert _last(prsm) == ("operator", "unit.pin", HOST)
    (pin,) = host_detail(prsm.manager.db, HOST).pins
    assert (pin.agent, str(pin.reason)) == (KYOTO, "near")
    assert "near" in browser.page(page).text
    refused = browser.act(page, "/console/host/ban", {"agent": KYOTO})
    assert browser.submit(read(refused.text).form("/console/host/ban")).status_code == 409
    browser.act(page, "/console/host/unpin")
    said = _confirm(browser, page, "/console/host/ban", {"agent": KYOTO})
    assert f"is banned from {KYOTO}" in said
    browser.act(page, "/console/host/lift-ban")
    assert host_detail(prsm.manager.db, HOST).bans == []
    assert _last(prsm) == ("operator", "host.lift-ban", HOST)
    assert "/console/host/move" not in person("viewer").get(page).text


def test_moving_a_host_on_its_page(prsm: Running, person: Visitor) -> None:
    """It is asked once, goes to the agent now, and is not pinned."""
    browser = person("operator")
    page = f"/console/host?host={HOST}"
    taker = browser.page(page).form("/console/host/move").fields["agent"]
    said = _confirm(browser, page, "/console/host/move", {"reason": "near"})
    assert f"goes to {taker}: 1 unit moved" in said.replace("\xa0", " ")
    assert _last(prsm) == ("operator", "unit.move", HOST)
    detail = host_detail(prsm.manager.db, HOST)
    assert detail.pins == []
    assert [detail.agents[row.agent_id] for row in detail.owners if row.until_ms is None] == [taker]


def test_acts_on_a_host_stand_before_its_tables(person: Visitor) -> None:
    """The title leads to them, and they come before the first table."""
    text = person("operator").get(f"/console/host?host={HOST}").text
    assert 'href="#acts"' in text
    last = max(text.index(f'action="/console/host/{act}"') for act in ("move", "ban", "exclude"))
    assert text.index('id="acts"') < last < text.index("<table")
    assert 'href="#acts"' not in person("viewer").get(f"/console/host?host={HOST}").text


def test_the_last_plan_is_taken_back_on_its_page(prsm: Running, person: Visitor) -> None:
    """A preview shows the other methods; applied, it can be taken back after one question."""
    browser = person("operator")
    page = browser.act("/console/balance", "/console/plans", {"method": "random"})
    preview = page.headers["location"]
    assert "Comparison with other methods" in browser.page(preview).text
    assert "/console/plans/undo" not in browser.get(preview).text
    _confirm(browser, preview, f"{preview}/apply", {})
    said = _confirm(browser, preview, "/console/plans/undo", {})
    number = int(preview.rsplit("/", 1)[1])
    assert f"Plan {number} is undone" in said
    assert _last(prsm) == ("operator", "plan.undo", str(number))
    assert "Undone by" in browser.page(preview).text
    assert "/console/plans/undo" not in person("viewer").get(preview).text


def test_agents_are_asked_to_send(prsm: Running, person: Visitor) -> None:
    """By a schedule or now; orders and schedules are taken back, transfers given up."""
    browser, here = person("operator"), "/console/collection"
    agent = "kyoto.example.ac.jp"
    fields = {"crontab": "0 3 * * *", "zone": "Asia/Tokyo", "condition": "difference"}
    done = browser.act(here, f"{here}/schedules", fields)
    assert "03:00 JST" in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "collection.add-schedule", "all agents")
    period = {"agent": agent, "condition": "period", "first": "2026-11-20", "end": "2026-11-22"}
    done = browser.act(here, f"{here}/orders", period)
    assert "is asked to send" in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "collection.order", agent)
    assert "no answer from the agent yet" in person("viewer").page(here).text
    wrong = browser.act(here, f"{here}/orders", period | {"end": ""})
    assert wrong.status_code == 400
    assert "period a first day and an end" in wrong.text
    assert browser.act(here, f"{here}/orders", period | {"end": "soon"}).status_code == 400
    browser.act(here, f"{here}/orders/cancel", {"order": "1"})
    assert _last(prsm) == ("operator", "collection.cancel-order", "1")
    assert "Schedule 1 is removed." in _confirm(browser, here, f"{here}/schedules/remove", {})
    assert "0%" in browser.page(here).text
    said = _confirm(browser, here, f"{here}/transfers/give-up", {})
    assert "Transfer 1 is cancelled." in said
    assert "cancelled by operator" in browser.page(f"{here}?state=cancelled").text


def test_all_agents_are_asked_to_send_and_a_schedule_runs_now(
    prsm: Running, person: Visitor
) -> None:
    """All of them after a question; a schedule's orders at once; how many is said."""
    browser, here = person("operator"), "/console/collection"
    wrong = browser.act(here, f"{here}/orders", {"condition": "since"})
    assert wrong.status_code == 400
    said = _confirm(browser, here, f"{here}/orders", {"condition": "full", "pull": "yes"})
    asked = list_orders(prsm.manager.db, state="open")
    assert len(asked) > 1
    assert {(one.condition, one.way) for one in asked} == {("full", "pull")}
    assert f"{len(asked)} agents are asked to send" in said
    assert _last(prsm) == ("operator", "collection.order", "all agents")
    browser.act(here, f"{here}/schedules", {"crontab": "0 3 * * *", "zone": "Asia/Tokyo"})
    done = browser.act(here, f"{here}/schedules/run")
    assert f"{len(asked)} agents are asked" in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "collection.run-schedule", "1")
    assert browser.act(here, f"{here}/schedules/run").status_code == 409


@pytest.mark.parametrize("here", ["/console/collection", "/console/rounds"])
def test_a_schedule_is_edited(prsm: Running, person: Visitor, here: str) -> None:
    """The form has it; saved, it is another under its number; a stale form is refused."""
    browser = person("operator")
    first = {
        "/console/collection": {"condition": "period", "first": "2026-11-20", "end": "2026-11-22"},
        "/console/rounds": {"method": "keep", "moves": "12.5", "no_probe": "yes"},
    }[here]
    browser.act(here, f"{here}/schedules", {"crontab": "0 3 * * *", "zone": "Asia/Tokyo"} | first)
    assert f"{here}?edit=1#schedule" in browser.page(here).links()
    form = browser.page(f"{here}?edit=1").form(f"{here}/schedules/change")
    assert form.fields.items() >= {"crontab": "0 3 * * *", "zone": "Asia/Tokyo", **first}.items()
    prsm.clock.advance(1)
    done = browser.submit(form, crontab="0 5 * * *")
    assert "05:00 JST" in _result(browser, done.headers["location"])
    action = "round.change-schedule" if here.endswith("rounds") else "collection.change-schedule"
    assert _last(prsm) == ("operator", action, "1")
    now = browser.page(f"{here}?edit=1").form(f"{here}/schedules/change")
    assert now.fields.items() >= {"crontab": "0 5 * * *", **first}.items()
    stale = browser.submit(form, crontab="0 6 * * *")
    assert stale.status_code == 409
    assert "changed since it was shown" in stale.text
    assert not [one for one in browser.page(f"{here}?edit=9").forms if "/change" in one.action]


def test_rounds_by_the_clock_are_kept_on_the_page_of_rounds(prsm: Running, person: Visitor) -> None:
    """Added with the next run in words, removed after a question, shown to viewers, too."""
    browser = person("operator")
    fields = {"crontab": "0 2 * * *", "zone": "Asia/Tokyo", "method": "keep"}
    done = browser.act("/console/rounds", "/console/rounds/schedules", fields)
    assert "02:00 JST" in _result(browser, done.headers["location"])
    assert _last(prsm) == ("operator", "round.add-schedule", "1")
    assert "02:00 JST" in person("viewer").page("/console/rounds").text
    wrong = browser.act("/console/rounds", "/console/rounds/schedules", {"crontab": "nightly"})
    assert wrong.status_code == 400
    said = _confirm(browser, "/console/rounds", "/console/rounds/schedules/remove", {})
    assert "Schedule 1 is removed." in said
    assert "Planned and measured" in browser.page("/console/rounds/2").text
