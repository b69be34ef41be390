"""Expressions of hosts, from what people type."""

from __future__ import annotations

import re

import click
import pytest

from client.cli.options import selected_hosts
from client.host_expression import domain_expression, host_expression
from client.selection import with_any_port


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        *(("www.a.jp", "www.a.jp:80"), ("WWW.A.JP.", "www.a.jp:8080"), (" a.jp:80 ", "a.jp:80")),
        *(("http://www.a.jp/", "www.a.jp:80"), ("HTTPS://www.a.jp/x?y", "www.a.jp:443")),
        *(("http://a.jp:8080/", "a.jp:8080"), ("日本語.jp", "xn--wgv71a119e.jp:80")),
        *(("http://日本語.jp/パス", "xn--wgv71a119e.jp:80"), ("2001:DB8::1", "[2001:db8::1]:80")),
        *(("[2001:db8::1]", "[2001:db8::1]:80"), ("[2001:db8:0::1]:81", "[2001:db8::1]:81")),
        *(("http://[2001:db8::1]/", "[2001:db8::1]:80"), ("^www[.]a[.]jp$", "www.a.jp:80")),
        ("ｗｗｗ．a.jp/x", "www.a.jp:80"),
        *(("a|b.jp", "b.jp:80"), (".*[.]a[.]jp:80", "www.a.jp:80"), (r"(www\.)?a\.jp", "a.jp:80")),
    ],
)
def test_the_host_that_is_meant_matches(typed: str, host: str) -> None:
    """In any case and script, as a URL, with and without its port; expressions as they are."""
    assert re.fullmatch(with_any_port(host_expression(typed)), host)


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        *(("www.a.jp", "www.a.jp.example:80"), ("http://a.jp/", "a.jp:443"), ("a.jp", "b.a.jp:80")),
        *(("http://a.jp/", "axjp:80"), ("a.jp:80", "a.jp:8080")),
    ],
)
def test_another_host_does_not(typed: str, host: str) -> None:
    """Nor another port, where one was typed."""
    assert not re.fullmatch(with_any_port(host_expression(typed)), host)


@pytest.mark.parametrize(
    "typed", ["a.jp", ".A.jp.", "*.a.jp", "http://a.jp/x", " a.jp", "HTTPS://A.JP"]
)
def test_a_domain_has_all_names_below_it(typed: str) -> None:
    """As it is typed or copied."""
    expression = with_any_port(domain_expression(typed))
    assert re.fullmatch(expression, "a.jp:80")
    assert re.fullmatch(expression, "w.x.a.jp:443")
    assert not re.fullmatch(expression, "ba.jp:80")


def test_a_domain_in_unicode_is_one_in_ascii() -> None:
    """The server's names are ASCII."""
    assert re.fullmatch(domain_expression("日本.jp"), "www.xn--wgv71a.jp")


@pytest.mark.parametrize(
    ("hosts", "domains"), [([""], []), ([" "], []), ([], [""]), ([], ["*."]), (["a"], ["."])]
)
def test_an_empty_option_is_refused(hosts: list[str], domains: list[str]) -> None:
    """A variable of a script that is not set must not mean everything."""
    with pytest.raises(click.UsageError, match="is empty"):
        selected_hosts(hosts, domains)
