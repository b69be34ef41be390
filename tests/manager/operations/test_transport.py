"""Which lines are private, and whose address a request has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.errors import InsecureLineError
from manager.operations.transport import (
    Line,
    LineKind,
    local_line,
    networks,
    require_private,
    seen_line,
)
from shared.messages import Message

HERE = networks(("127.0.0.0/8", "::1/128"))
FRONT = networks(("192.0.2.0/28", "2001:db8::/64", "::ffff:198.51.100.0/120"))
RULE = Message("connection.keys_need_tls")
CHROME = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36")


def raw(*pairs: tuple[str, str], host: str | None = "127.0.0.1:8000") -> list[tuple[bytes, bytes]]:
    named = [("Host", host)] if host is not None else []
    return [(name.lower().encode(), value.encode()) for name, value in [*named, *pairs]]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8000", "127.3.2.1", "localhost", "LOCALHOST:80", "localhost.",
     "prsm.localhost:8000", "[::1]", "[::1]:8000"],
)  # fmt: skip
@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_by_a_loopback_name_is_private(peer: str, host: str) -> None:
    """Plain HTTP on this machine, where no proxy is configured and none shows itself."""
    assert seen_line("http", peer, "1.1", raw(host=host), None).kind == LineKind.LOOPBACK


@pytest.mark.parametrize(
    "host",
    ["prsm.example.org", "localhost.example.org", "127.0.0.1.example.org", "evil-localhost", "",
     "127.0.0.1@evil.example", "[::2]", "10.0.0.1", None, "127.0.0.1:8000, x", "0.0.0.0"],
)  # fmt: skip
def test_another_name_is_not(host: str | None) -> None:
    """A proxy that hands the name on, or a name that somebody pointed at 127.0.0.1."""
    assert seen_line("http", "127.0.0.1", "1.1", raw(host=host), None).kind == LineKind.FOREIGN_HOST


def test_two_names_are_not() -> None:
    """Nobody can tell which of two Host fields was meant."""
    headers = raw(("Host", "localhost"))
    assert not seen_line("http", "127.0.0.1", "1.1", headers, None).is_private


@pytest.mark.parametrize(
    "name",
    ["Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
     "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded", "X-Client-IP", "True-Client-IP",
     "CF-Connecting-IP"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["https", "for=127.0.0.1;proto=https", "127.0.0.1", ""])
def test_a_header_of_an_unknown_proxy_opens_the_line(name: str, value: str) -> None:
    """Whoever forwards is no end of the line, whatever he says."""
    line = seen_line("http", "127.0.0.1", "1.1", raw((name, value)), None)
    assert line.kind == LineKind.FORWARDED
    assert line.client == "127.0.0.1"
    with pytest.raises(InsecureLineError, match=f"forwarded this .{name.lower()}.: set server"):
        require_private(line, RULE)


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        ("1.0", []),  # nginx's bare proxy_pass until 1.29.6
        ("1.1", [("Origin", "http://prsm.example.org")]),
        ("1.1", [("Referer", "http://prsm.example.org/console/login")]),
        ("1.1", [CHROME, ("Origin", "https://prsm.example.org:8443")]),
        ("1.1", [CHROME, ("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")]),
    ],
)
def test_a_bare_proxy_shows_itself(version: str, headers: list[tuple[str, str]]) -> None:
    """It names a loopback host and adds no header; what it passes on gives it away."""
    line = seen_line("http", "127.0.0.1", version, raw(*headers), None)
    assert line.kind == LineKind.FORWARDED


def test_a_browser_on_this_machine_is_private() -> None:
    """It says where it comes from, also from a link in a mail that is read on the web."""
    came = [CHROME, ("Sec-Fetch-Site", "cross-site"), ("Referer", "https://mail.example.org/")]
    assert seen_line("http", "127.0.0.1", "1.1", raw(*came), None).kind == LineKind.LOOPBACK
    first = [CHROME, ("Accept", "text/html,*/*;q=0.8"), ("Sec-Fetch-Site", "none")]
    assert seen_line("http", "127.0.0.1", "1.1", raw(*first), None).is_private
    script = [("User-Agent", "curl/8.0"), ("Accept", "text/html")]
    assert seen_line("http", "127.0.0.1", "1.1", raw(*script), None).is_private
    old = [("Origin", "http://127.0.0.1:8000"), ("Referer", "http://localhost:8000/console/")]
    assert seen_line("http", "127.0.0.1", "1.1", raw(*old), None).is_private
    assert seen_line("http", "127.0.0.1", "1.1", raw(("Origin", "null")), None).is_private


@pytest.mark.parametrize(
    ("peer", "headers", "kind"),
    [
        ("192.0.2.5", [("X-Forwarded-Proto", "https")], LineKind.PROXY_TLS),
        ("192.0.2.5", [("X-Forwarded-Proto", " HTTPS ")], LineKind.PROXY_TLS),
        ("2001:db8::1", [("X-Forwarded-Proto", "https"), ("Via", "1.1 x")], LineKind.PROXY_TLS),
        ("192.0.2.5", [], LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("X-Forwarded-Proto", "http")], LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("X-Forwarded-Proto", "https, http")], LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("X-Forwarded-Proto", "https")] * 2, LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("Forwarded", "proto=https")], LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("X-Forwarded-Ssl", "on")], LineKind.PROXY_PLAIN),
        ("192.0.2.5", [("X-Forwarded-Scheme", "https")], LineKind.PROXY_PLAIN),
        ("192.0.2.99", [("X-Forwarded-Proto", "https")], LineKind.NOT_PROXY),
        ("127.0.0.1", [("X-Forwarded-Proto", "https")], LineKind.NOT_PROXY),
        ("127.0.0.1", [], LineKind.NOT_PROXY),
    ],
)
def test_behind_a_proxy_its_word_alone_counts(
    peer: str, headers: list[tuple[str, str]], kind: LineKind
) -> None:
    """X-Forwarded-Proto: https, once, from the proxy's address; loopback is nothing then."""
    line = seen_line("http", peer, "1.0", raw(*headers, host="x.example"), FRONT)
    assert line.kind == kind
    assert line.is_tls == line.is_private == (kind == LineKind.PROXY_TLS)


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1"])
def test_loopback_is_not_private_behind_a_proxy_on_this_machine(peer: str) -> None:
    """A bare proxy_pass cannot be told from a person at the machine, who has the Unix socket."""
    assert seen_line("http", peer, "1.1", raw(), HERE).kind == LineKind.PROXY_PLAIN


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        ("192.0.2.5", ["203.0.113.9"], "203.0.113.9"),
        ("192.0.2.5", ["10.1.1.1, 203.0.113.9"], "203.0.113.9"),  # the first was the client's own
        ("192.0.2.5", ["10.1.1.1", "203.0.113.9"], "203.0.113.9"),
        ("192.0.2.5", ["203.0.113.9, 192.0.2.7"], "203.0.113.9"),  # two proxies of ours
        ("192.0.2.5", ["203.0.113.9, unknown"], "192.0.2.5"),
        ("192.0.2.5", ["203.0.113.9:4711"], "203.0.113.9"),
        ("192.0.2.5", ["[2001:db8:1::9]:4711"], "2001:db8:1::9"),
        ("192.0.2.5", ["::ffff:203.0.113.9"], "203.0.113.9"),
        ("192.0.2.5", [""], "192.0.2.5"),
        ("192.0.2.5", ["203.0.113.9,"], "203.0.113.9"),  # empty elements of a list say nothing
        ("192.0.2.5", ["10.1.1.1, 203.0.113.9, , 192.0.2.6"], "203.0.113.9"),
        ("192.0.2.5", ['"203.0.113.9"'], "192.0.2.5"),
        ("192.0.2.5", [",".join(["192.0.2.5"] * 40)], "192.0.2.5"),
        ("198.51.100.7", ["203.0.113.9"], "203.0.113.9"),  # configured as ::ffff:198.51.100.0/120
        ("192.0.2.5", [], "192.0.2.5"),
        ("192.0.2.99", ["203.0.113.9"], "192.0.2.99"),
    ],
)
def test_the_client_is_whom_the_proxy_saw(peer: str, said: list[str], client: str) -> None:
    """What a client writes itself stands before, and is not believed."""
    headers = raw(*[("X-Forwarded-For", each) for each in said])
    assert seen_line("http", peer, "1.1", headers, FRONT).client == client
    assert seen_line("http", peer, "1.1", headers, None).client == peer


@given(st.lists(st.tuples(st.sampled_from(["host", "origin", "x-forwarded-for",
       "x-forwarded-proto", "referer", "user-agent"]), st.binary(max_size=200)), max_size=4),
       st.sampled_from([None, FRONT, HERE]))  # fmt: skip
def test_no_bytes_break_it(headers: list[tuple[str, bytes]], proxies: object) -> None:
    """Headers are bytes of whoever connects; from elsewhere nothing makes a line private."""
    given_bytes = [(name.encode(), value) for name, value in headers]
    line = seen_line("http", "198.51.100.1", "1.1", given_bytes, proxies)  # type: ignore[arg-type]
    assert not line.is_private
    assert line.client == "198.51.100.1"
    seen_line("http", "192.0.2.5", "1.1", given_bytes, proxies)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [each for each in LineKind if each.value.find("_") > 0])
def test_a_refusal_says_the_remedy(kind: LineKind) -> None:
    """By the reason for which the line is open, which is also its code."""
    line = Line(kind, "192.0.2.1", "x")
    if line.is_private:
        require_private(line, RULE)
        return
    with pytest.raises(
        InsecureLineError, match=r"keys and tokens are accepted over TLS .*only; .*: "
    ) as found:
        require_private(line, RULE)
    assert found.value.code == kind.value


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        ("1.1", [("X-Forwarded-For", "203.0.113.9")]),
        ("1.1", [("Via", "1.1 Caddy")]),
        ("1.0", []),
        ("1.1", [CHROME, ("Sec-Fetch-Site", "none")]),
        ("1.1", [("Origin", "https://prsm.example.org")]),
    ],
)
def test_a_proxy_that_opens_the_unix_socket_makes_nobody_an_administrator(
    version: str, headers: list[tuple[str, str]]
) -> None:
    """What it passes on shows that somebody else is behind it."""
    line = local_line(version, raw(*headers, host="localhost"))
    assert (line.kind, line.is_private) == (LineKind.FORWARDED, False)
    assert local_line("1.1", raw(host="prsm")).kind == LineKind.LOCAL
