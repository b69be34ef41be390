"""A crawl whose names lead nowhere looks like what it is: import, round, agent, alerts, console."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.settings import Home
from tests.e2e.fleet import Fleet, running_fleet
from tests.e2e.name_server import Lent
from tests.manager.console.markup import read
from tools.demo.system import BIN, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HOSTS = 4
PASSWORD = "correct horse battery"
NXDOMAIN = "no such name (NXDOMAIN)"
CALM: dict[str, Any] = {
    "hosts": HOSTS,
    "regions": 1,
    "trouble_scale": 0,
    "seed": 5,
    "pages_mean": 3.0,
}


def said(fleet: Fleet, *words: str) -> str:
    """Return what a `prsm` command prints for a person."""
    result = subprocess.run(
        [str(BIN / "prsm"), "--data", str(fleet.manager.data), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


def troubles(fleet: Fleet) -> dict[str, str]:
    return {one["key"]: one["text"] for one in fleet.manager.prsm("alerts")["troubles"]}


def page(fleet: Fleet, path: str) -> str:
    """Return the text of a page of the console."""
    with httpx.Client(base_url=fleet.manager.url, follow_redirects=True, timeout=60) as client:
        form = read(client.get("/console/login").text).form("/console/login")
        client.post(
            "/console/login",
            data=form.fields | {"name": "hana", "password": PASSWORD},
            headers={"Sec-Fetch-Site": "same-origin"},
        )
        answer = client.get(path)
        assert answer.status_code == 200, answer.text[-500:]
        return read(answer.text).text


def test_a_manager_that_resolves_nothing(tmp_path: Path) -> None:
    """Import, status, alerts and the console name the reason; looking up again mends it."""
    names = Lent(0, "NXDOMAIN")
    with running_fleet(tmp_path, agents=1, manager_names=names, **CALM) as fleet:
        fleet.manager.add_user("hana", PASSWORD, "admin")
        seeds = str(tmp_path / "web" / "seeds.txt")
        known = said(fleet, "hosts", "import", "--wait", seeds)
        count = len(fleet.owners())
        assert f"names: 0 resolved, {count} unresolved" in known
        assert f"{count} {NXDOMAIN}" in known
        assert "`prsm hosts resolve` looks up again" in known
        refused = said(fleet, "rounds", "start")
        assert f"none of {count} known hosts has an address ({count} hosts: {NXDOMAIN})" in refused
        status = said(fleet, "status")
        assert re.search(rf"unresolved\s+{count} {re.escape(NXDOMAIN)}", status)
        assert f"! the manager has no address of {count} of {count} hosts" in status
        assert "dns.servers" in troubles(fleet)["names:"]
        assert "Nothing is wrong" not in said(fleet, "alerts")
        shown = page(fleet, "/console/alerts")
        assert "Nothing is wrong" not in shown
        assert "he manager has no address of" in shown
        assert NXDOMAIN in page(fleet, "/console/hosts")
        assert "cannot resolve" in page(fleet, "/console/")

        names.failure = ""
        again = said(fleet, "hosts", "resolve", "--wait")
        assert f"{count} names are looked up again" in again
        assert f"names: {count} resolved, 0 unresolved" in again
        [row] = fleet.manager.prsm("audit", "--action", "host.resolve")
        assert json.loads(row["detail"])["hosts"] == count
        assert "names:" not in troubles(fleet)
        assert fleet.run_round("default", 120)["units"] == {"finished": count}


def test_an_agent_that_resolves_nothing(tmp_path: Path) -> None:
    """Its units failed, and are not finished, in every count; the next round ends the alert."""
    names = Lent(0, "NXDOMAIN")
    with running_fleet(tmp_path, agents=1, agent_names={0: names}, **CALM) as fleet:
        fleet.manager.add_user("hana", PASSWORD, "admin")
        detail = fleet.run_round("default", 120)
        count = len(fleet.owners())
        assert detail["units"] == {"failed": count}
        assert detail["failures"] == {"no_such_name": count}
        assert [one["failures"] for one in detail["agents"]] == [{"no_such_name": count}]
        number = detail["round"]["number"]
        assert re.search(rf"units\s+{count} failed", said(fleet, "rounds", "show"))
        report = fleet.manager.prsm("rounds", "report", str(number))
        assert (report["units"], report["agents"][0]["failed"]) == ({"failed": count}, count)

        agent = fleet.agents[0]
        status = agent.prs("status")
        assert f"0 of {count} units finished, {count} failed: {count} {NXDOMAIN}" in status
        counts: dict[str, Any] = json.loads(agent.prs("status", "--json"))["status"]
        assert (counts["units_failed"], counts["pages"]) == (count, 0)
        assert counts["errors"] >= count
        assert f"{count} of {count} hosts failed" in " ".join(counts["wrong"])
        sent = b"".join(
            gzip.decompress(path.read_bytes().split(b"\n", 1)[1])
            for path in Home(agent.home).sent.iterdir()
        )
        assert sent.count(b',0,0,0,"X-Crawl-Outcome: no_such_name') >= count

        found = troubles(fleet)
        assert f"no address of {count} of {count} hosts" in found[f"agent-names:{agent.name}"]
        assert "agent-names" in said(fleet, "alerts")
        assert f"! agent {agent.name} found no address" in said(fleet, "status")
        shown = page(fleet, f"/console/rounds/{number}")
        assert "No page was fetched from" in shown
        assert NXDOMAIN in shown
        assert "found no address of" in page(fleet, "/console/alerts")
        assert NXDOMAIN in page(fleet, f"/console/agent?name={agent.name}")

        names.failure = ""
        agent.stop()  # what it knows of names is in its memory
        agent.start()
        assert fleet.run_round("default", 120)["units"] == {"finished": count}
        assert f"agent-names:{agent.name}" not in troubles(fleet)
        wait_for(
            "a status of the new list",
            lambda: f"{count} of {count} units finished\n" in agent.prs("status"),
            seconds=60,
        )
