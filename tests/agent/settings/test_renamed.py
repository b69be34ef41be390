"""An updated agent starts with yesterday's `prs.toml`, and names what is renamed in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from agent.app.startup.settings_mapping import version
from agent.settings import (
    RENAMED,
    SETTINGS_FILE,
    documented,
    read_settings,
    renamed_settings,
    write_settings,
)
from shared.versions import version_key

OLD = Path(__file__).with_name("prs_0_1.toml")


def test_a_file_of_the_version_before_means_what_it_meant(tmp_path: Path) -> None:
    """`prs_0_1.toml` was written by version 0.1, with values in it: each of them holds."""
    shutil.copy(OLD, tmp_path / SETTINGS_FILE)
    settings = read_settings(tmp_path)
    assert settings.naming.servers == ("192.0.2.53:53", "[2001:db8::53]:53")
    assert settings.naming.allowed_networks == ("10.20.0.0/16",)
    assert settings.network.parallel_hosts == 50
    assert settings.robot.contact == "crawl@example.ac.jp"
    assert renamed_settings(tmp_path) == RENAMED


def test_what_is_written_into_an_old_file_leaves_its_old_names(tmp_path: Path) -> None:
    """Enrolling again changes its own lines only; an agent that goes back can read the file."""
    shutil.copy(OLD, tmp_path / SETTINGS_FILE)
    settings = write_settings(tmp_path, {"robot": {"contact": "new@example.ac.jp"}})
    assert settings == read_settings(tmp_path)
    assert settings.naming.allowed_networks == ("10.20.0.0/16",)
    assert "\nallowed_ranges = [" in (tmp_path / SETTINGS_FILE).read_text()


def test_new_files_have_new_names_only(tmp_path: Path) -> None:
    """The documented file renames nothing; the command line is looked at too."""
    (tmp_path / SETTINGS_FILE).write_text(documented())
    assert renamed_settings(tmp_path) == ()
    assert renamed_settings(tmp_path, ["network.resolver=['192.0.2.1:53']"]) == RENAMED[:1]


def test_old_names_are_read_no_longer_than_promised() -> None:
    """The release that refuses an old name is newer than this one; else remove the entry."""
    for one in RENAMED:
        assert version_key(version()) < version_key(one.until), one.message
