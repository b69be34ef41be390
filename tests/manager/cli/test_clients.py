"""`prsm clients`, `prsm archive`: third parties, their tokens, what they take."""

from __future__ import annotations

import json

from tests.manager.archived import collected, hold, page
from tests.manager.asgi import Caller
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running


def test_a_life_of_a_client(manager: Running, prsm: Prsm) -> None:
    """Registered, given a token that opens, listed, revoked, disabled."""
    assert "No third party yet" in prsm("clients").output
    prsm("clients", "add", "library", "--contact", "a@library.example")
    made = json.loads(prsm("clients", "token", "library", "--days", "7", "--json").output)
    mine = Caller(manager.public, headers={"Authorization": f"Bearer {made['token']}"})
    assert mine.get("/wasapi/v1/webdata").status_code == 200
    listed = prsm("clients").output
    assert "library" in listed
    assert made["token"] not in prsm("clients", "--json").output
    prsm("clients", "revoke", "library", str(made["id"]))
    assert mine.get("/wasapi/v1/webdata").status_code == 403
    prsm("clients", "disable", "library")
    prsm("clients", "disable", "library", "--again")


def test_the_archive_in_words(manager: Running, prsm: Prsm) -> None:
    """How much there is, what is taken, which jobs wait, which hosts are withdrawn."""
    assert "Nothing has come yet" in prsm("archive").output
    assert "No downloads" in prsm("archive", "downloads").output
    assert "No jobs" in prsm("archive", "jobs").output
    assert "No host is withdrawn" in prsm("archive", "withdrawn").output
    agent = manager.agent()
    hold(manager, agent, "http://www.example.jp:80/", "http://other.example:80/")
    collected(manager, agent, [page(), page("http://other.example/")])
    prsm("clients", "add", "library", "--contact", "x")
    token = json.loads(prsm("clients", "token", "library", "--json").output)["token"]
    mine = Caller(manager.public, headers={"Authorization": f"Bearer {token}"})
    assert mine.get("/api/v1/segments/x-a.example.warc.gz").status_code == 200
    manager.manager.archive.flush()
    assert "x-a.example.warc.gz  done" in prsm("archive", "downloads").output
    asked = {"function": "extract-zip", "query": "host=.*"}
    assert mine.post("/wasapi/v1/jobs", json=asked).status_code == 201
    assert "queued" in prsm("archive", "jobs", "--client", "library").output
    prsm("archive", "remove-job", "1")
    assert "removed by local" in prsm("archive", "jobs", "--state", "gone").output
    assert "job 9: not found" in prsm("archive", "remove-job", "9", code=1).output
    assert "must be one of" in prsm("archive", "downloads", "--state", "x", code=1).output
    prsm("withdraw", "other.example", "--reason", "asked to", "--yes")
    assert "asked to" in prsm("archive", "withdrawn").output
    assert "other.example" in prsm("archive", "withdrawn", "--text", "OTHER.ex").output
    assert "No such host" in prsm("archive", "withdrawn", "--text", "100%").output
    (gone,) = json.loads(prsm("archive", "withdrawn", "--json").output)
    assert f"--before {gone['id']}" in prsm("archive", "withdrawn", "--limit", "1").output
    assert "No such host" in prsm("archive", "withdrawn", "--before", str(gone["id"])).output
    found = json.loads(prsm("archive", "--json").output)
    assert (found["public"]["segments"], found["to_rewrite"]["captures"]) == (0, 2)
    assert "public  withdrawn" in prsm("archive").output


def test_refusals(prsm: Prsm) -> None:
    """Names twice, hostile names, unknown clients and numbers are sentences."""
    prsm("clients", "add", "library", "--contact", "x")
    assert (
        "registered already" in prsm("clients", "add", "library", "--contact", "x", code=1).output
    )
    assert "client name" in prsm("clients", "add", "../x", "--contact", "x", code=1).output
    assert "not registered" in prsm("clients", "token", "nobody", code=1).output
    assert "has no token of this number" in prsm("clients", "revoke", "library", "9", code=1).output
    assert "days = 0" in prsm("clients", "token", "library", "--days", "0", code=1).output
