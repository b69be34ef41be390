"""Heads that cost more than they are long are refused, or lose what is dear."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manager.app.web.request_heads import PARAMETERS_MOST, check_parameters, plain_cookies
from manager.operations.people.users import add_user
from shared.errors import LimitError
from tests.manager.console.browser import Browser
from tests.manager.console.filled import PASSWORD
from tests.manager.running import LOCAL, Running, running


@pytest.fixture(scope="module")
def prsm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a manager with an administrator."""
    with running(tmp_path_factory.mktemp("heads")) as opened:
        add_user(opened.manager.db, "admin", PASSWORD, "admin", LOCAL, opened.clock())
        yield opened


def test_cookies_with_escapes_are_left_out() -> None:
    """Python undoes their escapes in quadratic time: 64 KB of them take 20 s."""
    dear = b'x="' + rb"\0" * 30_000 + b'"'
    headers = [(b"host", b"a"), (b"cookie", b"prsm=1; " + dear + b"; b=2"), (b"cookie", dear)]
    assert plain_cookies(headers) == [
        (b"host", b"a"),
        (b"cookie", b"prsm=1; b=2"),
        (b"cookie", b""),
    ]
    plain = [(b"cookie", b'a=1; b="2"'), (b"referer", rb"\a")]
    assert plain_cookies(plain) is plain


@pytest.mark.parametrize("path", ["/api/v1/me", "/console/", "/api/v1/hosts"])
def test_a_dear_cookie_is_nobody_s(
    prsm: Running, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No entrance gives it to who would undo its escapes; the cookies beside it count."""
    seen: list[str] = []

    def noted(text: str) -> str:
        seen.append(text)
        return text

    monkeypatch.setattr("http.cookies._unquote", noted)
    browser = Browser(prsm.public)
    browser.log_in("admin")
    good = browser.get(path).status_code
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    dear = 'x="' + r"\0" * 30_000 + '"'
    answer = prsm.anybody.get(path, headers={"Cookie": f"{dear}; {cookies}"})
    assert answer.status_code == good
    assert not any("\\" in text for text in seen)


def test_an_address_has_so_many_parameters() -> None:
    """What, value, limit and remedy."""
    check_parameters(b"a=1" + b"&a=1" * (PARAMETERS_MOST - 1))
    with pytest.raises(LimitError, match=r"has 1,001 parameters: the limit is 1,000; send fewer"):
        check_parameters(b"a=1" + b"&a=1" * PARAMETERS_MOST)


@pytest.mark.parametrize("path", ["/api/v1/hosts", "/console/hosts", "/servlets/list", "/nothing"])
def test_more_parameters_are_414_at_each_entrance(prsm: Running, path: str) -> None:
    """Before any of them is looked at."""
    answer = prsm.anybody.get(f"{path}?{'a&' * PARAMETERS_MOST}")
    assert (answer.status_code, answer.headers["x-error-code"]) == (
        414,
        "requests.too_many_parameters",
    )
    assert "the limit is 1,000" in answer.text
