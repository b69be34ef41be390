"""What the console shows of names without an address, units that failed, and old names."""

from __future__ import annotations

import json

import sqlalchemy as sa

from manager.db.tables import agents, hosts, unit_rounds
from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import audit_page
from shared.host_failures import HostFailure
from shared.messages import Message
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import read
from tests.manager.running import Running

NXDOMAIN = "no such name (NXDOMAIN)"
AGENT = "kyoto.example.ac.jp"
ROUND = 2


def fail_names(prsm: Running) -> int:
    """Let the last look-up of each host have failed; return how many there are."""
    with prsm.manager.db.read() as tx:
        rows = tx.execute(sa.select(hosts.c.id, hosts.c.key).where(hosts.c.excluded_ms.is_(None)))
        found = [
            Resolution(
                row.id, row.key, (), Message.of_text("it has no address"), HostFailure.NO_SUCH_NAME
            )
            for row in rows
        ]
    record_resolutions(prsm.manager.db, found, prsm.clock(), prsm.manager.policy)
    return len(found)


def fail_units(prsm: Running) -> int:
    """Let all units of an agent in a round have failed; return how many."""
    with prsm.manager.db.write() as tx:
        agent_id = tx.value(sa.select(agents.c.id).where(agents.c.name == AGENT))
        return tx.changed(
            unit_rounds.update()
            .where(unit_rounds.c.round == ROUND, unit_rounds.c.agent_id == agent_id)
            .values(state="failed", failure="no_such_name", pages=0, bytes=0)
        )


def test_hosts_without_an_address_are_shown_with_reasons(prsm: Running, person: Visitor) -> None:
    """On the page of hosts, the overview and among the alerts; all is well before."""
    viewer = person("viewer")
    assert "Hosts without an address" not in viewer.page("/console/hosts").text
    count = fail_names(prsm)
    listed = viewer.page("/console/hosts")
    assert "Hosts without an address" in listed.text
    assert NXDOMAIN in listed.text
    assert not listed.has_form("/console/hosts/resolve"), "a viewer orders nothing"
    assert f"cannot resolve {count} of {count} hosts" in viewer.page("/console/").text
    alerts = viewer.page("/console/alerts")
    assert "No open alerts" not in alerts.text
    assert f"he manager has no address of {count} of {count} hosts" in alerts.text
    assert any(
        "/console/hosts?state=new" in (link.attributes.get("href") or "")
        for link in alerts.all("a")
    )


def test_all_names_are_looked_up_again_by_a_button(prsm: Running, person: Visitor) -> None:
    """As `prsm hosts resolve` does, with its audit row."""
    count = fail_names(prsm)
    operator = person("operator")
    done = operator.follow(operator.act("/console/hosts", "/console/hosts/resolve"))
    assert f"{count} names are looked up again" in read(done.text).text
    (row,) = audit_page(prsm.manager.db, limit=5, action="host.resolve")
    assert (row.actor_name, json.loads(row.detail)) == ("operator", {"hosts": count})
    assert len(hosts_to_resolve(prsm.manager.db, prsm.clock(), 1000)) >= count


def test_one_name_is_looked_up_again_by_a_button(prsm: Running, person: Visitor) -> None:
    """On the page of the host, which says by which failure it has no address."""
    fail_names(prsm)
    operator = person("operator")
    page = f"/console/host?host={HOSTS[5]}"
    assert NXDOMAIN in operator.page(page).text
    done = operator.follow(operator.act(page, "/console/host/resolve"))
    assert "is looked up again at the manager's next tick" in read(done.text).text
    host = host_detail(prsm.manager.db, HOSTS[5]).host
    assert host.resolve_after_ms == prsm.clock()


def test_units_that_failed_are_shown_beside_those_that_are_finished(
    prsm: Running, person: Visitor
) -> None:
    """In the round's bar, its numbers, its report and its CSV; on the agent's page."""
    viewer = person("viewer")
    page = f"/console/rounds/{ROUND}"
    assert "No page was fetched from" not in viewer.page(page).text
    count = fail_units(prsm)
    assert count > 1
    shown = viewer.page(page).text
    assert f"No page was fetched from: {count} {NXDOMAIN}" in " ".join(shown.split())
    assert f"{count} failed" in shown
    lines = viewer.get(f"{page}.csv").text.splitlines()
    assert lines[0].split(",")[:3] == ["agent", "units", "failed"]
    (own,) = (line for line in lines if line.startswith(AGENT))
    assert own.split(",")[1:3] == [str(count), str(count)]
    assert f"{count} failed" in viewer.page(f"/console/agent?name={AGENT}").text


def test_settings_under_old_names_are_shown(prsm: Running, person: Visitor) -> None:
    """On the page of their agent, with the new name; no others have any."""
    viewer = person("viewer")
    page = f"/console/agent?name={AGENT}"
    assert "old name" not in viewer.page(page).text
    said = json.dumps([{"old": "network.resolver", "new": "dns.servers"}])
    with prsm.manager.db.write() as tx:
        tx.execute(agents.update().where(agents.c.name == AGENT).values(renamed_settings=said))
    text = viewer.page(page).text
    assert "Renamed setting" in text
    assert "network.resolver is now called dns.servers" in text
    found = viewer.get(f"/api/v1/agents/{AGENT}").json()
    assert found["agent"]["renamed_settings"] == json.loads(said)
