"""Settings are read once, checked wholly, and refused in words."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from manager.settings import (
    RENAMED,
    SETTINGS_FILE,
    Settings,
    documented,
    read_settings,
    setting_lines,
)
from shared.errors import SettingError
from shared.settings import Renamed


def write(folder: Path, text: str) -> Path:
    (folder / SETTINGS_FILE).write_text(text)
    return folder


def test_no_file_means_defaults(tmp_path: Path) -> None:
    """Without a file every setting has its default."""
    settings = read_settings(tmp_path)
    assert settings == Settings(data=tmp_path)
    assert settings.policy.probe_pages == 50
    assert settings.policy.permit_s == 7200.0


def test_the_file_is_read(tmp_path: Path) -> None:
    """Values of prsm.toml in the data directory replace defaults; whole numbers may be floats."""
    write(
        tmp_path,
        '[server]\nlisten_port = 9000\n[policy]\ntick_s = 2\n[dns]\nservers = ["127.0.0.1:5353"]\n',
    )
    settings = read_settings(tmp_path)
    assert settings.server.listen_port == 9000
    assert settings.policy.tick_s == 2.0
    assert isinstance(settings.policy.tick_s, float)
    assert settings.dns.servers == ("127.0.0.1:5353",)


def test_the_command_line_is_stronger(tmp_path: Path) -> None:
    """An override beats the file; a text may stand without quotes."""
    write(tmp_path, "[server]\nlisten_port = 9000\n")
    settings = read_settings(
        tmp_path, overrides=["server.listen_port=0", "server.public_url=http://127.0.0.1:80/"]
    )
    assert settings.server.listen_port == 0
    assert settings.server.public_url == "http://127.0.0.1:80/"


def test_another_file_may_be_named(tmp_path: Path) -> None:
    """--config reads that file; one that is not there is refused."""
    other = tmp_path / "other.toml"
    other.write_text("[limits]\nlog_bytes = 5000\n")
    assert read_settings(tmp_path, other).limits.log_bytes == 5000
    with pytest.raises(SettingError, match="no such file"):
        read_settings(tmp_path, tmp_path / "missing.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[limits]\nlog_byte = 1\n", ["limits.log_byte", "did you mean limits.log_bytes?"]),
        ('[policy]\nsplits = "yes"\n', ["policy.splits", "yes", "propose", "apply"]),
        ("[limit]\nlog_bytes = 1\n", ["limit: unknown group", "did you mean limits?"]),
        ("listen_port = 1\n", ["listen_port", "outside a group"]),
        ("[server]\nlisten_port = 70000\n", ["server.listen_port = 70000", "<= 65535", "8000"]),
        ("[server]\nlisten_port = true\n", ["server.listen_port = true", "a whole number"]),
        ("[policy]\ntick_s = -1\n", ["policy.tick_s = -1", ">= 0.1 s", "the default is 5.0"]),
        ("[policy]\ntick_s = nan\n", ["policy.tick_s = nan", ">= 0.1 s"]),
        (
            "[policy]\npermit_s = 60\nsync_interval_s = 50\n",
            ["policy.permit_s", "policy.sync_interval_s"],
        ),
        ("[server]\nlisten_host = 5\n", ["server.listen_host = 5", "a text in quotes"]),
        ("[dns]\nservers = '127.0.0.1'\n", ["dns.servers", "a list of texts"]),
        ("[dns]\nservers = ['dns.example']\n", ["dns.example", "address:port"]),
        ("[dns]\nservers = ['127.0.0.1:99999']\n", ["127.0.0.1:99999", "address:port"]),
        ("[dns]\nallowed_networks = ['127.0.0.1/8']\n", ["127.0.0.1/8", "host bits"]),
        ("[server]\nbehind_tls_proxy = 1\n", ["behind_tls_proxy = 1", "true or false"]),
        ("[server]\npublic_url = 'ftp://x/'\n", ["public_url", "https://name"]),
        ("[server]\ntls_key = '/no/such'\n", ["tls_certificate and server.tls_key", "both"]),
        ("[server\n", ["is not TOML"]),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    """An unusable setting is refused with its name, its value, its limit and what to do."""
    write(tmp_path, text)
    with pytest.raises(SettingError) as caught:
        read_settings(tmp_path)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("override", ["log_bytes=1", "limits.log_bytes", "=1", "limits.=1"])
def test_a_malformed_override_is_refused(tmp_path: Path, override: str) -> None:
    """An override that is not group.name=value says how to write it."""
    with pytest.raises(SettingError, match=r"group\.name=value"):
        read_settings(tmp_path, overrides=[override])


def test_the_documented_file_is_the_defaults(tmp_path: Path) -> None:
    """What `prsm settings` prints, with its settings switched on, reads back as the defaults."""
    lines = [
        line.removeprefix("# ") if " = " in line and not line.endswith(")") else line
        for line in documented().splitlines()
    ]
    write(tmp_path, "\n".join(lines))
    read = read_settings(tmp_path)
    assert dataclasses.replace(read, given=()) == Settings(data=tmp_path)
    assert {where for _, where in read.given} == {"prsm.toml"}
    named = tomllib.loads("\n".join(lines))
    for group in dataclasses.fields(Settings):
        if group.name not in ("data", "given"):
            kind = type(getattr(Settings(data=tmp_path), group.name))
            assert set(named[group.name]) == {each.name for each in dataclasses.fields(kind)}


def test_every_setting_has_a_reason() -> None:
    """Each field says its unit and why its default is what it is."""
    settings = Settings(data=Path("/"))
    for group in dataclasses.fields(settings):
        value = getattr(settings, group.name)
        if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                assert field.metadata["unit"], field.name
                assert len(field.metadata["reason"]) > 10, field.name


@pytest.mark.parametrize("one", RENAMED, ids=lambda one: one.old)
def test_an_old_name_is_refused_with_the_new_one(one: Renamed, tmp_path: Path) -> None:
    """In the file and on the command line; the new name is a setting, the old one is free."""
    names = {line.name: line for line in setting_lines(Settings(data=tmp_path))}
    assert one.old not in names
    group, _, name = one.old.partition(".")
    value = names[one.new].default
    write(tmp_path, f"[{group}]\n{name} = {value}\n")
    with pytest.raises(SettingError) as caught:
        read_settings(tmp_path)
    assert caught.value.code == "settings_errors.old_names"
    expected = f"prsm.toml: {one.old} = {value}: this setting is named {one.new}; write the new"
    assert expected in str(caught.value)
    write(tmp_path, "")
    with pytest.raises(SettingError, match=rf"--set {one.old}=.* is named {one.new}; write"):
        read_settings(tmp_path, overrides=[f"{one.old}={value}"])


def test_the_upgrade_page_lists_each_renamed_setting() -> None:
    """With its new name, in the order in which the manager has them."""
    page = Path(__file__).parents[3] / "docs" / "operations" / "install.md"
    _, begun, rest = page.read_text().partition("\n### Renamed settings\n")
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", rest, re.M)
    assert begun
    assert rows == [(one.old, one.new) for one in RENAMED]
