"""The first look, what happened, and whether all fits together, through the API."""

from __future__ import annotations

from shared.wire.crawl_log import Comment, LogLine
from tests.manager.running import Running, fill, log_body, look_up


def test_reports_are_listed(prsm: Running) -> None:
    """A log that was taken is shown with its lines; by agent, newest first."""
    agent = prsm.agent()
    line = LogLine("http://www.example.jp/", 1, 2, 3, b"HTTP/1.1 200 OK\r\n")
    for minute in ("202611211000", "202611211001"):
        agent.send_log(log_body("a.example", [line], minute))
    names = [report["name"] for report in prsm.local.get("/api/v1/reports").json()]
    assert names == ["a.example.202611211001", "a.example.202611211000"]
    assert prsm.local.get("/api/v1/reports?agent=b.example").json() == []
    assert len(prsm.local.get("/api/v1/reports?limit=1").json()) == 1


def test_the_audit_is_paged_and_searched(prsm: Running) -> None:
    """Rows come newest first, before an id, by action."""
    for name in ("a.example", "b.example"):
        prsm.local.post(f"/api/v1/agents/{name}/token")
    rows = prsm.local.get("/api/v1/audit?action=agent.").json()
    assert [row["subject"] for row in rows] == ["b.example", "a.example"]
    older = prsm.local.get(f"/api/v1/audit?before_id={rows[0]['id']}").json()
    assert [row["subject"] for row in older] == ["a.example"]
    assert prsm.local.get("/api/v1/audit?action=round.").json() == []
    assert prsm.local.get("/api/v1/audit?limit=0").status_code == 400


def test_a_missing_file_is_found(prsm: Running) -> None:
    """The check is clean, until the rows of a report are gone."""
    line = LogLine("http://www.example.jp/", 1, 2, 3, b"")
    prsm.agent().send_log(log_body("a.example", [line]))
    assert prsm.local.get("/api/v1/check").json() == {"findings": []}
    (file,) = prsm.files("logs")
    file.unlink()
    (finding,) = prsm.local.get("/api/v1/check").json()["findings"]
    assert finding["subject"].endswith(file.name)


def test_the_overview_says_what_there_is(prsm: Running) -> None:
    """Agents and hosts by state, the newest round, what needs a person; at first nothing."""
    empty = prsm.local.get("/api/v1/overview").json()
    assert (empty["agents"], empty["round"], empty["attention"], empty["alerts"]) == (
        {}, None, [], []
    )  # fmt: skip
    prsm.local.post("/api/v1/hosts/import", b"a.example\nb.example\nc.example\n")
    assert prsm.local.get("/api/v1/overview").json()["names_waiting"] == 3
    look_up(prsm)
    assert prsm.local.get("/api/v1/overview").json()["names_waiting"] == 0
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "c.example"})
    fill(prsm, "a.example", "b.example")
    prsm.local.post("/api/v1/hosts/exclude", json={"host": "b.example"})
    prsm.agent().call.get("/servlets/subscribe?host=a.example")
    prsm.local.post("/api/v1/rounds", json={"method": "keep"})
    prsm.clock.advance(30 * 86400)
    seen = prsm.local.get("/api/v1/overview").json()
    assert seen["server_time_ms"] == prsm.clock()
    assert seen["hosts"]["excluded"] == 2
    assert sum(seen["hosts"].values()) == 3
    assert seen["round"]["round"]["method"] == "keep"
    assert sum(seen["agents"].values()) == 1
    assert [one["agent"] for one in seen["attention"]] == ["a.example"]
    assert seen["attention"][0]["reason"]


def test_lines_of_logs_are_searched(prsm: Running) -> None:
    """What an agent logged is found by host, status and time; portions follow each other."""
    agent = prsm.agent()
    heads = (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 500 No\r\n", b"")
    lines: list[LogLine | Comment] = [
        LogLine(f"http://www.example.jp/{at}", 1, 2, 3, head) for at, head in enumerate(heads)
    ]
    agent.send_log(log_body("a.example", lines))
    found = prsm.local.get("/api/v1/logs?host=*.example.jp").json()
    assert [line["status"] for line in found["lines"]] == [None, 500, 200]
    assert (found["next"], found["reports"], found["gone"]) == (None, 1, 0)
    (line,) = prsm.local.get("/api/v1/logs?status=5xx&since=2000-01-01").json()["lines"]
    assert (line["url"], line["headers"]) == ("http://www.example.jp/1", "HTTP/1.1 500 No\r\n")
    assert prsm.local.get("/api/v1/logs?until=1969-12-31").json()["lines"] == []
    first = prsm.local.get("/api/v1/logs?limit=2").json()
    rest = prsm.local.get(f"/api/v1/logs?mark={first['next']}").json()
    assert [line["line"] for line in first["lines"] + rest["lines"]] == [4, 3, 2]
    refused = prsm.local.get("/api/v1/logs?status=six")
    assert (refused.status_code, "404 or 5xx" in refused.text) == (400, True)


def test_withdrawn_hosts_are_found_by_their_names(prsm: Running) -> None:
    """A part of a name in any case leaves its hosts, page by page."""
    names = ("a.example", "b.example", "c.test")
    fill(prsm, *names)
    for name in names:
        asked = {"host": name, "reason": "asked for"}
        assert prsm.local.post("/api/v1/hosts/exclude", json=asked).status_code == 204
    found = prsm.local.get("/api/v1/archive/withdrawn?text=Example").json()
    assert {one["key"] for one in found} == {"http://a.example:80/", "http://b.example:80/"}
    first = prsm.local.get("/api/v1/archive/withdrawn?text=example&limit=1").json()
    rest = prsm.local.get(f"/api/v1/archive/withdrawn?text=example&before={first[0]['id']}").json()
    assert first + rest == found
    assert prsm.local.get("/api/v1/archive/withdrawn?text=100%25").json() == []
