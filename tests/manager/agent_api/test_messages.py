"""The five messages, as a plain agent sends them."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from manager.operations.hosts.addresses import hosts_to_resolve
from manager.operations.logs.reports import list_reports
from manager.operations.releases.rollouts import set_minimum_version
from manager.operations.rounds.rounds import start_round
from manager.operations.rounds.tick import tick
from shared.wire.crawl_log import Comment, LogLine
from shared.wire.server_list import decode, encode_line
from tests.manager.running import LOCAL, Agent, Running, fill, log_body, running, zipped
from tests.manager.store.full_disk import full_after

PAGE = b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"


def list_of(agent: Agent) -> list[str]:
    answer = agent.call.get(f"/servlets/list?host={agent.name}")
    assert answer.status_code == 200
    return [encode_line(line).decode().rstrip("\n") for line in decode([answer.content])]


def test_nothing_to_do_is_an_empty_list(prsm: Running) -> None:
    """An agent without work gets 200 and a list of comments only, as gzip and nothing else."""
    agent = prsm.agent()
    answer = agent.call.get("/servlets/list?host=a.example")
    assert answer.status_code == 200
    assert "content-encoding" not in answer.headers
    assert answer.headers["content-type"] == "application/gzip"
    assert answer.headers["cache-control"] == "no-store"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert all(line.startswith(b"#") for line in gzip.decompress(answer.content).splitlines())


def test_an_agent_is_given_hosts_to_probe(prsm: Running) -> None:
    """In a round a plain agent's list names the hosts, with MaxTransfer before them."""
    fill(prsm, "www.example.jp", "http://b.example:8080/")
    agent = prsm.agent()
    agent.call.get("/servlets/subscribe?host=a.example")
    assert prsm.local.post("/api/v1/probes", json={"agent": "a.example"}).json()["orders"] == 2
    start_round(prsm.manager.db, "random", LOCAL, prsm.clock(), policy=prsm.manager.policy)
    tick(prsm.manager.db, prsm.clock(), prsm.manager.policy)
    lines = list_of(agent)
    assert {line for line in lines if not line.startswith("#")} == {
        "http://www.example.jp:80/",
        "http://b.example:8080/",
    }
    assert lines.index("#MaxTransfer=50") < lines.index("http://www.example.jp:80/")
    assert "#Round=1" in lines
    assert len(prsm.files("lists")) == 1


def test_a_list_is_written_once(prsm: Running) -> None:
    """The same generation is sent from its file; two generations are kept."""
    agent = prsm.agent("s.example", kind="sync")
    first = agent.call.get("/servlets/list?host=s.example").content
    (file,) = prsm.files("lists")
    written = file.stat().st_mtime_ns
    assert agent.call.get("/servlets/list?host=s.example").content == first
    assert file.stat().st_mtime_ns == written


def test_a_full_disk_is_503(prsm: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the list cannot be written the answer says so and when to come again."""
    agent = prsm.agent()
    monkeypatch.setattr(prsm.manager.lists, "_open", full_after(5))
    answer = agent.call.get("/servlets/list?host=a.example")
    assert answer.status_code == 503
    assert "is full" in answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert prsm.files("lists") == []


def test_discovered_hosts_are_taken(prsm: Running) -> None:
    """Good lines are entered, bad ones answered with their numbers; a repeat adds nothing."""
    agent = prsm.agent()
    body = zipped(
        "#MaxTransfer=50", "http://new.example/", "no host here", "",
        "http://new.example/deep/page.html\thttp://www.example.jp/", "ftp://f.example/",
        "http://x/\thttp://y/\thttp://z/",
    )  # fmt: skip
    answer = agent.call.post("/servlets/record", body)
    assert answer.status_code == 200
    told = answer.text.splitlines()
    assert told[0] == "accepted: 1 new host, 1 new start page, 0 known; 4 lines refused"
    assert [line.split(":")[0] for line in told[1:]] == ["line 3", "line 4", "line 6", "line 7"]
    codes = [line.rpartition("[")[2] for line in told[1:]]
    assert codes == ["not_a_url]", "malformed_line]", "scheme]", "malformed_line]"]
    again = agent.call.post("/servlets/record", body).text
    assert again.startswith("accepted: 0 new hosts, 0 new start pages, 2 known; 4 lines refused")
    assert prsm.files("spool") == []


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "body is empty"),
        (b"http://new.example/\n", 400, "not valid gzip"),
        (zipped("http://new.example/")[:-5], 400, "ends early"),
        (zipped("http://new.example/", "x" * 20_000), 413, "line 2: longer than 16384 bytes"),
    ],
)
def test_a_bad_list_of_hosts_is_refused_whole(
    prsm: Running, body: bytes, status: int, words: str
) -> None:
    """Of a body that is broken nothing is entered; it is kept for the administrator."""
    answer = prsm.agent().call.post("/servlets/record", body)
    assert answer.status_code == status
    assert words in answer.text
    assert hosts_to_resolve(prsm.manager.db, prsm.clock(), 10) == []
    kept, note = prsm.files("rejected")
    assert kept.read_bytes() == body
    assert words in note.read_text()


def test_discoveries_of_a_day_are_limited(tmp_path: Path) -> None:
    """Over the day's limit the answer is 429 with the time until tomorrow; then it goes on."""
    with running(tmp_path, "limits.discoveries_per_day=2") as prsm:
        agent = prsm.agent()
        body = zipped(*(f"http://h{number}.example/" for number in range(3)))
        answer = agent.call.post("/servlets/record", body)
        assert answer.status_code == 429
        assert "1 host is over the 2" in answer.text
        prsm.clock.advance(int(answer.headers["retry-after"]))
        assert agent.call.post("/servlets/record", body).text.startswith("accepted: 1 new host")


LINES: list[LogLine | Comment] = [
    LogLine("http://www.example.jp/", 300, 5000, 20, PAGE),
    LogLine("http://www.example.jp/a", 300, 5000, 20, PAGE),
    LogLine("http://other.example/", 300, 5000, 20, PAGE),
]


def test_a_log_is_entered(prsm: Running) -> None:
    """Lines of hosts that the agent held count; the others are quarantined, and said."""
    fill(prsm, "www.example.jp")
    agent = prsm.agent()
    agent.call.get("/servlets/subscribe?host=a.example")
    start_round(prsm.manager.db, "random", LOCAL, prsm.clock(), policy=prsm.manager.policy)
    tick(prsm.manager.db, prsm.clock(), prsm.manager.policy)
    list_of(agent)
    prsm.clock.advance(60)
    answer = agent.send_log(log_body("a.example", LINES))
    assert (answer.status_code, answer.text) == (
        200,
        "a.example.202611211000: accepted, 3 lines, 1 of them of hosts that were not yours then\n",
    )
    (report,) = list_reports(prsm.manager.db)
    assert (report.lines, report.quarantined) == (3, 1)
    (file,) = prsm.files("logs")
    assert prsm.manager.layout.data / report.path == file
    assert prsm.files("spool") == []


def test_a_log_of_hosts_never_held_is_quarantined(prsm: Running) -> None:
    """All its lines are kept as data, and no host becomes known by it."""
    answer = prsm.agent().send_log(log_body("a.example", LINES))
    assert answer.status_code == 200
    assert "3 lines, 3 of them" in answer.text
    assert hosts_to_resolve(prsm.manager.db, prsm.clock(), 10) == []


def test_a_log_twice_is_done(prsm: Running) -> None:
    """The same body again is 200 and changes nothing; the same name with another body is 409."""
    agent = prsm.agent()
    body = log_body("a.example", LINES)
    agent.send_log(body)
    again = agent.send_log(body)
    assert (again.status_code, again.text) == (
        200, "a.example.202611211000: already accepted; safe to delete\n"
    )  # fmt: skip
    other = agent.send_log(log_body("a.example", LINES[:1]))
    assert other.status_code == 409
    assert "another body arrived under this name" in other.text
    assert len(list_reports(prsm.manager.db)) == 1
    assert len(prsm.files("logs")) == 1
    assert prsm.files("spool") == []


def test_a_log_of_another_agent_is_403(prsm: Running) -> None:
    """The first line must name the agent whose key is shown."""
    prsm.agent("b.example")
    answer = prsm.agent().send_log(log_body("b.example", LINES))
    assert answer.status_code == 403
    assert "b.example" in answer.text
    assert list_reports(prsm.manager.db) == []


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "line 1: must be"),
        (b"a.example\n", 400, "line 1: must be"),
        (log_body("a.example", LINES)[:-9], 400, "ends early"),
        (b"a.example.202611211000\nplain text", 400, "not valid gzip"),
        (b"a.example.202611211000\n" + zipped("#ok", "'http://x/,1,2,3,'"), 400, "line 3: must be"),
        (b"a.example.202611211000\n" + zipped('"x" 1,2,3,"h"'), 400, "line 2: must be"),
        (b"a.example.202611211000\n" + zipped("#" * 600_000), 413, "line 2: longer than 524288"),
    ],
)
def test_a_bad_log_is_refused_whole(prsm: Running, body: bytes, status: int, words: str) -> None:
    """Of a malformed log nothing is entered; the answer has the line, the body is kept."""
    answer = prsm.agent().send_log(body)
    assert answer.status_code == status
    assert words in answer.text
    assert list_reports(prsm.manager.db) == []
    assert prsm.files("logs") == prsm.files("spool") == []
    kept, note = prsm.files("rejected")
    assert kept.read_bytes() == body
    assert words in note.read_text()


def test_ten_gigabytes_are_413(tmp_path: Path) -> None:
    """A log over the limit is refused unread where it is declared, else at the limit."""
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while read < 10 * 1000**3:
            read += 65536
            yield bytes(65536)

    with running(tmp_path, "limits.log_bytes=1000000") as prsm:
        agent = prsm.agent()
        headers = {"Content-Length": str(10 * 1000**3)}
        declared = agent.call.post("/servlets/submitlog", b"", headers=headers)
        assert declared.status_code == 413
        assert "10000000000 bytes: the limit is 1000000 bytes" in declared.text
        streamed = agent.call.post("/servlets/submitlog", endless())
        assert streamed.status_code == 413
        assert "more than 1000000 bytes" in streamed.text
        assert read < 2_000_000 + 64 * 1024**2
        assert prsm.files("spool") == prsm.files("rejected") == []


def test_a_full_disk_takes_no_log(tmp_path: Path) -> None:
    """Without room the answer is 503 with Retry-After, and the same log is taken later."""
    with running(tmp_path, "limits.reserve_bytes=1000000000000") as prsm:
        answer = prsm.agent().send_log(log_body("a.example", LINES))
        assert answer.status_code == 503
        assert "limits.reserve_bytes" in answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert prsm.files("spool") == prsm.files("logs") == []


def test_restart_is_asked_for(prsm: Running) -> None:
    """Without an order the first line is CONTINUE."""
    answer = prsm.agent().call.get("/servlets/isrestart?host=a.example")
    assert answer.text.splitlines()[0] == "CONTINUE"


def test_agents_join_and_leave(prsm: Running) -> None:
    """Subscribing and unsubscribing are 200, also when repeated."""
    agent = prsm.agent()
    for _ in range(2):
        assert "takes part" in agent.call.get("/servlets/subscribe?host=a.example").text
    for _ in range(2):
        assert "has left" in agent.call.get("/servlets/unsubscribe?host=a.example").text
    assert "takes part" in agent.call.get("/servlets/subscribe?host=a.example").text


def test_uploads_too_often_are_429(tmp_path: Path) -> None:
    """Over the rate an agent is told when to come again."""
    with running(tmp_path, "limits.uploads_per_minute=1") as prsm:
        agent = prsm.agent()
        assert agent.send_log(log_body("a.example", LINES)).status_code == 200
        answer = agent.send_log(log_body("a.example", LINES))
        assert answer.status_code == 429
        prsm.clock.advance(int(answer.headers["retry-after"]))
        assert agent.send_log(log_body("a.example", LINES)).status_code == 200


def test_what_a_too_old_agent_fetched_is_taken(prsm: Running) -> None:
    """Its sync is refused and says what to do; its log and the hosts it found are taken."""
    agent = prsm.agent("s.example", kind="sync")
    set_minimum_version(prsm.manager.db, "9.0", LOCAL, prsm.clock())
    said = {
        "agent": agent.name,
        "boot_id": "b",
        "sequence": 1,
        "version": "0.0.1",
        "clock_ms": prsm.clock(),
        "state": "idle",
    }
    refused = agent.call.post("/api/v1/sync", json=said)
    assert refused.status_code == 426
    assert "prs update" in refused.text
    line = LogLine("http://b.example:80/", 300, 5000, 20, PAGE)
    taken = agent.call.post("/servlets/submitlog", content=log_body(agent.name, [line]))
    assert taken.status_code == 200
    assert [row.lines for row in list_reports(prsm.manager.db)] == [1]
    found = agent.call.post("/servlets/record", content=zipped("http://new.example/"))
    assert (found.status_code, "1 new host" in found.text) == (200, True)
