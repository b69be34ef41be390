"""Host names as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.operations.hosts.typed_hosts import reversed_domain, typed_host


@pytest.mark.parametrize(
    ("text", "name", "port", "url"),
    [
        ("www.example.jp", "jp,example,www", "", ""),
        ("Example.JP.", "jp,example", "", ""),
        (" *.example.jp ", "jp,example", "", ""),
        ("www.example.jp:8080", "jp,example,www", "8080", ""),
        ("www.example.jp/a b", "jp,example,www", "", "http://www.example.jp/a%20b"),
        ("HTTPS://Www.Example.jp", "jp,example,www", "", "https://www.example.jp/"),
        ("http://www.example.jp:80/a?q=1#f", "jp,example,www", "80", "http://www.example.jp/a?q=1"),
        ("日本語.jp", "jp,xn--wgv71a119e", "", ""),
        ("日本語。ＪＰ：８０", "jp,xn--wgv71a119e", "80", ""),
        ("BÜCHER.example", "example,xn--bcher-kva", "", ""),
        ("STRAßE.de", "de,xn--strae-oqa", "", ""),
        ("１９２．０．２．７", "192.0.2.7", "", ""),
        ("[2001:DB8:0::1]", "[2001:db8::1]", "", ""),
        ("2001:db8::1", "[2001:db8::1]", "", ""),
        ("http://[2001:db8::1]:81/x", "[2001:db8::1]", "81", "http://[2001:db8::1]:81/x"),
        ("<http://www.example.jp/>", "jp,example,www", "", "http://www.example.jp/"),
        (
            "\u300chttps://www.example.jp/a\u300d\u3002",
            "jp,example,www",
            "",
            "https://www.example.jp/a",
        ),
        ("'www.example.jp',", "jp,example,www", "", ""),
        ("//www.example.jp/x", "jp,example,www", "", "http://www.example.jp/x"),
        ("ftp://www.example.jp", "jp,example,www", "", ""),
        ("view-source:http://www.example.jp/", "jp,example,www", "", "http://www.example.jp/"),
        ("http://anna:secret@www.example.jp/", "jp,example,www", "", "http://www.example.jp/"),
        ("http://%E6%97%A5%E6%9C%AC.jp/a", "jp,xn--wgv71a", "", "http://xn--wgv71a.jp/a"),
        ("a%2Fb.jp", "", "", ""),
        ("books@library.example", "", "", ""),
        ("two words", "", "", ""),
        ("*", "", "", ""),
        ("http://", "", "", ""),
        ("a..b", "", "", ""),
    ],
)
def test_a_text_is_read_as_a_host(text: str, name: str, port: str, url: str) -> None:
    """With or without scheme, port and path, in any case, width and script."""
    typed = typed_host(text)
    assert (typed.reversed_name, typed.port, typed.url) == (name, port, url)


def test_an_ip_address_is_one_in_each_spelling() -> None:
    """As it is kept, with and without brackets or a URL around it."""
    for text in ("2001:DB8::1", "[2001:db8:0:0::1]", "http://[2001:db8::1]/"):
        assert typed_host(text).address == "2001:db8::1"
    assert typed_host("192.0.2.7:80").address == "192.0.2.7"
    assert typed_host("192.0.2").address == ""


def test_a_scheme_or_port_says_which_host_of_a_name() -> None:
    """The first part that is looked for names it; a name alone means all its hosts."""
    assert typed_host("https://a.jp/x").parts[0] == "https://a.jp:"
    assert typed_host("https://a.jp:444/x").parts[0] == "https://a.jp:444"
    assert typed_host("a.jp:444").parts == ("a.jp:444",)
    assert typed_host("a.jp:444").is_precise
    assert not typed_host("a.jp").is_precise


@given(st.text(max_size=80))
def test_nothing_is_refused(text: str) -> None:
    """Each text has a part to look for, and a domain or none."""
    typed = typed_host(text)
    assert typed.parts
    assert isinstance(reversed_domain(text), str)
