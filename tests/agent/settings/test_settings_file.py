"""Settings are read once, checked wholly, and refused in words."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest

from agent.settings import (
    SETTINGS_FILE,
    Settings,
    check_can_run,
    documented,
    read_settings,
)
from shared.errors import SettingError


def write(home: Path, text: str) -> Path:
    (home / SETTINGS_FILE).write_text(text)
    return home


def test_no_file_means_the_defaults_of_the_source(tmp_path: Path) -> None:
    """Without a file: 200 hosts, 20 s, 10 s for fast ones, always open, logs kept a week."""
    settings = read_settings(tmp_path)
    assert settings == Settings(home=tmp_path)
    assert settings.network.parallel_hosts == 200
    assert (settings.politeness.interval_s, settings.politeness.fast_host_interval_s) == (
        20.0,
        10.0,
    )
    assert settings.disk.log_retention_s == 7 * 86400
    assert settings.windows.weekday == ("00:00-24:00",)


def test_file_and_command_line(tmp_path: Path) -> None:
    """The file replaces defaults, the command line replaces the file; texts need no quotes."""
    write(tmp_path, '[windows]\nweekday = ["02:00-08:00"]\n[politeness]\ninterval_s = 30\n')
    settings = read_settings(tmp_path, ["politeness.interval_s=0", "windows.zone=Asia/Tokyo"])
    assert settings.windows.weekday == ("02:00-08:00",)
    assert settings.politeness.interval_s == 0.0
    assert isinstance(settings.politeness.interval_s, float)
    assert settings.windows.zone == "Asia/Tokyo"


def test_the_documented_file_is_the_default(tmp_path: Path) -> None:
    """The file that names every setting changes none; uncommented, each line is its default."""
    text = documented()
    assert read_settings(write(tmp_path, text)) == Settings(home=tmp_path)
    lines = [line[2:] if " = " in line else line for line in text.splitlines()]
    values = tomllib.loads("\n".join(line for line in lines if not line.startswith("#")))
    for group in dataclasses.fields(Settings):
        if group.name == "home":
            continue
        expected = dataclasses.asdict(getattr(Settings(home=tmp_path), group.name))
        found = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in values[group.name].items()
        }
        assert found == expected


def test_the_documented_file_can_carry_values(tmp_path: Path) -> None:
    """What enrolling knows already stands in the file that it writes."""
    text = documented(robot={"contact": "a@example.org"})
    assert read_settings(write(tmp_path, text)).robot.contact == "a@example.org"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[politeness]\nintervall_s = 3\n", "did you mean politeness.interval_s?"),
        ("[windos]\n", "windos: unknown group of settings; did you mean windows?"),
        ("interval_s = 3\n", "stands outside a group"),
        ("[politeness]\ninterval_s = -1\n", "must be >= 0 s; the default is 20.0"),
        ("[network]\nparallel_hosts = 100000\n", "must be <= 10000 hosts; the default is 200"),
        ('[network]\nparallel_hosts = "many"\n', "must be a whole number"),
        ("[network]\nparallel_hosts = true\n", "must be a whole number"),
        ("[politeness]\nblocked_url_patterns = 'x'\n", "must be a list of texts"),
        ("[politeness\n", "is not TOML"),
        ('[manager]\nurl = "http://prsm.example.org/"\n', "must begin with https://"),
        ('[manager]\nurl = "ftp://prsm.example.org/"\n', "must be https://name"),
        ('[manager]\nurl = "https://a:b@prsm.example.org/"\n', "nothing more"),
        ('[manager]\nurl = "https://x:99999/"\n', "manager.url"),
        ('[manager]\nname = "My Robot"\n', "agent name"),
        ('[manager]\nca_file = "ca.pem"\n', "no such file; a relative path starts at"),
        ('[manager]\nproxy = "proxy:8080"\n', "must be as http://proxy"),
        ("[manager]\nbackoff_s = 60\nmax_backoff_s = 5\n", "must be >= manager.backoff_s"),
        ('[robot]\nproduct_token = "PRS/1.0"\n', "letters, _ or -"),
        ('[robot]\ncontact = "nobody"\n', "must be a mail address"),
        ('[robot]\ninfo_url = "example.org"\n', "must be an http or https URL"),
        ('[dns]\nallowed_networks = ["127.0.0.1/8"]\n', "write it as 127.0.0.0/8"),
        ('[dns]\nservers = ["ns.example.org"]\n', "must be address:port"),
        ('[dns]\nservers = ["127.0.0.1:99999"]\n', "must be address:port"),
        ('[network]\ncontent_codings = ["lzma"]\n', "network.content_codings"),
        ('[network]\nsource_address = "eth0"\n', "network.source_address"),
        ('[memory]\nseen_url_filter = "magic"\n', "must be one of pairs"),
        ('[links]\ndisabled_kinds = ["pings"]\n', 'did you mean "ping"'),
        ('[links]\ndisabled_kinds = ["anchor"]\n', "kinds of links that can be switched off"),
        ('[links]\nwell_known_files = ["/x"]\n', "names of files below /.well-known/"),
        ('[windows]\nweekday = ["2-8"]\n', "must be a time of day"),
        ('[windows]\nweekday = ["02:00"]\n', "must be HH:MM-HH:MM"),
        ('[windows]\nweekday = ["02:00-02:00"]\n', "is empty"),
        ('[windows]\nweekday = ["02:00-24:30"]\n', "must be a time of day"),
        ("[windows]\nweekday = []\nweekend = []\n", "would never work"),
        ('[windows]\nzone = "Asia/Tokio"\n', "no such time zone"),
        ('[windows]\nzone = "../../etc/passwd"\n', "no such time zone"),
        ('[reports]\ndaily_log_time = "25:00"\n', "must be a time of day"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """A refusal names the setting, the limit and the remedy."""
    with pytest.raises(SettingError) as refusal:
        read_settings(write(tmp_path, text))
    assert said in str(refusal.value)


def test_a_bad_override_is_refused(tmp_path: Path) -> None:
    """--set needs a group, a name and a value."""
    with pytest.raises(SettingError, match=r"must be group\.name=value"):
        read_settings(tmp_path, ["interval_s=3"])


def test_loopback_needs_no_tls(tmp_path: Path) -> None:
    """A manager on this machine may be spoken to over plain HTTP."""
    for url in ("http://127.0.0.1:8000/", "http://[::1]:8000", "http://localhost:8000"):
        assert read_settings(tmp_path, [f"manager.url={url}"]).manager.url == url


def test_no_crawl_without_a_contact(tmp_path: Path) -> None:
    """An agent that nobody can be asked about does not start; with a contact it does."""
    with pytest.raises(SettingError, match="must be a mail address at which owners"):
        check_can_run(read_settings(tmp_path))
    check_can_run(read_settings(tmp_path, ["robot.contact=a@example.org"]))
