"""The manager as a process on PostgreSQL: the same protocol, and two of them side by side."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import prsm, prsm_program, running_manager
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e, pytest.mark.postgres]

LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")


def test_two_managers_share_one_database(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """An agent that one of them let in is known to the other; a log is entered once by both."""
    body = b"a.example.202611211000\n" + b"".join(encode([LINE]))
    with postgres_server.new_database() as url:
        shared = (f"database.url={url}", f"database.files_folder={tmp_path / 'files'}")
        with (
            running_manager(tmp_path / "one", *shared) as one,
            running_manager(tmp_path / "two", *shared) as two,
            one.agent("a.example") as at_one,
            two.client(headers=at_one.headers) as at_two,
        ):
            assert at_two.get("servlets/subscribe?host=a.example").status_code == 200
            found = gzip.compress(b"http://new.example/\n")
            assert "1 new host" in at_one.post("servlets/record", content=found).text
            assert "0 new hosts" in at_two.post("servlets/record", content=found).text
            assert "accepted, 1 line" in at_one.post("servlets/submitlog", content=body).text
            assert "already accepted" in at_two.post("servlets/submitlog", content=body).text
            for place in (one, two):
                assert len(json.loads(prsm(place.data, "reports", "--json"))) == 1
                hosts = json.loads(prsm(place.data, "hosts", "list", "--json"))["hosts"]
                assert [host["key"] for host in hosts] == ["http://new.example:80/"]
                assert prsm(place.data, "check") == "no problem found\n"
            assert one.stop() == 0
            assert at_two.get("servlets/list?host=a.example").status_code == 200


def test_a_database_that_is_gone_is_said(tmp_path: Path) -> None:
    """Without its database the manager does not start, and says what it could not reach."""
    url = "database.url=postgresql://nobody@127.0.0.1:1/nothing"
    said = prsm_program(tmp_path / "data", "serve", "--set", url, code=1)
    assert "database" in said
    assert "Traceback" not in said
