"""The graph is sound, and the crawl that it describes works from list to report."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from agent.pipeline.crawl import CRAWL
from agent.pipeline.messages.hosts import stand_in
from agent.pipeline.spec import GraphError, Pipeline, validate
from tests.agent.fakes import Page
from tests.agent.world import World, order, site

A = "http://a.example:80/"


def test_the_crawl_is_a_sound_graph() -> None:
    """The crawl as shipped passes the validation."""
    validate(CRAWL)


def test_without_a_module_that_spills_the_crawl_could_stand_still() -> None:
    """Pages lead to links and links to pages: somebody in that cycle must always take more."""
    modules = tuple(dataclasses.replace(one, spills=False) for one in CRAWL.modules)
    with pytest.raises(GraphError, match="can deadlock"):
        validate(Pipeline(modules, CRAWL.connections, CRAWL.outside))


def test_a_site_is_crawled_whole() -> None:
    """Every page that can be reached is fetched once, kept once, and the unit finishes once."""
    world = World(site("a.example", 20))
    world.give_list([order(A)])
    world.run()
    pages = [url for url in world.web if not url.endswith("robots.txt")]
    assert sorted(world.fetched()) == sorted(pages)
    assert world.fetched(rules=True) == ["http://a.example/robots.txt"]
    assert sorted(world.ledger.captures) == sorted(world.web)
    (unit,) = world.reports.units
    assert (unit.unit, unit.kind, unit.round, unit.pages) == (A, "crawl", 1, 20)
    assert unit.reason == "complete"
    assert len(world.ledger.log) == 21


def test_sitemaps_of_robots_txt_are_crawled_and_probes_leave_them() -> None:
    """What only a sitemap names is fetched and kept by a crawl; a probe does not look there."""
    web = site("a.example", 5)
    map_url, hidden = "http://a.example/map.xml", "http://a.example/hidden"
    web["http://a.example/robots.txt"] = Page(body=f"Sitemap: {map_url}".encode())
    web[map_url] = Page((hidden, "http://b.example/"))
    web[hidden] = Page()
    world = World(web)
    world.give_list([order(A)])
    world.run()
    assert {map_url, hidden} <= set(world.ledger.captures)
    assert sorted(world.fetched()) == sorted(set(web) - {"http://a.example/robots.txt"})
    assert "http://b.example/" in {one.url for one in world.reports.found}
    probe = World(web)
    probe.give_list([order(A, max_transfer=50)])
    probe.run()
    assert len(probe.fetched()) == 5
    assert map_url not in probe.fetched()


def test_a_full_memory_is_a_crowd() -> None:
    """Whoever asks whether more should be fetched hears of bodies that come in, and of pages."""
    world = World({})
    assert not world.crawl.crowded
    world.fetcher.crowded = True
    assert world.crawl.crowded
    world.fetcher.crowded, world.worker.crowded = False, True
    assert world.crawl.crowded


def test_ports_of_a_name_behind_a_proxy_have_one_clock() -> None:
    """Its name stands for its address: http and https take turns, an interval apart."""
    web = site("a.example", 3)
    web |= {url.replace("http:", "https:"): Page(status=404) for url in web}
    world = World(web)
    secure = "https://a.example:443/"
    for host in (A, secure):
        world.resolver_addresses[host] = (stand_in(host),)
    world.give_list([order(A), order(secure)])
    world.run()
    assert {address for _, address, _ in world.started} == {""}
    assert {url.split("/")[0] for _, _, url in world.started} == {"http:", "https:"}
    times = [when for when, _, _ in world.started]
    assert min(later - before for before, later in pairwise(times)) >= 10
    assert world.reports.hosts == {}
