"""Which answers forbid, which allow, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.limits import CrawlLimits
from agent.modules.robots import robots
from agent.modules.robots.robots import Robots
from agent.pipeline.handler import Output
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import Links
from agent.pipeline.messages.requests import Denied, Due
from agent.pipeline.messages.robots import RulesFetched, RulesKnown
from tests.agent.fakes import FakeClock

HOST, ADDRESS = "http://a.example:80/", "192.0.2.1"
RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"


def due(path: str, host: str = HOST) -> Due:
    url = f"http://a.example{path}"
    return Due(url, host, ADDRESS, 1, 1, 0, None, 1, 1, "crawl")


class Desk:
    """A robots module."""

    def __init__(
        self, strict: bool = False, kept: int = 100, sitemaps: int = 100, long_rules: int = 10_000
    ) -> None:
        self.clock = FakeClock()
        limits = CrawlLimits(rules_kept=kept, sitemaps=sitemaps, long_rules=long_rules)
        self.robots = Robots("PRS", strict, self.clock, limits)

    def learn(self, status: int, body: bytes = b"", host: str = HOST) -> RulesKnown:
        fetched = RulesFetched(host, ADDRESS, status, body)
        ((port, known),) = self.robots.handle_fetched([fetched])
        assert port == "known"
        assert isinstance(known, RulesKnown)
        return known

    def ask(self, path: str, host: str = HOST) -> Output:
        (output,) = self.robots.handle_due([due(path, host)])
        return output


def test_rules_hold_for_a_day() -> None:
    """Rules are asked before every page, and told with their delay and end."""
    desk = Desk()
    known = desk.learn(200, RULES)
    assert known.expires_s == desk.clock.now_s + 86400
    assert (known.crawl_delay_s, known.all_denied) == (7.0, False)
    assert desk.ask("/open") == ("allowed", due("/open"))
    denied = due("/private/x?y")
    assert desk.ask("/private/x?y") == (
        "denied",
        Denied(denied, HOST, ADDRESS, "Disallow: /private"),
    )


@pytest.mark.parametrize("status", [400, 404, 401, 403, 410, 421, 451, 499, 301, 199])
def test_no_rules_allow_everything(status: int) -> None:
    """4xx means that there are none, and so does a redirect too many (RFC 9309, 2.3.1)."""
    desk = Desk()
    assert not desk.learn(status, RULES).all_denied
    assert desk.ask("/private")[0] == "allowed"


@pytest.mark.parametrize("status", [500, 503, 599, 408, 425, 429, 0, 999])
def test_an_unreachable_robots_txt_denies_everything(status: int) -> None:
    """5xx, silence, and 4xx of one request forbid all pages until there is an answer."""
    desk = Desk()
    known = desk.learn(status, RULES)
    assert known.all_denied
    assert known.reason
    assert desk.ask("/open")[0] == "denied"


def test_known_rules_outlive_a_failing_server() -> None:
    """What was known holds on while its server is down, and is asked for again soon."""
    desk = Desk()
    desk.learn(200, RULES)
    known = desk.learn(503)
    assert not known.all_denied
    assert known.expires_s == desk.clock.now_s + 60
    assert desk.ask("/open")[0] == "allowed"
    assert desk.ask("/private")[0] == "denied"


def test_a_long_text_is_read_at_several_ticks() -> None:
    """Until all of it is read nobody is told, and other hosts' rules wait for their turn only."""
    desk = Desk()
    body = b"User-agent: *\n" + b"Disallow: /a\n" * 30_000 + b"Disallow: /last\n"
    other = "http://b.example:80/"
    fetched = [RulesFetched(HOST, ADDRESS, 200, body), RulesFetched(other, ADDRESS, 200, RULES)]
    assert list(desk.robots.handle_fetched(fetched)) == []
    known: list[Output] = []
    ticks = 0
    while len(known) < 2:
        ticks += 1
        known += desk.robots.handle_tick([])
    assert ticks > 5
    assert [one.host for _, one in known if isinstance(one, RulesKnown)] == [HOST, other]
    assert desk.ask("/last")[0] == "denied"
    assert desk.ask("/open")[0] == "allowed"


def test_nothing_more_is_fetched_while_too_much_waits_to_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Texts of hosts that are many at a time do not fill the memory."""
    desk = Desk()
    monkeypatch.setattr(robots, "CROWD_BYTES", 1_000_000)
    body = b"Disallow: /a\n" * 30_000
    hosts = [f"http://h{number}.example:80/" for number in range(5)]
    fetched = [RulesFetched(host, ADDRESS, 200, body) for host in hosts]
    assert list(desk.robots.handle_fetched(fetched)) == []
    assert desk.robots.crowded
    known = 0
    while known < 5:
        known += len(list(desk.robots.handle_tick([])))
    assert not desk.robots.crowded


def test_new_rules_replace_old_ones() -> None:
    """The newest answer counts, also if it is that there are no rules any more."""
    desk = Desk()
    desk.learn(200, RULES)
    desk.learn(404)
    assert desk.ask("/private")[0] == "allowed"


def test_strict_obeys_what_is_meant_for_others() -> None:
    """In strict mode any Disallow counts, whomever it addresses."""
    body = b"User-agent: otherbot\nDisallow: /x\n"
    gentle, strict = Desk(), Desk(strict=True)
    gentle.learn(200, body)
    strict.learn(200, body)
    assert gentle.ask("/x")[0] == "allowed"
    assert strict.ask("/x")[0] == "denied"


def test_forgotten_rules_are_asked_for_again() -> None:
    """Memory is bounded: a host whose rules were forgotten gets its URL back, not a verdict."""
    desk = Desk(kept=2)
    for number in range(3):
        desk.learn(404, host=f"http://h{number}.example:80/")
    port, denied = desk.ask("/", host="http://h0.example:80/")
    assert port == "denied"
    assert isinstance(denied, Denied)
    assert denied.rule == ""
    assert desk.ask("/", host="http://h1.example:80/")[0] == "allowed"


def test_rules_that_find_no_room_deny_everything_and_say_so() -> None:
    """A farm of sites with endless rules fills no memory; other hosts are crawled on."""
    desk = Desk(long_rules=1000)
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % number for number in range(600))
    assert not desk.learn(200, body).all_denied
    other = "http://b.example:80/"
    known = desk.learn(200, body, host=other)
    assert known.all_denied
    assert known.reason.startswith("its robots.txt takes the room of 600 rules, of 1000 for all")
    assert desk.ask("/open", host=other)[0] == "denied"
    assert desk.ask("/open")[0] == "allowed"
    assert not desk.learn(200, RULES, host="http://c.example:80/").all_denied


def test_sitemaps_are_told_to_each_job_once() -> None:
    """The first page of a job that asks for the rules brings the host's sitemaps in, bounded."""
    desk = Desk()
    lines = "".join(f"Sitemap: /map{number}.xml\n" for number in range(150))
    desk.learn(
        200,
        f"Sitemap: http://cdn.example/a.xml\nSitemap: ftp://no\nSitemap: /:25\nSitemap: http://a.example:25/m\n{lines}".encode(),
    )
    (port, links), allowed = desk.robots.handle_due([due("/")])
    assert (port, allowed[0]) == ("links", "allowed")
    assert isinstance(links, Links)
    assert len(links.urls) == CrawlLimits().sitemaps
    first = ("http://cdn.example/a.xml", "http://a.example/:25", "http://a.example/map0.xml")
    assert links.urls[:3] == first
    assert (links.referer, links.from_job, links.depth) == ("http://a.example/robots.txt", 1, -2)
    assert desk.ask("/next")[0] == "allowed"
    other = replace(due("/x"), job=2)
    assert [port for port, _ in desk.robots.handle_due([other])] == ["links", "allowed"]


def test_no_sitemap_is_told_where_none_is_wanted() -> None:
    """A limit of 0 sitemaps means none."""
    desk = Desk(sitemaps=0)
    desk.learn(200, b"Sitemap: /map.xml")
    assert desk.ask("/")[0] == "allowed"


def test_files_of_standards_are_asked_for_once_a_job() -> None:
    """Sitemaps as those of a robots.txt, the others as pages; whether or not there are rules."""
    desk = Desk()
    desk.robots._limits = replace(
        desk.robots._limits, guess_sitemaps=True, well_known=("security.txt", "x/y")
    )
    desk.learn(404)
    first = list(desk.robots.handle_due([due("/")]))
    assert [port for port, _ in first] == ["links", "links", "allowed"]
    sitemaps, files = (message for port, message in first if port == "links")
    assert isinstance(sitemaps, Links)
    assert isinstance(files, Links)
    assert (sitemaps.depth, files.depth) == (-2, 0)
    assert sitemaps.urls == ("http://a.example/sitemap.xml", "http://a.example/sitemap_index.xml")
    folder = "http://a.example/.well-known/"
    assert files.urls == (f"{folder}security.txt", f"{folder}x/y")
    assert {*sitemaps.kinds, *files.kinds} == {LinkKind.WELL_KNOWN}
    assert list(desk.robots.handle_due([due("/x")])) == [("allowed", due("/x"))]
    probe = replace(due("/"), job=2, kind="probe")
    assert list(desk.robots.handle_due([probe])) == [("allowed", probe)]
