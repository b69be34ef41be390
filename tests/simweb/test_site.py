"""The page space of a host: everything is reached from `/`, and paths name pages uniquely."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simweb.sites.site import Leaf, Site

SITES = st.builds(
    Site,
    st.integers(0, 2**64 - 1),
    st.integers(1, 400) | st.sampled_from([1_000, 5_000]),
    st.integers(0, 12),
    st.tuples(
        st.tuples(st.just("redirect"), st.integers(0, 30)),
        st.tuples(st.just("gone"), st.just(0)),
        st.tuples(st.just("private"), st.integers(0, 500)),
        st.tuples(st.just("private-open"), st.integers(0, 2)),
    ),
)


def reached(site: Site, start: int) -> list[int]:
    """Return the pages that the tree reaches from a page, in order of discovery."""
    found = [start]
    for page in found:
        found += site.children_of(page)
    return found


@given(SITES)
def test_every_mainland_page_is_reached_from_the_top_exactly_once(site: Site) -> None:
    """The tree under `/` holds every page but the island's, each once."""
    assert sorted(reached(site, 0)) == list(range(site.mainland))


@given(SITES)
def test_the_island_is_reached_from_its_index_page_and_from_nowhere_else(site: Site) -> None:
    """An island's index page leads to all of it; no page of the mainland is its parent."""
    if site.island is not None:
        assert sorted(reached(site, site.island)) == list(range(site.mainland, site.pages))


@given(SITES)
def test_a_child_names_its_parent(site: Site) -> None:
    """`parent_of` is the inverse of `children_of`."""
    for page in range(site.pages):
        assert all(site.parent_of(child) == page for child in site.children_of(page))


@given(SITES)
def test_each_leaf_hangs_on_exactly_one_mainland_page(site: Site) -> None:
    """Walking all pages meets every leaf once."""
    met = [leaf.path for page in range(site.pages) for leaf in site.leaves_on(page)]
    assert sorted(met) == sorted(leaf.path for leaf in site.leaves())


@given(SITES)
def test_a_path_leads_back_to_its_page_and_to_no_other(site: Site) -> None:
    """`page_at(path_of(page))` is the page; so no two pages share a path."""
    for page in range(site.pages):
        assert site.page_at(site.path_of(page)) == page
    for leaf in site.leaves():
        assert site.leaf_at(leaf.path) == leaf
        assert site.page_at(leaf.path) is None


@given(SITES, st.text(max_size=40))
def test_an_unknown_path_is_no_page(site: Site, path: str) -> None:
    """Whatever a client asks for, only a path that was handed out is a page."""
    page = site.page_at(path)
    assert page is None or site.path_of(page) == path


def test_spellings_that_nobody_links_to_are_no_pages() -> None:
    """Numbers with leading zeros, other folders and numbers past the end are 404."""
    site = Site(7, 500, 0, (("gone", 2),))
    path = site.path_of(400)
    for wrong in (path + "x", path.replace("/", "//"), path + "/", "/" + path, "/t/gone/00.html"):
        assert site.page_at(wrong) is None
        assert site.leaf_at(wrong) is None
    assert site.leaf_at("/t/gone/2.html") is None
    assert site.leaf_at("/t/gone/1.html") == Leaf("gone", 1)
