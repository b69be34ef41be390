"""A token is kept in one file, for one server, and shown nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from client.errors import ClientError, TokenError
from client.login import Login, check_token, check_url, home, load, save

TOKEN = "a" * 43


def test_it_is_kept(tmp_path: Path) -> None:
    """Readable by its owner only, whatever was there before; it does not show in the login."""
    folder = tmp_path / "new" / "prs-get"
    login = Login("https://prsm.example.jp/", TOKEN, "/ca.pem", "http://proxy:3128")
    path = save(folder, login)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load(folder) == login
    path.chmod(0o600)
    assert save(folder, Login("https://other.example/", TOKEN)) == path
    assert load(folder).url == "https://other.example/"
    assert TOKEN not in repr(login)
    assert [each.name for each in folder.iterdir()] == ["login.json"]


def test_what_is_no_login(tmp_path: Path) -> None:
    """None, one that others read, one that is something else: a sentence with the remedy."""
    with pytest.raises(TokenError, match="prs-get login URL"):
        load(tmp_path)
    path = save(tmp_path, Login("https://x.example/", TOKEN))
    path.chmod(0o640)
    with pytest.raises(TokenError, match="others may read"):
        load(tmp_path)
    path.chmod(0o600)
    for text in ("", "{", "[1]", '{"url": "x", "user": "y"}', '{"url": "x"}'):
        path.write_text(text)
        with pytest.raises(TokenError, match="again"):
            load(tmp_path)


def test_the_environment_is_stronger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address and a token in it need no file; they are checked like any other."""
    monkeypatch.setenv("PRS_GET_URL", "https://other.example")
    monkeypatch.setenv("PRS_GET_TOKEN", TOKEN)
    save(tmp_path, Login("https://x.example/", "b" * 43))
    assert load(tmp_path) == Login("https://other.example/", TOKEN)
    monkeypatch.setenv("PRS_GET_URL", "http://other.example")
    with pytest.raises(ClientError, match="plain HTTP"):
        load(tmp_path)
    monkeypatch.delenv("PRS_GET_TOKEN")
    assert load(tmp_path).url == "https://x.example/"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://prsm.example.jp", "https://prsm.example.jp/"),
        ("https://prsm.example.jp:8443/prsm/", "https://prsm.example.jp:8443/prsm/"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://localhost:8000", "http://localhost:8000/"),
        ("http://[::1]:8000", "http://[::1]:8000/"),
    ],
)
def test_addresses(given: str, kept: str) -> None:
    """TLS anywhere, plain HTTP to this machine."""
    assert check_url(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "prsm.example.jp", "ftp://x.example/", "http://prsm.example.jp/", "http://127.evil.example/",
        "http://10.0.0.1/", "https://", "https://name:word@x.example/", "https://x.example/?a=b",
        "https://x.example/#a", "https://x.example:99999999/", "",
    ],
)  # fmt: skip
def test_addresses_that_are_refused(given: str) -> None:
    """What would show the token to others, or is no server."""
    with pytest.raises(ClientError, match="server"):
        check_url(given)


def test_a_token_that_is_none_is_not_shown() -> None:
    """Its length is said, and nothing of it."""
    assert check_token(f"  {TOKEN}\r\n") == TOKEN
    for text in ("", "short", "geheim" * 3 + " " + "geheim" * 3, "x" * 600, "x" * 20 + "\x1b"):
        with pytest.raises(TokenError) as refused:
            check_token(text)
        assert "geheim" not in str(refused.value)


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """PRS_GET_HOME, the user's settings, or .config."""
    monkeypatch.setenv("HOME", "/home/a")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("PRS_GET_HOME", raising=False)
    assert home() == Path("/home/a/.config/prs-get")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    assert home() == Path("/c/prs-get")
    monkeypatch.setenv("PRS_GET_HOME", "/d")
    assert home() == Path("/d")
