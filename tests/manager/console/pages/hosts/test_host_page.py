"""The page of a host that a large fleet has measured: short, and all of it within reach."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from manager.console.pages.hosts.host import DISTANCES_MOST, ROWS_MOST
from manager.db.tables import agents, assignments, distances, host_sums, rights, rounds
from manager.operations.hosts.host_views import HostDetail, host_detail
from manager.operations.rounds.rounds import current_round
from tests.manager.console.conftest import Visitor
from tests.manager.console.filled import HOSTS
from tests.manager.console.markup import Markup, read
from tests.manager.running import START_MS, Running

HOST: Final = f"http://{HOSTS[5]}:80/"
PAGE: Final = f"/console/host?host={HOST}"
MORE: Final = 120


def _measured_by_many(prsm: Running) -> HostDetail:
    """Let agents that are nearer than any other measure the host; its owner is the farthest."""
    detail = host_detail(prsm.manager.db, HOST)
    (owner,) = (row for row in detail.owners if row.until_ms is None)
    with prsm.manager.db.write() as tx:
        names = [f"near{number:03}.example" for number in range(MORE)]
        tx.insert(agents, [{"name": n, "kind": "sync", "joined_ms": START_MS} for n in names])
        ids = {row.name: row.id for row in tx.execute(sa.select(agents.c.id, agents.c.name))}
        tx.insert(
            distances,
            [
                {"unit_id": owner.unit_id, "agent_id": ids[name], "measured_ms": START_MS,
                 "round": 2, "kind": "probe", "lines": 9, "bytes": 10**9, "ms": place + 1,
                 "ms_per_kb": 1e-6 * (place + 1)}
                for place, name in enumerate(names)
            ],
        )  # fmt: skip
        tx.execute(
            distances.update()
            .where(distances.c.unit_id == owner.unit_id, distances.c.agent_id == owner.agent_id)
            .values(ms=10**9)
        )
    return host_detail(prsm.manager.db, HOST)


def _named(page: Markup) -> list[str]:
    """Return the agents of the table of distances."""
    rows = [
        each.attributes
        for each in page.all("a")
        if each.attributes.get("href", "").startswith("/console/agent?name=near")
    ]
    return [each["href"].partition("=")[2] for each in rows]


def test_the_nearest_and_the_owner_are_shown(prsm: Running, person: Visitor) -> None:
    """Of many distances the nearest stand there, and the owner's; the others are a link away."""
    detail = _measured_by_many(prsm)
    (owner,) = (detail.agents[row.agent_id] for row in detail.owners if row.until_ms is None)
    browser = person("viewer")
    page = browser.page(PAGE)
    assert _named(page) == [f"near{number:03}.example" for number in range(DISTANCES_MOST)]
    marked = [each for each in page.all("th") if owner in each.text and "owner" in each.text]
    assert len(marked) == 1
    (more,) = [each for each in page.links() if each.startswith("/console/probes/distances?")]
    assert f"{len(detail.distances) - DISTANCES_MOST - 1} more" in page.text
    assert _named(browser.page(f"{more}&size=200"))[:MORE] == [
        f"near{number:03}.example" for number in range(MORE)
    ]


def test_a_large_fleet_is_listed_once(prsm: Running, person: Visitor) -> None:
    """One list of names serves each field for an agent; what is typed there is done."""
    _measured_by_many(prsm)
    browser = person("operator")
    page = browser.page(PAGE)
    assert [each.attributes["id"] for each in page.all("datalist")] == ["agents-named"]
    offered = [each.attributes["value"] for each in page.all("option")]
    assert len([name for name in offered if name.startswith("near")]) == MORE
    fields = [each for each in page.all("input") if each.attributes.get("list") == "agents-named"]
    assert len(fields) == 3
    assert page.form("/console/host/move").fields["agent"] == "near000.example"
    asked = browser.act(PAGE, "/console/host/ban", {"agent": "near077.example"})
    done = browser.submit(read(asked.text).form("/console/host/ban"))
    assert done.status_code == 303
    assert [ban.agent for ban in host_detail(prsm.manager.db, HOST).bans] == ["near077.example"]


def test_a_small_fleet_is_a_menu(person: Visitor) -> None:
    """Few agents are chosen without typing."""
    page = person("operator").page(PAGE)
    assert not page.all("datalist")
    assert len([each for each in page.all("select") if each.attributes["name"] == "agent"]) == 3


def test_rows_that_are_left_out_are_counted(prsm: Running, person: Visitor) -> None:
    """Of many rounds the newest stand there, and how many came before."""
    before = host_detail(prsm.manager.db, HOST)
    (owner,) = (row for row in before.owners if row.until_ms is None)
    key = {"unit_id": owner.unit_id, "agent_id": owner.agent_id, "kind": "crawl"}
    with prsm.manager.db.write() as tx:
        rows = [{**key, "round": 1000 + n, "last_ms": START_MS} for n in range(ROWS_MOST + 7)]
        tx.insert(host_sums, rows)
    page = person("viewer").page(PAGE)
    rounds = [each for each in page.links() if each.startswith("/console/rounds/10")]
    assert rounds == [f"/console/rounds/{1056 - n}" for n in range(ROWS_MOST)]
    assert f"{len(before.sums) + 7} more" in page.text


def _may_fetch(person: Visitor, host: str = HOST) -> str:
    text = " ".join(person("viewer").page(f"/console/host?host={host}").text.split())
    return text.partition("Right to fetch")[2].partition("Volume")[0].strip()


def test_why_nobody_may_fetch_a_host_is_said(prsm: Running, person: Visitor) -> None:
    """What stops it first: it is excluded, no round, probes, no owner, or its owner's permit."""
    db = prsm.manager.db
    with db.write() as tx:
        tx.execute(rights.delete())
    assert _may_fetch(person, f"http://{HOSTS[0]}:80/") == "no agent: the host is excluded"
    current = current_round(db)
    assert current is not None
    assert _may_fetch(person) == f"no agent: round {current.number} is still probing"

    def during(row_state: str) -> None:
        with db.write() as tx:
            tx.execute(rounds.update().where(rounds.c.number == current.number).values(
                state=row_state, open=None if row_state == "cancelled" else 1))  # fmt: skip

    during("crawling")
    (owner,) = [row for row in host_detail(db, HOST).owners if row.until_ms is None]
    name = host_detail(db, HOST).agents[owner.agent_id]
    for permit_ms, why in (
        (START_MS - 1, f"no agent: the permit of {name} has expired"),
        (START_MS + 1, f"no agent: waiting for the next contact of {name}, or done in round"),
    ):
        with db.write() as tx:
            tx.execute(
                agents.update()
                .where(agents.c.id == owner.agent_id)
                .values(permit_until_ms=permit_ms)
            )
        assert _may_fetch(person).startswith(why)
    with db.write() as tx:
        tx.execute(assignments.update().values(until_ms=START_MS))
    assert _may_fetch(person) == "no agent: the host has no owner"
    during("cancelled")
    assert _may_fetch(person) == "no agent: no round is running"
