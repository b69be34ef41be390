"""An updated agent starts with yesterday's `prs.toml`, and names what is renamed in it."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path

import pytest

from agent.app.startup.start_methods import STARTERS
from agent.cli.questions import Answers
from agent.settings import (
    FORM,
    RENAMED,
    SETTINGS_FILE,
    Settings,
    documented,
    read_settings,
    renamed_settings,
    write_settings,
)
from agent.settings.user_agent import version
from shared.settings import Renamed, shown
from shared.versions import version_key

OLD = Path(__file__).with_name("prs_0_1.toml")


def split(name: str) -> tuple[str, str]:
    group, _, own = name.partition(".")
    return group, own


def default(name: str) -> object:
    return value_of(Settings(home=Path("/")), name)


def value_of(settings: Settings, name: str) -> object:
    group, own = split(name)
    return getattr(getattr(settings, group), own)


def known_names() -> set[str]:
    settings = Settings(home=Path("/"))
    return {
        f"{group.name}.{one.name}"
        for group in fields(settings)
        if group.name != "home"
        for one in fields(getattr(settings, group.name))
    }


def test_a_file_of_the_version_before_means_what_it_meant(tmp_path: Path) -> None:
    """`prs_0_1.toml` was written by version 0.1, with values in it: each of them holds."""
    shutil.copy(OLD, tmp_path / SETTINGS_FILE)
    settings = read_settings(tmp_path)
    assert settings.dns.servers == ("192.0.2.53:53", "[2001:db8::53]:53")
    assert settings.dns.allowed_networks == ("10.20.0.0/16",)
    assert settings.network.parallel_hosts == 50
    assert settings.robot.contact == "crawl@example.ac.jp"
    assert renamed_settings(tmp_path) == RENAMED[:2]


def test_each_setting_of_the_version_before_is_read(tmp_path: Path) -> None:
    """With all its defaults switched on, version 0.1's file gives the defaults."""
    lines = OLD.read_text().splitlines()
    text = "\n".join(line.removeprefix("# ") if " = " in line else line for line in lines)
    (tmp_path / SETTINGS_FILE).write_text(text)
    settings = read_settings(tmp_path)
    known = {name: default(name) for name in FORM.given(tmp_path / SETTINGS_FILE)}
    changed = {name for name in known if value_of(settings, name) != known[name]}
    assert changed == {
        *("dns.servers", "dns.allowed_networks", "network.parallel_hosts", "robot.contact")
    }


@pytest.mark.parametrize("one", RENAMED, ids=lambda one: one.old)
def test_an_old_name_gives_the_value_of_the_new_one(one: Renamed, tmp_path: Path) -> None:
    """Each old name is free, each new one is a setting; file and command line take both."""
    assert one.old not in known_names()
    (group, own), value = split(one.old), shown(default(one.new))
    (tmp_path / SETTINGS_FILE).write_text(f"[{group}]\n{own} = {value}\n")
    assert read_settings(tmp_path) == Settings(home=tmp_path)
    assert renamed_settings(tmp_path) == (one,)
    (tmp_path / SETTINGS_FILE).write_text(f"[{group}]\n# {own} = {value}\n")
    assert read_settings(tmp_path, [f"{one.old}={value}"]) == Settings(home=tmp_path)
    assert renamed_settings(tmp_path, [f"{one.old}={value}"]) == (one,)


def test_what_is_written_into_an_old_file_leaves_its_old_names(tmp_path: Path) -> None:
    """Enrolling again changes its own lines only; an agent that goes back can read the file."""
    shutil.copy(OLD, tmp_path / SETTINGS_FILE)
    settings = write_settings(tmp_path, {"robot": {"contact": "new@example.ac.jp"}})
    assert settings == read_settings(tmp_path)
    assert settings.dns.allowed_networks == ("10.20.0.0/16",)
    assert "\nallowed_ranges = [" in (tmp_path / SETTINGS_FILE).read_text()


def test_a_new_value_is_written_under_the_name_that_the_file_has(tmp_path: Path) -> None:
    """Not both names, of which an agent that goes back would refuse the new one."""
    shutil.copy(OLD, tmp_path / SETTINGS_FILE)
    settings = write_settings(tmp_path, {"dns": {"allowed_networks": ["192.168.0.0/24"]}})
    assert settings == read_settings(tmp_path)
    assert settings.dns.allowed_networks == ("192.168.0.0/24",)
    text = (tmp_path / SETTINGS_FILE).read_text()
    assert '\nallowed_ranges = ["192.168.0.0/24"]' in text
    assert "allowed_networks" not in text


def test_enrolment_writes_no_renamed_setting() -> None:
    """A release that goes back reads what `prs enrol` of a newer one wrote."""
    answers = Answers(
        "https://x.example", "token", "a.example", "a@example.org", ("01:00-02:00",), (),
        STARTERS[0], ca_file="ca.pem", proxy="http://proxy.example:3128",
    )  # fmt: skip
    values = answers.settings_values
    written = {f"{group}.{name}" for group in values for name in values[group]}
    assert len(written) == 5
    assert written <= known_names() - {one.new for one in RENAMED}


def test_new_files_have_new_names_only(tmp_path: Path) -> None:
    """The documented file renames nothing; the command line is looked at too."""
    (tmp_path / SETTINGS_FILE).write_text(documented())
    assert renamed_settings(tmp_path) == ()
    assert renamed_settings(tmp_path, ["network.resolver=['192.0.2.1:53']"]) == RENAMED[:1]


def test_old_names_are_read_no_longer_than_promised() -> None:
    """The release that refuses an old name is newer than this one; else remove the entry."""
    for one in RENAMED:
        assert version_key(version()) < version_key(one.until), one.message
