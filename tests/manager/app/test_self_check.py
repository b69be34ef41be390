"""What is amiss at a manager's machine: named at its start, in /readyz and by alerts."""

from __future__ import annotations

import errno
import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from manager.app.composition import layout_of
from manager.app.self_check import SelfCheck, check_folders
from manager.db.tables import audit
from manager.errors import DamagedDatabaseError
from manager.operations.health.alert_views import current_alerts
from manager.operations.machine_conditions import conditions_of
from manager.settings import read_settings
from manager.store import StoreError
from manager.store.file_system import FileSystem
from shared.frozen import frozen
from tests.manager.running import running


@frozen
class Figures:
    """What a file system says of itself."""

    f_files: int = 1000
    f_favail: int = 900
    f_bavail: int = 900
    f_flag: int = 0


def system(number: int | None, figures: Figures | None = None) -> FileSystem:
    """Return a file system in which making a file fails; None: it does not."""

    def probe(_folder: Path) -> None:
        if number is not None:
            raise OSError(number, os.strerror(number))

    return FileSystem(lambda _: figures or Figures(), probe)


@pytest.mark.parametrize(
    ("failing", "code", "words"),
    [
        (system(errno.ENOSPC, Figures(f_favail=0)), "no_inodes", "no free inodes"),
        (system(errno.ENOSPC, Figures(f_files=0, f_favail=0)), "disk_full", "is full"),
        (system(errno.ENOSPC), "disk_full", "is full"),
        (system(errno.EDQUOT), "disk_quota", "at the quota"),
        (system(errno.EROFS), "read_only", "is read-only"),
        (system(errno.EIO, Figures(f_flag=os.ST_RDONLY)), "read_only", "is read-only"),
        (system(errno.EIO), "unreachable", "cannot be reached"),
        (system(errno.EACCES), "not_permitted", "does not permit this user to write"),
        (system(None, Figures(f_favail=99)), "few_inodes", "99 inodes are left"),
    ],
)
def test_each_state_of_a_file_system_has_a_code_and_a_remedy(
    failing: FileSystem, code: str, words: str, tmp_path: Path
) -> None:
    """Told by the error and by what the system says of itself."""
    (found,) = conditions_of(None, [tmp_path], [], 100, failing)
    assert found.code == code
    assert words in str(found.message)
    assert str(tmp_path) in str(found.message)
    assert found.stops == (code != "few_inodes")


def test_a_file_system_without_a_limit_of_inodes_has_enough(tmp_path: Path) -> None:
    """As btrfs, which says 0 of 0."""
    assert conditions_of(None, [tmp_path], [], 100, system(None, Figures(0, 0))) == []


def test_a_real_folder_is_sound_and_nothing_stays_in_it(tmp_path: Path) -> None:
    """The file that is made is removed."""
    assert conditions_of(None, [tmp_path], [], 0) == []
    assert list(tmp_path.iterdir()) == []


def test_a_manager_that_could_make_no_file_does_not_start(tmp_path: Path) -> None:
    """One without room does: it tells agents to come back."""
    settings = read_settings(tmp_path)
    layout = layout_of(settings)
    with pytest.raises(StoreError, match="no free inodes"):
        check_folders(layout, system(errno.ENOSPC, Figures(f_favail=0)))
    with pytest.raises(StoreError, match="is read-only"):
        SelfCheck(settings, layout, system(errno.EROFS)).start()
    SelfCheck(settings, layout, system(errno.ENOSPC)).start()


@pytest.mark.parametrize("folder", ["archive/segments", "uploads", "logs"])
def test_each_file_system_that_files_lie_on_is_looked_at(tmp_path: Path, folder: str) -> None:
    """A disk of its own for segments or uploads, and that of SQLite's file, turned read-only."""
    disk, tables = tmp_path / "disk", tmp_path / "tables"
    disk.mkdir()
    tables.mkdir()
    data = tmp_path / "data"
    (data / folder).parent.mkdir(parents=True)
    (data / folder).symlink_to(disk)
    settings = read_settings(data, overrides=[f'database.url="sqlite:///{tables}/prsm.sqlite"'])
    layout = layout_of(settings)
    layout.create()
    refused: set[Path] = set()

    def probe(path: Path) -> None:
        if path in refused:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    check = SelfCheck(settings, layout, FileSystem(lambda _: Figures(f_files=0), probe))
    check.start()
    for one in (data / folder, tables):
        refused.add(one)
        assert [(found.code, found.subject) for found in check.look()] == [("read_only", str(one))]
        assert str(one) in str(check.blocker)
        with pytest.raises(StoreError, match="is read-only"):
            check.start()
        refused.clear()
    with pytest.raises(StoreError, match="is read-only"):
        check_folders(layout, system(errno.EROFS))


@pytest.mark.parametrize(
    ("text", "mode", "named"),
    [
        ('[alerts]\nsmtp_password = "x"\nwebhook_secret = "y"\n', 0o644, True),
        ('[alerts]\nwebhook_url = "https://h.example/T0/secret"\n', 0o604, True),
        ('[database]\nurl = "postgresql://prsm:word@db/prsm"\n', 0o644, True),
        ('[database]\nurl = "postgresql://prsm@/prsm?password=word"\n', 0o644, True),
        ('[database]\nurl = "postgresql://prsm@db/prsm"\n', 0o644, False),
        ('[alerts]\nsmtp_password = "x"\n', 0o640, False),
        ('[alerts]\nsmtp_password = "x"\n', 0o600, False),
        ('[alerts]\nsmtp_password = ""\n', 0o644, False),
        ("[server]\nlisten_port = 9\n", 0o644, False),
    ],
)
def test_settings_with_secrets_that_all_may_read_are_named(
    text: str, mode: int, named: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the file, the settings' names and the remedy; never with their values."""
    file = tmp_path / "prsm.toml"
    file.write_text(text)
    file.chmod(mode)
    settings = read_settings(tmp_path)
    check = SelfCheck(settings, layout_of(settings), system(None))
    with caplog.at_level(logging.WARNING):
        check.start()
    found = [one for one in check.conditions if one.code == "settings_readable"]
    assert bool(found) is named
    assert (f"chmod 600 {file}" in caplog.text) is named
    for secret in ('"x"', "word@", "T0"):
        assert secret not in caplog.text


def test_other_places_of_secrets_are_named_too(tmp_path: Path) -> None:
    """The key of the certificate, the arguments of the process."""
    key = tmp_path / "key.pem"
    key.write_text("key")
    key.chmod(0o644)
    settings = read_settings(tmp_path, overrides=['alerts.smtp_password="x"'])
    settings = replace(settings, server=replace(settings.server, tls_key=str(key)))
    layout = layout_of(settings)
    check = SelfCheck(settings, layout, system(None))
    check.start()
    codes = {one.code for one in check.conditions}
    assert codes >= {"key_readable", "secret_in_arguments"}


def test_readyz_and_alerts_name_what_is_amiss(tmp_path: Path) -> None:
    """Ready where the manager works on; not where nothing that is sent can be kept."""
    (tmp_path / "prsm.toml").write_text('[alerts]\nsmtp_password = "x"\n')
    (tmp_path / "prsm.toml").chmod(0o644)
    with running(tmp_path) as prsm:
        answer = prsm.outside.get("/readyz")
        assert answer.status_code == 200
        (problem,) = answer.json()["problems"]
        assert problem["code"] == "settings_readable"
        assert "smtp_password" in problem["text"]
        alerts = prsm.local.get("/api/v1/alerts").json()
        assert f"settings_readable:{tmp_path / 'prsm.toml'}" in str(alerts)
        (tmp_path / "prsm.toml").chmod(0o600)
        prsm.manager.self_check.look()
        assert prsm.outside.get("/readyz").json() == {"ready": True}
        prsm.manager.self_check.system = system(errno.EROFS)
        prsm.manager.self_check.look()
        answer = prsm.outside.get("/readyz")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "is read-only" in answer.json()["reason"]
        assert {one["code"] for one in answer.json()["problems"]} == {"read_only"}


def test_damage_that_is_met_is_named_at_once(tmp_path: Path) -> None:
    """Before the next look; agents are told to come back, and uploads are not taken."""
    with running(tmp_path) as prsm:
        agent = prsm.agent()
        manager = prsm.manager
        manager.db.damage.found("*** in database main *** Page 7: never used")
        answer = prsm.outside.get("/readyz")
        assert answer.status_code == 503
        assert "Page 7: never used" in answer.json()["reason"]
        assert str(manager.layout.database) in answer.json()["reason"]
        refused = agent.call.get("/servlets/isrestart?host=a.example")
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 600
        told = current_alerts(manager.db, manager.alerts, prsm.clock())
        assert any(one.key.startswith("database_damaged:") for one in told.troubles)
        with pytest.raises(DamagedDatabaseError), manager.db.write() as tx:
            tx.execute(audit.delete())
