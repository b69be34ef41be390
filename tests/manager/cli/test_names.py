"""Names that do not resolve, as an import, `names`, `resolve` and `status` say it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from manager.operations.hosts.addresses import Resolution, hosts_to_resolve, record_resolutions
from shared.host_failures import HostFailure
from shared.messages import Message
from tests.manager.cli.conftest import Prsm
from tests.manager.running import Running, look_up

NXDOMAIN = "no such name (NXDOMAIN)"


def fail_all(manager: Running, failure: HostFailure = HostFailure.NO_SUCH_NAME) -> None:
    """Look up what is due, in vain."""
    db, now_ms = manager.manager.db, manager.clock()
    found = [
        Resolution(
            host.host_id, host.key, (), Message.of_text(f"{host.key} has no address"), failure
        )
        for host in hosts_to_resolve(db, now_ms, 100)
    ]
    record_resolutions(db, found, now_ms, manager.manager.policy)


def test_an_import_says_which_names_are_resolved(
    prsm: Prsm, manager: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the hosts in the file, those that were known before too, and why the others are not."""
    file = tmp_path / "hosts.txt"
    file.write_text("a.example\nb.example\n")
    prsm("hosts", "import", str(file))
    fail_all(manager)
    file.write_text("a.example\nc.example\n")
    monkeypatch.setattr(time, "sleep", lambda _: look_up(manager))
    said = prsm("hosts", "import", "--wait", str(file)).stdout
    assert "1 new host, 0 new start pages, 1 known; 0 lines refused\n" in said
    assert "names: 1 resolved, 1 unresolved\n" in said
    assert f"  1 {NXDOMAIN}\n      http://a.example:80/: http://a.example:80/ has no addr" in said
    assert "`prsm hosts resolve` looks up again" in said
    assert "b.example" not in said
    known = json.loads(prsm("hosts", "import", "--json", str(file)).stdout)["names"]
    assert (known["resolved"], known["unresolved"], known["waiting"]) == (1, 1, 0)
    assert known["failures"][0]["failure"] == "no_such_name"


def test_an_import_does_not_wait_for_a_manager_that_looks_nothing_up(prsm: Prsm) -> None:
    """Nothing ticks here: it is said that they wait, at once."""
    result = prsm("hosts", "import", "-", stdin="a.example\n")
    assert "1 name is to be looked up by the manager that serves" in result.stderr
    assert "names" not in prsm("hosts", "import", "-", "--no-wait", stdin="x y\n", code=1).stdout


def test_all_names_are_looked_up_again(
    prsm: Prsm, manager: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`resolve` alone orders it; with --wait it says what came of it."""
    prsm("hosts", "import", "-", stdin="a.example\nb.example\n")
    fail_all(manager, HostFailure.NAME_TIMEOUT)
    assert "2 no answer from a name server in time" in prsm("hosts", "names").stdout
    assert prsm("hosts", "resolve").stdout == "2 names are looked up again\n"
    monkeypatch.setattr(time, "sleep", lambda _: look_up(manager))
    said = prsm("hosts", "resolve", "--wait").stdout
    assert "names: 2 resolved, 0 unresolved\n" in said
    found = json.loads(prsm("hosts", "resolve", "--json").stdout)
    assert found == {"hosts": 0}


def test_one_name_is_looked_up_again(
    prsm: Prsm, manager: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name or any URL on it; one that is not known is refused with what to do."""
    prsm("hosts", "import", "-", stdin="a.example\nb.example\n")
    fail_all(manager)
    monkeypatch.setattr(time, "sleep", lambda _: look_up(manager))
    said = prsm("hosts", "resolve", "http://a.example/x", "--wait").stdout
    assert "1 name is looked up again\n" in said
    assert "names: 1 resolved, 0 unresolved\n" in said
    assert "import it first" in prsm("hosts", "resolve", "never.example", code=1).stderr


def test_a_list_can_be_asked_about(prsm: Prsm, manager: Running, tmp_path: Path) -> None:
    """Hosts that are not known are counted."""
    file = tmp_path / "hosts.txt"
    file.write_text("a.example\nnever.example\n")
    prsm("hosts", "import", "-", stdin="a.example\n")
    fail_all(manager, HostFailure.NAME_REFUSED)
    said = prsm("hosts", "names", str(file)).stdout
    assert "0 resolved, 1 unresolved" in said
    assert "1 the name server refuses to answer (REFUSED)" in said
    assert "1 line names no host that is known" in said
    assert json.loads(prsm("hosts", "names", str(file), "--json").stdout)["unknown"] == 1


def test_the_status_says_that_the_manager_resolves_nothing(prsm: Prsm, manager: Running) -> None:
    """With the reasons; and no longer when names lead somewhere."""
    prsm("hosts", "import", "-", stdin="a.example\nb.example\n")
    assert "!" not in prsm("status").stdout
    fail_all(manager)
    said = prsm("status").stdout
    assert f"2 {NXDOMAIN}" in said
    assert "! the manager has no address of 2 of 2 hosts" in said
    assert "the manager has no address" in prsm("alerts").stdout
    assert "of them 2: no such name" in prsm("rounds", "start", code=1).stderr + said
    prsm("hosts", "resolve")
    look_up(manager)
    assert "!" not in prsm("status").stdout
    assert "Nothing is wrong." in prsm("alerts").stdout


def test_hosts_of_imported_lists_are_looked_up_too(
    prsm: Prsm, manager: Running, tmp_path: Path
) -> None:
    """Where a list brings new ones; nobody looks names up here, which is said."""
    prsm("agents", "token", "a.example")
    manager.agent("a.example")
    file = tmp_path / "a.example"
    file.write_text("http://a.example.jp/\n")
    result = prsm("lists", "import", str(file), "--add-hosts")
    assert "1 name is to be looked up" in result.stderr
    assert "to be looked up" not in prsm("lists", "import", str(file)).stderr
    fail_all(manager)
    file.write_text("http://a.example.jp/\nhttp://b.example.jp/\n")
    said = prsm("lists", "import", str(file), "--add-hosts").stdout
    assert "names: 0 resolved, 1 unresolved, 1 to be looked up" in said
    assert NXDOMAIN in said
