"""`prsm search`: the same search, on the manager's machine."""

from __future__ import annotations

import json
from pathlib import Path

from tests.manager.cli.conftest import Prsm


def test_a_text_is_found(prsm: Prsm, tmp_path: Path) -> None:
    """Hosts, settings and users in one table; JSON for programs; a kind alone."""
    (tmp_path / "hosts.txt").write_text("www.example.jp\nhttp://日本語.jp/\n")
    prsm("hosts", "import", str(tmp_path / "hosts.txt"))
    assert "http://www.example.jp:80/" in prsm("search", "example").output
    assert "http://xn--wgv71a119e.jp:80/" in prsm("search", "本語").output
    assert "server.stop_s" in prsm("search", "stop_s").output
    found = json.loads(prsm("search", "www.example.jp", "--json").output)
    assert found["leads_to"]["key"] == "http://www.example.jp:80/"
    assert "host" not in prsm("search", "e", "--kind", "setting", "--limit", "1").output.split()
    assert "--limit 100" in prsm("search", "e", "--kind", "setting", "--limit", "1").output
    assert "Nothing is named so." in prsm("search", "no such thing").output
    assert "setting, console, audit" in prsm("search", "x", "--kind", "colour", code=1).output


def test_hosts_are_listed_by_any_part(prsm: Prsm, tmp_path: Path) -> None:
    """Where no domain matches, and the command says so."""
    (tmp_path / "hosts.txt").write_text("www.example.jp\n")
    prsm("hosts", "import", str(tmp_path / "hosts.txt"))
    assert "hold it in their address" not in prsm("hosts", "list", "--search", "example.jp").output
    assert "hold it in their address" in prsm("hosts", "list", "--search", "ample").output


def test_captures_are_listed(prsm: Prsm) -> None:
    """Of a page that was never taken none, and the command says so."""
    assert "no capture" in prsm("archive", "captures", "http://www.example.jp/").output
