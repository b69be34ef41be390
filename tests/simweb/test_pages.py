"""Pages have their planned size, say where everything is, and change with their version."""

from __future__ import annotations

import statistics
from urllib.parse import urljoin

import pytest

from simweb.sites.builder import build_world
from simweb.sites.expectation import expect_host
from simweb.sites.file_site_crawl import LinkReader
from simweb.sites.options import WorldOptions
from simweb.sites.pages import page_html, page_size
from simweb.sites.plan import HostPlan, World
from simweb.sites.text import FLOOR, paragraphs, python_charset, titles
from simweb.sites.trouble import Outcome
from tests.simweb.conftest import PORT

CHARSETS = ("utf-8", "utf-8-unlabelled", "shift_jis", "euc-jp", "iso-8859-1")


def small(**options: object) -> World:
    """Return a small world with large enough pages for all their links."""
    values = {"hosts": 12, "seed": 5, "pages_mean": 25, "page_bytes": 9_000}
    return build_world(WorldOptions(**{**values, **options}))  # type: ignore[arg-type]  # by field


def links_of(world: World, host: HostPlan, page: int, version: int = 0) -> list[str]:
    """Return the links of a page as a browser would see them."""
    reader = LinkReader(host.url(PORT, world.site(host).path_of(page)))
    reader.feed(page_html(world, host, page, version, PORT).decode(python_charset(host.charset)))
    return [urljoin(link, link) for link in reader.links()]


def test_pages_have_the_planned_size() -> None:
    """To the byte, unless links alone are longer."""
    world = small()
    exact = [
        len(page_html(world, host, page, 0, PORT)) - page_size(host, page)
        for host in world.hosts
        for page in range(host.pages)
    ]
    assert statistics.median(exact) == 0
    assert all(difference >= -9 for difference in exact)  # too little room for a comment


def test_the_links_of_a_host_lead_to_all_its_pages_and_leaves() -> None:
    """Reading every page's HTML finds what the plan expects, and nothing else on the host."""
    world = small(trouble_scale=3)
    for host in world.hosts:
        top = host.url(PORT)
        site = world.site(host)
        found = {
            link
            for page in range(site.mainland)
            for link in links_of(world, host, page)
            if link.lower().startswith(top)
        }
        found = {link.lower().replace(top + "./a/../", top) for link in found} | {top}
        expected = expect_host(world, host, PORT)
        linked = {
            url for outcome in Outcome for url in expected.urls[outcome] if "/landing/" not in url
        }
        assert found == linked


def test_tree_links_stay_when_a_page_changes() -> None:
    """A new version has other text and other random links, and reaches the same children."""
    world = small()
    host = max(world.hosts, key=lambda host: host.pages)
    site = world.site(host)
    before, after = links_of(world, host, 0, 0), links_of(world, host, 0, 1)
    assert before != after
    children = {host.url(PORT, site.path_of(child)) for child in site.children_of(0)}
    assert children <= set(before)
    assert children <= set(after)


def test_planned_links_between_hosts_stand_in_the_html() -> None:
    """The page that `found_on` names links to the host."""
    world = small(seeds=1)
    for index, (source, page) in world.found_on.items():
        links = links_of(world, world.hosts[source], page)
        assert world.hosts[index].url(PORT) in links


@pytest.mark.parametrize("charset", CHARSETS)
def test_text_is_written_in_its_charset(charset: str) -> None:
    """Paragraphs decode, hold letters beyond ASCII, and fit the room left for them."""
    codec = python_charset(charset)
    texts = [paragraph.decode(codec) for paragraph in paragraphs(charset)]
    assert any(not text.isascii() for text in texts)
    assert max(map(len, paragraphs(charset))) <= FLOOR
    for title in titles(charset):
        assert title.encode(codec)


def test_charsets_are_declared_unless_they_are_not() -> None:
    """In a meta element, except on hosts that leave it out."""
    world = small(hosts=60)
    for host in world.hosts:
        body = page_html(world, host, 0, 0, PORT)
        labelled = f'<meta charset="{host.charset}">'.encode() in body
        assert labelled is not host.charset.endswith("-unlabelled")
