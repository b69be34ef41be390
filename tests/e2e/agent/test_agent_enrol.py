"""Joining: the way to the manager is looked at first, and what was said stands in prs.toml."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli import main
from agent.cli.questions import Answers, ask_missing
from agent.settings import Home, read_settings
from tests.agent.app.fake_manager import FakeManager, Handler, refuse
from tests.e2e.nginx import make_certificate
from tests.programs import program

pytestmark = pytest.mark.e2e

SAID = ("--contact", "me@example.org", "--weekday", "02:00-08:00")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "prs")
    home.make()
    return home


@pytest.fixture
def manager() -> Iterator[FakeManager]:
    with FakeManager() as manager:
        yield manager


def enrol(home: Home, manager: FakeManager, *words: str) -> tuple[int, str, str]:
    given = ["--home", str(home.path), "enrol", manager.url, "--name", manager.name]
    result = CliRunner().invoke(main, [*given, *words], input=manager.token)
    return result.exit_code, result.stdout, result.stderr


def test_what_was_said_goes_into_the_settings_that_are_there(
    home: Home, manager: FakeManager
) -> None:
    """Hours and contact hold, cron's line is of these hours, and the partner's own words stay."""
    home.settings.write_text("# ours\n[manager]\ntimeout_s = 5.0  # a slow line\n")
    home.settings.chmod(0o640)
    code, out, _ = enrol(home, manager, *SAID)
    assert code == 0
    text = home.settings.read_text()
    assert "# ours\n[manager]\ntimeout_s = 5.0  # a slow line\n" in text
    assert home.settings.stat().st_mode & 0o777 == 0o640
    settings = read_settings(home.path)
    assert settings.robot.contact == "me@example.org"
    assert settings.windows.weekday == ("02:00-08:00",)
    assert f"changed in {home.settings}: robot.contact, windows.weekday" in out
    assert "run --once" in out, "an agent with hours is not started with the machine"
    assert enrol(home, manager, *SAID)[0] == 0
    assert home.settings.read_text() == text


def test_settings_that_cannot_be_changed_are_left(home: Home, manager: FakeManager) -> None:
    """It is said what to write, before the token is handed in."""
    home.settings.write_text('windows = { weekend = ["02:00-22:00"] }\n')
    code, _, err = enrol(home, manager, *SAID)
    assert code == 1
    assert 'write there yourself: contact = "me@example.org" under [robot]; weekday' in err
    assert home.settings.read_text() == 'windows = { weekend = ["02:00-22:00"] }\n'
    assert not manager.calls


def test_a_key_for_another_manager_is_what_the_settings_name(
    home: Home, manager: FakeManager
) -> None:
    """A URL or a name in prs.toml would go before those that were enrolled."""
    home.settings.write_text('[manager]\nurl = "https://old.example.org"\nname = "old"\n')
    assert enrol(home, manager)[0] == 0
    settings = read_settings(home.path).manager
    assert (settings.url, settings.name) == (manager.url, manager.name)


def test_a_firewall_that_opens_tls(home: Home, manager: FakeManager, tmp_path: Path) -> None:
    """The remedy is said, nothing is handed in, what was said is kept; the same with it is good."""
    program("openssl")
    key, certificate = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    manager.encrypt(context)
    code, _, err = enrol(home, manager, *SAID)
    assert code == 3
    assert "CERTIFICATE_VERIFY_FAILED" in err
    assert "prs enrol --ca-file FILE" in err
    assert not manager.calls
    assert not home.new_key.exists()
    code, out, _ = enrol(home, manager, "--ca-file", str(certificate))
    assert code == 0
    assert f"changed in {home.settings}: manager.ca_file" in out
    settings = read_settings(home.path)
    assert settings.manager.ca_file == str(certificate)
    assert settings.windows.weekday == ("02:00-08:00",)
    assert manager.key_hashes


def test_a_file_that_holds_no_certificate(home: Home, manager: FakeManager, tmp_path: Path) -> None:
    """It is refused before anything is written or sent."""
    (tmp_path / "ca.pem").write_text("no certificate")
    code, _, err = enrol(home, manager, "--ca-file", str(tmp_path / "ca.pem"))
    assert code == 1
    assert "no PEM certificates" in err
    assert not home.settings.exists()
    assert not manager.calls


def test_a_proxy_is_kept_for_cron(home: Home, manager: FakeManager) -> None:
    """Neither cron nor systemd knows that of a shell. A manager on this machine needs none."""
    assert enrol(home, manager, "--proxy", "http://proxy.example.org:8080")[0] == 0
    assert read_settings(home.path).manager.proxy == "http://proxy.example.org:8080"


def test_a_page_of_another_is_no_manager(home: Home, manager: FakeManager) -> None:
    """A token is not handed in where something in between answers."""

    def page(handler: Handler, _name: str, _body: bytes) -> bool:
        handler.send_response(403)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True

    manager.fail("isrestart", page)
    code, _, err = enrol(home, manager)
    assert code == 3
    assert "a server that is no manager answers (403: " in err
    assert manager.paths() == ["isrestart"]
    manager.fail("enrol", refuse(401, "join token: unknown"))
    assert enrol(home, manager)[0] == 1


def test_why_a_token_lets_nobody_in_is_said_as_the_manager_says_it(
    home: Home, manager: FakeManager
) -> None:
    """Who revoked it and when; not the remedy of a key that is refused."""
    said = "join token for a: was revoked at 2026-11-22 10:00 UTC by hana; ask for a new one"
    manager.fail("enrol", refuse(403, said))
    code, _, err = enrol(home, manager)
    assert code == 1
    assert said in err
    assert "blocked" not in err
    assert not home.key.exists()


def test_questions_offer_what_the_settings_say(home: Home) -> None:
    """Whoever enrols anew needs to type nothing twice."""
    home.settings.write_text(
        '[robot]\ncontact = "a@example.org"\n'
        '[windows]\nweekday = ["02:00-04:00", "05:00-08:00"]\nweekend = []\n'
    )
    settings = read_settings(home.path)
    known = Answers("https://m.example.org", "t", "prs1", None, None, None, "cron")
    with CliRunner().isolation(input="\n\n\n\n"):
        said = ask_missing(known, settings)
    assert said.contact == "a@example.org"
    assert (said.weekday, said.weekend) == (("02:00-04:00", "05:00-08:00"), ())
