"""Cookies of one chain of redirects."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.redirect_chain import MAX_TEXT, cookies_for, next_step

NOW_MS = 1_700_000_000_000
A = "http://www.a.example.com/dir/page"
MOVED = b"HTTP/1.1 302 Found\r\n\r\n"


def chain_of(*cookies: str, url: str = A, target: str = A, before: str = "") -> str:
    """Return the chain behind an answer that sets cookies."""
    fields = "".join(f"Set-Cookie: {one}\r\n" for one in cookies)
    header = f"HTTP/1.1 302 Found\r\n{fields}\r\n".encode("latin-1")
    return next_step(before, url, header, target, NOW_MS).text


@pytest.mark.parametrize(
    ("cookie", "url", "sent"),
    [
        ("a=1", A, "a=1"),
        ("a=1", "http://www.a.example.com:8080/dir/other", "a=1"),
        ("a=1", "http://www.a.example.com/", ""),
        ("a=1; Path=/", "http://www.a.example.com/", "a=1"),
        ("a=1; path=/dir", "http://www.a.example.com/directory", ""),
        ("a=1; path=/dir", "http://www.a.example.com/dir", "a=1"),
        ("a=1; Path=relative", A, "a=1"),
        ("a=1; Path=/", "http://b.a.example.com/", ""),
        ("a=1; Path=/; Domain=a.example.com", "http://b.a.example.com/", "a=1"),
        ("a=1; Path=/; Domain=.A.Example.com", "http://a.example.com/", "a=1"),
        ("a=1; Path=/; Domain=b.example.com", "http://b.example.com/", ""),
        ("a=1; Path=/; Domain=com", "http://b.com/", ""),
        ("a=1; Path=/; Domain=co.uk", "http://b.co.uk/", ""),
        ("a=1; Secure; Path=/", "https://www.a.example.com/", ""),
        ("__Secure-a=1; Path=/", A, ""),
        ("__Host-a=1; Path=/", A, ""),
        ("a", A, "a"),
        ("=a", A, "a"),
        (" a = b c ; x", A, "a=b c"),
        ("a=1; Max-Age=0", A, ""),
        ("a=1; Max-Age=-5", A, ""),
        ("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", A, "a=1"),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", A, ""),
        ("a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", A, "a=1"),
        ("a=1; Expires=soon", A, "a=1"),
        ("a=\x01", A, ""),
        ("", A, ""),
        ("a=" + "x" * 5000, A, ""),
        ("n=caf\xe9", A, "n=caf\xe9"),
    ],
)
def test_a_cookie_goes_where_a_browser_sends_it(cookie: str, url: str, sent: str) -> None:
    """Domain, path, secure, prefixes and ends as RFC 6265bis has them."""
    assert cookies_for(chain_of(cookie), url) == sent


def test_secure_cookies_go_over_https_alone() -> None:
    """And only https may set them."""
    secure = "https://www.a.example.com/"
    chain = chain_of("a=1; Secure", "__Host-b=2; Secure; Path=/", url=secure)
    assert cookies_for(chain, secure) == "a=1; __Host-b=2"
    assert cookies_for(chain, "http://www.a.example.com/") == ""


def test_a_domain_without_a_host_below_it_is_of_the_host_itself() -> None:
    """A host that is a public suffix has cookies of its own."""
    chain = chain_of("a=1; Domain=github.io", url="http://github.io/")
    assert cookies_for(chain, "http://github.io/") == "a=1"
    assert cookies_for(chain, "http://x.github.io/") == ""


def test_addresses_have_no_domains() -> None:
    """`0.0.1` is no domain of 127.0.0.1."""
    url = "http://127.0.0.1/"
    assert cookies_for(chain_of("a=1; Domain=0.0.1", url=url), url) == ""
    assert cookies_for(chain_of("a=1", url=url), url) == "a=1"


def test_cookies_are_replaced_ended_and_ordered() -> None:
    """The longer path first, then the older one; one of the same name and place replaces it."""
    chain = chain_of("a=1; Path=/", "b=2", "c=3; Path=/")
    assert cookies_for(chain, A) == "b=2; a=1; c=3"
    chain = chain_of("a=4; Path=/", "c=; Path=/; Max-Age=0", before=chain)
    assert cookies_for(chain, A) == "b=2; a=4"


def test_a_chain_without_cookies_is_nothing() -> None:
    """It costs nothing to carry, and leads back nowhere."""
    step = next_step("", A, b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", A, NOW_MS)
    assert (step.text, step.again) == ("", False)
    assert cookies_for("", A) == ""


def walked(urls: list[str], before: str | None = None) -> tuple[str, str | None]:
    """Return the chain of redirects without cookies, and who led to the last one's target."""
    chain, led_from = "", before
    for url, target in pairwise(urls):
        step = next_step(chain, url, MOVED, target, NOW_MS, led_from)
        assert not step.again
        chain, led_from = step.text, url
    return chain, led_from


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_a_login_leads_back_to_the_page_it_was_asked_for(hops: int) -> None:
    """The cookie comes some redirects after the page, which is then asked for once more."""
    urls = [A, *(f"http://www.a.example.com/login{number}" for number in range(hops))]
    chain, led_from = walked(urls)
    assert cookies_for(chain, A) == ""
    signed = b"HTTP/1.1 307 X\r\nSet-Cookie: in=1; Path=/\r\n\r\n"
    back = next_step(chain, urls[-1], signed, A, NOW_MS, led_from)
    assert back.again
    assert cookies_for(back.text, A) == "in=1"
    assert not next_step(back.text, A, MOVED, A, NOW_MS, urls[-1]).again
    elsewhere = next_step(chain, urls[-1], signed, f"{A}/other", NOW_MS, led_from)
    assert not elsewhere.again


def test_a_cookie_that_ends_at_once_leads_back_nowhere() -> None:
    """The page would be asked as it was before."""
    chain, led_from = walked([A, "http://www.a.example.com/logout"])
    ended = b"HTTP/1.1 302 X\r\nSet-Cookie: a=; Max-Age=0\r\n\r\n"
    assert not next_step(chain, led_from or A, ended, A, NOW_MS, A).again


def test_a_chain_knows_a_bounded_number_of_pages() -> None:
    """However many redirects the settings allow."""
    chain, _ = walked([f"{A}{number}" for number in range(1000)])
    assert 0 < len(chain) <= MAX_TEXT


def test_a_url_is_asked_again_only_with_other_cookies() -> None:
    """A wall opens at the second request; one that sets the same cookie for ever does not."""
    header = b"HTTP/1.1 302 Found\r\nSet-Cookie: a=1\r\n\r\n"
    first = next_step("", A, header, A, NOW_MS)
    assert first.again
    assert not next_step(first.text, A, header, A, NOW_MS).again
    other = "http://www.a.example.com/dir/other"
    away = next_step("", A, header, other, NOW_MS)
    assert not away.again
    assert next_step(away.text, other, b"HTTP/1.1 302 Found\r\n\r\n", A, NOW_MS).again


@given(
    st.lists(st.text(st.characters(max_codepoint=255), max_size=3000), max_size=30),
    st.sampled_from([A, "https://a.example.com/", "http://[::1]/x", "http://a/?q"]),
)
def test_a_chain_stays_small_whatever_is_set(cookies: list[str], url: str) -> None:
    """Bounded, in one line without tabs, and readable again."""
    values = [one.replace("\r", "").replace("\n", "") for one in cookies]
    chain = chain_of(*values, url=url)
    assert len(chain) <= MAX_TEXT
    assert not {"\t", "\n", "\r"} & set(chain)
    assert isinstance(cookies_for(chain, url), str)
