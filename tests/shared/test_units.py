"""Units and their look-up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import UrlError
from shared.units import UnitIndex, explicit, is_unit, is_whole_host, unit_key

PATHS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map(
    lambda parts: "/" + "".join(part + "/" for part in parts)
)
HOSTS = st.sampled_from(["http://x.jp:80", "http://y.jp:80"])


def test_unit_keys_have_their_port() -> None:
    """A unit is written with its port and ends in a slash."""
    assert unit_key("http://A.jp") == "http://a.jp:80/"
    assert unit_key("https://a.jp/d/") == "https://a.jp:443/d/"
    assert explicit("http://a.jp/x?y") == "http://a.jp:80/x?y"
    assert explicit("http://a.jp:81/x") == "http://a.jp:81/x"


@pytest.mark.parametrize("text", ["http://a.jp/x", "http://a.jp/?q/", "mailto:a@b/"])
def test_a_page_is_no_unit(text: str) -> None:
    """What names a page, or nothing to crawl, is refused."""
    with pytest.raises(UrlError):
        unit_key(text)


def test_a_host_is_no_directory() -> None:
    """Of a unit its key says whether it is the whole host."""
    assert is_whole_host("http://www.example.jp:80/")
    assert is_whole_host("http://[2001:db8::1]:80/")
    assert not is_whole_host("http://www.example.jp:80/a/")


def test_is_unit() -> None:
    """A query makes a page of what ends in a slash."""
    assert is_unit("http://a.jp:80/d/")
    assert not is_unit("http://a.jp:80/d")
    assert not is_unit("http://a.jp:80/d/?x/")


@given(st.lists(st.tuples(HOSTS, PATHS)), HOSTS, PATHS, st.sampled_from(["", "p", "p?q/r/"]))
def test_the_longest_prefix_holds_the_page(
    held: list[tuple[str, str]], host: str, path: str, page: str
) -> None:
    """The look-up agrees with trying every unit."""
    units = [h + p for h, p in held]
    url = host + path + page
    bare = url.split("?")[0]
    expected = max((u for u in units if bare.startswith(u)), key=len, default=None)
    assert UnitIndex(units).unit_of(url.replace(":80", "")) == expected


@given(st.lists(st.tuples(st.booleans(), HOSTS, PATHS)))
def test_an_index_is_a_set(changes: list[tuple[bool, str, str]]) -> None:
    """Adding and taking out behave as for a set, repeated or not."""
    index, model = UnitIndex(), set[str]()
    for add, host, path in changes:
        unit = host + path
        (index.add if add else index.discard)(unit)
        (model.add if add else model.discard)(unit)
        assert len(index) == len(model)
    assert set(index) == model
    assert all(unit in index for unit in model)
