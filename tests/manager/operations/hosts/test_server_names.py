"""Units as words of the source's files, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.operations.hosts.server_names import server_name, unit_named
from shared.errors import UrlError

KEYS = st.builds(
    "{}://{}:{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["www.example.jp", "https.example.jp", "10.0.0.1", "[2001:db8::1]", "a"]),
    st.sampled_from([80, 443, 8080]),
    st.sampled_from(["", "~koji/", "a/b/", "%20/"]),
)


@given(KEYS)
def test_a_name_names_its_unit(key: str) -> None:
    """Whatever scheme, port and directory; and it is one word."""
    name = server_name(key)
    assert unit_named(name) == key
    assert not set(name) & set(" \t\n")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("http://www.example.jp:80/", "www.example.jp"),
        ("http://www.example.jp:8080/", "www.example.jp:8080"),
        ("http://www.example.jp:80/~koji/", "www.example.jp/~koji/"),
        ("https://www.example.jp:443/", "https://www.example.jp/"),
        ("https://www.example.jp:8443/a/", "https://www.example.jp:8443/a/"),
    ],
)
def test_a_host_of_the_web_is_its_name_alone(key: str, name: str) -> None:
    """As the source writes servers."""
    assert server_name(key) == name


@pytest.mark.parametrize("text", ["www.example.jp/page.html", "ftp://www.example.jp/", "a b"])
def test_what_is_no_unit_is_refused(text: str) -> None:
    """A page, another scheme, a word with a space."""
    with pytest.raises(UrlError):
        unit_named(text)
