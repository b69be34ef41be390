"""What of a list is shown lives in its URL."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.console.listing import SIZES, Listing, read_listing
from shared.errors import FormatError


def _read(query: dict[str, str]) -> Listing:
    return read_listing(
        "/console/things",
        query,
        filters=("q", "state"),
        sorts=("name", "size"),
        default_sort="name",
    )


@given(
    st.text(max_size=30),
    st.sampled_from(["", "name", "-name", "size", "-size"]),
    st.sampled_from(SIZES),
    st.integers(1, 10**9),
)
def test_a_url_shows_the_same_again(text: str, sort: str, size: int, page: int) -> None:
    """The address of a list that was read from an address gives the same list."""
    listing = _read({"q": text, "sort": sort, "size": str(size), "page": str(page)})
    again = _read(dict(parse_qsl(urlsplit(listing.url()).query)))
    assert again == listing


def test_a_plain_list_has_a_plain_address() -> None:
    """Defaults are left out of the address."""
    assert _read({}).url() == "/console/things"
    assert _read({"sort": "size", "q": "a b"}).url() == "/console/things?q=a+b&sort=size"


def test_a_change_goes_to_the_first_page() -> None:
    """Another filter or sort begins at the first page; only paging stays where it is."""
    listing = _read({"q": "x", "page": "3"})
    assert "page" not in listing.url(sort="size")
    assert listing.url(page=4) == "/console/things?q=x&page=4"
    assert listing.csv_url == "/console/things.csv?q=x"


def test_headings_turn_the_order_round() -> None:
    """The heading of the sorted column leads to the other order and says which holds."""
    listing = _read({"sort": "size"})
    assert listing.sort_url("size").endswith("sort=-size")
    assert listing.order_of("size") == "ascending"
    assert _read({"sort": "-size"}).order_of("size") == "descending"
    assert listing.order_of("name") == "none"


@pytest.mark.parametrize(
    "query", [{"sort": "colour"}, {"size": "7"}, {"page": "-1"}, {"page": "x"}, {"size": "９"}]
)
def test_what_cannot_be_is_refused(query: dict[str, str]) -> None:
    """An unknown sort or size is refused with what there is, not guessed."""
    with pytest.raises(FormatError):
        _read(query)


def test_unknown_values_come_last_either_way() -> None:
    """A row whose value is not known is last, ascending and descending."""
    rows = [("a", 2), ("b", None), ("c", 1)]
    keys = {"name": lambda row: row[0], "size": lambda row: row[1]}
    assert [row[0] for row in _read({"sort": "size"}).sorted(rows, keys)] == ["c", "a", "b"]
    assert [row[0] for row in _read({"sort": "-size"}).sorted(rows, keys)] == ["a", "c", "b"]


def test_a_page_beyond_the_last_is_the_last() -> None:
    """A list that became shorter still shows something."""
    cut = _read({"page": "9", "size": "25"}).cut(list(range(30)))
    assert (list(cut.rows), cut.first, cut.last, cut.has_next) == (
        [25, 26, 27, 28, 29],
        26,
        30,
        False,
    )
    nothing = _read({}).cut([])
    assert (nothing.total, nothing.first, nothing.last, nothing.has_next) == (0, 0, 0, False)
