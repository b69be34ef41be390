"""`prsm backup` of a manager that runs, and `prsm restore` into an empty place."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from shared.wire.crawl_log import LogLine, encode
from tests.e2e.manager_process import prsm, running_manager
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

pytestmark = [pytest.mark.e2e]

LINE = LogLine("http://www.example.jp/", 300, 5000, 20, b"HTTP/1.1 200 OK\r\n")
LOG = b"a.example.202611211000\n" + b"".join(encode([LINE]))


@pytest.mark.parametrize("name", [pytest.param("backup.tar", marks=pytest.mark.slow), "backup"])
def test_what_was_kept_is_there_again(tmp_path: Path, name: str) -> None:
    """Hosts, agents with their keys, users, logs and settings; what came later is not."""
    data, target, new = tmp_path / "data", tmp_path / name, tmp_path / "new"
    data.mkdir()
    (data / "prsm.toml").write_text("[policy]\nprobe_pages = 7\n")
    with running_manager(data) as manager, manager.agent("a.example") as agent:
        prsm(data, "hosts", "import", "-", "--no-wait", stdin="www.example.jp\n")
        assert "accepted, 1 line" in agent.post("servlets/submitlog", content=LOG).text
        said = prsm(data, "backup", str(target))
        assert "left out" not in said
        assert target.stat().st_mode & 0o077 == 0
        prsm(data, "hosts", "import", "-", "--no-wait", stdin="later.example.jp\n")
        assert "manager.backup" in prsm(data, "audit")
        key = agent.headers
    assert "whole" in prsm(new, "restore", "--check", str(target))
    assert not new.exists()
    told = json.loads(prsm(new, "restore", str(target), "--json"))
    assert told["findings"] == []
    assert told["held_until_ms"] > time.time() * 1000 + 3_600_000
    with running_manager(new) as manager, manager.client(headers=key) as agent:
        hosts = json.loads(prsm(new, "hosts", "list", "--json"))["hosts"]
        assert [host["key"] for host in hosts] == ["http://www.example.jp:80/"]
        assert "a.example.202611211000" in prsm(new, "reports")
        assert "already accepted" in agent.post("servlets/submitlog", content=LOG).text
        assert prsm(new, "check") == "no problem found\n"
        assert "no unit is assigned until" in prsm(new, "status")
        assert "manager.restore" in prsm(new, "audit", "--alerts")
    assert "probe_pages = 7" in (new / "prsm.toml").read_text()


@pytest.mark.postgres
@pytest.mark.slow
def test_from_one_kind_of_database_to_the_other(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    """SQLite to PostgreSQL, and back: the way to grow."""
    data = tmp_path / "data"
    with running_manager(data):
        prsm(data, "hosts", "import", "-", "--no-wait", stdin="www.example.jp\n")
        prsm(data, "backup", str(tmp_path / "one.tar"))
    postgres_server.run_sql("CREATE DATABASE grown")
    config = tmp_path / "grown.toml"
    config.write_text(f'[database]\nurl = "{postgres_server.url("grown")}"\n')
    grown = tmp_path / "grown"
    try:
        prsm(grown, "--config", str(config), "restore", str(tmp_path / "one.tar"))
        said = prsm(tmp_path / "again", "--config", str(config), "restore",
                    str(tmp_path / "one.tar"), code=1)  # fmt: skip
        assert "this database has tables" in said
        assert not any((tmp_path / "again").iterdir()), "the next try finds it empty"
        with running_manager(grown):
            prsm(grown, "hosts", "import", "-", "--no-wait", stdin="more.example.jp\n")
            prsm(grown, "backup", str(tmp_path / "two.tar"))
            assert prsm(grown, "check") == "no problem found\n"
    finally:
        postgres_server.run_sql("DROP DATABASE grown WITH (FORCE)")
    back, plain = tmp_path / "back", tmp_path / "plain.toml"
    plain.write_text("")
    prsm(back, "--config", str(plain), "restore", str(tmp_path / "two.tar"))
    with running_manager(back):
        hosts = json.loads(prsm(back, "hosts", "list", "--json"))["hosts"]
    assert len(hosts) == 2


def test_a_restore_refuses_in_words(tmp_path: Path) -> None:
    """What is there is never changed; a backup that is damaged or newer is not used."""
    data, target, new = tmp_path / "data", tmp_path / "backup", tmp_path / "new"
    with running_manager(data):
        prsm(data, "backup", str(target))
    assert "is not empty" in prsm(data, "restore", str(target), code=1)
    assert "already exists" in prsm(data, "backup", str(target), code=1)
    assert "--down-since" in prsm(new, "restore", str(target), "--down-since", "noon", code=2)
    newer = tmp_path / "newer"
    shutil.copytree(target, newer)
    manifest = json.loads((newer / "manifest.json").read_text())
    manifest["schema_version"] = "9999"
    (newer / "manifest.json").write_text(json.dumps(manifest))
    assert "created by a newer one" in prsm(new, "restore", str(newer), code=1)
    manifest["files"][0]["name"] = "files/../../etc/passwd"
    (newer / "manifest.json").write_text(json.dumps(manifest))
    assert "manifest.json: files.0.name" in prsm(new, "restore", str(newer), code=1)
    with (target / "tables" / "hosts.jsonl.gz").open("ab") as file:
        file.write(b"x")
    assert "hosts.jsonl.gz does not match the manifest" in prsm(new, "restore", str(target), code=1)
    (target / "manifest.json").unlink()
    assert "manifest.json is missing" in prsm(new, "restore", str(target), code=1)
    assert not new.exists() or not any(new.iterdir())
