"""The join token reaches `prs enrol` on no way that other users of the machine can see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli import main

URL = "http://prsm.example.jp/"
UNDERSTOOD = "must begin with https://"
TOKENS = ["-n3dbo8KyMSo", "-hello", "--x3", "-", "_a-", "n3dbo8KyMSo3Pz0-b2F8Vt"]


def enrol(home: Path, *words: str, typed: str = "") -> Result:
    return CliRunner().invoke(main, ["--home", str(home), "enrol", *words], input=typed)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("name", [(), ("--name", "prs1")])
def test_an_argument_is_refused(tmp_path: Path, token: str, name: tuple[str, ...]) -> None:
    """The sentence names the new ways, never the token, and nothing is begun."""
    done = enrol(tmp_path / "prs", URL, token, *name)
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    for way in ("paste the token when asked", "--token-file FILE", "PRS_JOIN_TOKEN"):
        assert way in said
    assert len(token) < 4 or token not in done.output
    assert not (tmp_path / "prs").exists()


def test_an_option_that_there_is_not_is_named(tmp_path: Path) -> None:
    """It is no token; a token is longer."""
    done = enrol(tmp_path, URL, "--contakt", "me@example.org")
    assert done.exit_code == 2
    assert "No such option: --contakt" in done.stderr


@pytest.mark.parametrize("token", TOKENS)
def test_each_way_is_taken(tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, standard input as a file, standard input, the environment."""
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    assert UNDERSTOOD in enrol(tmp_path, URL, "--token-file", str(file)).stderr
    assert UNDERSTOOD in enrol(tmp_path, URL, "--token-file", "-", typed=f"{token}\n").stderr
    assert UNDERSTOOD in enrol(tmp_path, URL, typed=token).stderr
    monkeypatch.setenv("PRS_JOIN_TOKEN", token)
    assert UNDERSTOOD in enrol(tmp_path, URL).stderr
    assert "PRS_JOIN_TOKEN" not in os.environ, "programs that are started inherit it"


@pytest.mark.parametrize(("text", "words"), [("", 0), ("\n", 0), ("two words", 2)])
def test_what_is_no_token_is_said_with_its_place(tmp_path: Path, text: str, words: int) -> None:
    """An empty file, a mail that was pasted whole."""
    file = tmp_path / "token"
    file.write_text(text)
    done = enrol(tmp_path, URL, "--token-file", str(file))
    assert done.exit_code == 2
    assert f"--token-file holds {words} words" in " ".join(done.stderr.split())
    done = enrol(tmp_path, URL, typed=text)
    assert done.exit_code == 2
    assert f"standard input holds {words} words" in " ".join(done.stderr.split())


def test_no_password_of_a_proxy_either(tmp_path: Path) -> None:
    """It belongs into prs.toml; without one the option is as it was."""
    secret = "http://me:s3cret@proxy.example.org:8080"
    done = enrol(tmp_path, "https://prsm.example.jp/", "--proxy", secret, typed="token")
    assert done.exit_code == 1
    assert "--proxy: contains a password" in done.stderr
    assert "s3cret" not in done.stderr
    words = ["--home", str(tmp_path), "run", "--set", f'manager.proxy="{secret}"']
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "--set manager.proxy: contains a password" in done.stderr
    assert "manager.proxy in prs.toml" in done.stderr
    assert "s3cret" not in done.stderr
