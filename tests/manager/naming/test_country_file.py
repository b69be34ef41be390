"""The database of countries: read when it is another one, kept where the new one is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from manager.naming import Names, resolve_due
from manager.naming.country_file import CountryFile
from manager.operations.hosts.crawl_scope import scope_of_crawl, set_scope
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import import_hosts
from manager.settings import read_settings
from shared.errors import SettingError
from shared.naming import HostAnswer
from tests.manager.naming.mmdb_file import mmdb_file
from tests.manager.naming.test_resolve_due import FakeNames
from tests.manager.running import LOCAL, running

JP, US = {"country": {"iso_code": "JP"}}, {"country": {"iso_code": "US"}}
FIRST = mmdb_file({"133.9.0.0/16": JP, "198.51.100.0/24": US})
SECOND = mmdb_file({"133.9.0.0/16": US, "198.51.100.0/24": JP}, kind="Second")
A, B = "http://a.example:80/", "http://b.example:80/"


def write(path: Path, data: bytes) -> None:
    """Replace a file at once, as update programs do."""
    beside = path.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(path)


def test_a_file_is_read_again_when_it_was_replaced(tmp_path: Path) -> None:
    """Also one that is written in place, as long as it is whole in the end."""
    path = tmp_path / "c.mmdb"
    path.write_bytes(FIRST)
    found = CountryFile(str(path))
    assert not found.is_ready
    found.refresh()
    assert (found.country_of("133.9.1.1"), found.country_of("192.0.2.1")) == ("JP", "")
    write(path, SECOND)
    found.refresh()
    assert found.country_of("133.9.1.1") == "US"
    path.write_bytes(FIRST[:100])  # a copy that is under way
    found.refresh()
    assert found.country_of("133.9.1.1") == "US"
    assert found.facts is not None
    assert "not a whole one" in str(found.facts.problem)
    assert found.facts.kind == "Second"
    path.write_bytes(FIRST)
    os.utime(path, ns=(1, 1))
    found.refresh()
    assert found.country_of("133.9.1.1") == "JP"
    assert found.facts.problem is None


def test_a_file_that_is_removed_stays_in_use(tmp_path: Path) -> None:
    """And is named, until it is there again."""
    path = tmp_path / "c.mmdb"
    path.write_bytes(FIRST)
    found = CountryFile(str(path))
    found.refresh()
    path.unlink()
    found.refresh()
    assert found.country_of("133.9.1.1") == "JP"
    assert found.facts is not None
    assert "cannot read it: No such file" in str(found.facts.problem)
    path.write_bytes(SECOND)
    found.refresh()
    assert (found.facts.problem, found.country_of("133.9.1.1")) == (None, "US")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting may name any file."""
    path = tmp_path / "c.mmdb"
    path.write_bytes(FIRST)
    monkeypatch.setattr("manager.naming.country_file.FILE_MOST", len(FIRST) - 1)
    found = CountryFile(str(path))
    found.refresh()
    assert found.facts is not None
    assert "at most" in str(found.facts.problem)
    assert not found.is_ready


def test_a_manager_starts_with_no_file_that_is_missing(tmp_path: Path) -> None:
    """It would take hosts of all countries in."""
    with pytest.raises(SettingError, match="no such file"):
        read_settings(tmp_path, overrides=["dns.country_file=" + str(tmp_path / "none.mmdb")])


def test_hosts_are_closed_with_the_look_up_of_their_names(tmp_path: Path) -> None:
    """Before any agent gets them, and opened by another file."""
    path = tmp_path / "c.mmdb"
    path.write_bytes(FIRST)
    names: Names = FakeNames({
        A: HostAnswer(A, ("133.9.1.1",), 300),
        B: HostAnswer(B, ("198.51.100.1",), 300),
    })  # fmt: skip
    names.countries = CountryFile(str(path))
    with running(tmp_path) as prsm:
        db = prsm.manager.db

        def look_up() -> dict[str, str]:
            resolve_due(db, names, prsm.clock, prsm.manager.policy, 10)
            return {key: host_detail(db, key).units[0].state for key in (A, B)}

        resolve_due(db, names, prsm.clock, prsm.manager.policy, 10)
        set_scope(db, "include country:JP", "", LOCAL, prsm.clock())
        import_hosts(db, [(1, A), (2, B)], LOCAL, prsm.clock())
        assert look_up() == {A: "idle", B: "excluded"}
        write(path, SECOND)
        assert look_up() == {A: "excluded", B: "idle"}
        shown = scope_of_crawl(db).countries
        assert shown is not None
        assert (shown.kind, shown.problem, shown.is_applied) == ("Second", None, True)
