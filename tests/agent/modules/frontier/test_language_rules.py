"""Scope rules by language over a whole crawl, with pages that are really read."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from agent.adapters.pages.inline import InlinePages
from agent.modules.limits import OUTSIDE_SCOPE, CrawlLimits, PageLimits
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched, PageWork
from agent.pipeline.ports import PageWorker
from shared.crawl_scope.evaluation import ScopeRules
from tests.agent.fakes import Page
from tests.agent.modules.frontier.sites import PLAIN
from tests.agent.world import ANY_NAME, World, order

JP, COM = "http://a.jp/", "http://b.com/"
JAPANESE = "日本国内の全てのページを収集することを目標とした研究である。" * 3
ENGLISH = "A crawler that collects all pages of a country within a single day. " * 3
GOAL = "include *.jp\ninclude language:ja"
XML = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"


class Reading(World):
    """An agent whose page worker reads pages."""

    def page_worker(self) -> PageWorker:
        """Return one in this process."""
        limits = PageLimits(agent_token="PRS")

        def work(page: Fetched, unread: str) -> PageWork:
            return work_on(page, limits, unread)

        return InlinePages(work, partial(print))


def html(text: str, *links: str, lang: str = "") -> Page:
    """Return a page with a text and links."""
    shown = "".join(f'<a href="{link}">x</a>' for link in links)
    body = f'<html lang="{lang}"><body><p>{text}</p>{shown}</body></html>'
    return Page(body=body.encode())


def sitemap(*urls: str) -> Page:
    """Return a sitemap."""
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Page(body=f"<urlset>{entries}</urlset>".encode(), header=XML)


def crawled(web: dict[str, Page], *units: str, scope: str = GOAL) -> Reading:
    """Crawl units to their end under a scope."""
    limits: CrawlLimits = replace(ANY_NAME, scope=ScopeRules(scope))
    world = Reading(web, limits, politeness=PLAIN)
    world.give_list([order(unit) for unit in units])
    world.run()
    return world


def test_a_host_abroad_is_crawled_as_far_as_pages_in_the_language_lead() -> None:
    """Its first page is fetched to know; an English page is kept and leads nowhere."""
    web = {
        JP: html(JAPANESE, f"{JP}x", f"{COM}ja/"),
        f"{JP}x": html(ENGLISH, COM, f"{JP}y"),
        f"{JP}y": html(ENGLISH),
        COM: html(ENGLISH, f"{COM}about"),
        f"{COM}about": html(ENGLISH),
        f"{COM}ja/": html(JAPANESE, f"{COM}ja/2"),
        f"{COM}ja/2": html(JAPANESE, f"{COM}ja/en"),
        f"{COM}ja/en": html(ENGLISH, f"{COM}ja/en2"),
        f"{COM}ja/en2": html(ENGLISH),
    }
    world = crawled(web, JP, COM)
    wanted = [JP, f"{JP}x", f"{JP}y", COM, f"{COM}ja/", f"{COM}ja/2", f"{COM}ja/en"]
    assert sorted(world.fetched()) == sorted(wanted)
    assert {page.url for page in world.reports.pages if not page.is_rules} == set(wanted)
    assert world.crawl.stopped.count(OUTSIDE_SCOPE) == 2


def test_a_sitemap_abroad_brings_no_host_in() -> None:
    """What it lists is dropped once a page has told the language of the host."""
    pages = [f"{COM}{number}" for number in range(50)]
    web = {
        f"{COM}robots.txt": Page(body=f"Sitemap: {COM}map.xml\n".encode()),
        f"{COM}map.xml": sitemap(*pages),
        COM: html(ENGLISH),
        **{page: html(ENGLISH) for page in pages},
    }
    world = crawled(web, COM)
    assert COM in world.fetched()
    assert not set(world.fetched()) & set(pages)
    late = crawled({**web, COM: Page(status=404)}, COM)  # the first page of the list tells
    assert len(set(late.fetched()) & set(pages)) <= 2
    assert late.crawl.given_up.count(OUTSIDE_SCOPE) >= 48
    japanese = {**web, COM: html(JAPANESE), **{page: html(JAPANESE) for page in pages}}
    assert set(pages) <= set(crawled(japanese, COM).fetched())


def test_one_language_is_left_out() -> None:
    """Its page is kept; what it alone links to is not fetched."""
    web = {
        JP: html(JAPANESE, f"{JP}de", f"{JP}en"),
        f"{JP}de": html("Alle Seiten des Landes an einem Tag. " * 3, f"{JP}de2", lang="de"),
        f"{JP}en": html(ENGLISH, f"{JP}en2", lang="en"),
        f"{JP}de2": html(""),
        f"{JP}en2": html(""),
    }
    world = crawled(web, JP, scope="exclude language:de")
    assert set(world.fetched()) == {JP, f"{JP}de", f"{JP}en", f"{JP}en2"}


def test_a_crawl_without_such_a_rule_asks_no_page() -> None:
    """Every link is followed, as before."""
    web = {JP: html(ENGLISH, f"{JP}x", lang="de"), f"{JP}x": html("")}
    world = crawled(web, JP, scope="include *.jp")
    assert set(world.fetched()) == {JP, f"{JP}x"}
    assert world.crawl.languages.language_of("http://a.jp:80/") == ""
