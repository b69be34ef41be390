"""Which links are ours and worth it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import re2

from agent.modules import host_languages
from agent.modules.counts import StopCounts
from agent.modules.filter import EMBEDDED_HOPS, Filter
from agent.modules.host_languages import HostLanguages
from agent.modules.limits import OUTSIDE_SCOPE, CrawlLimits
from agent.modules.server_list.scope import Scope, scope_of_jobs
from agent.pipeline.handler import Output
from agent.pipeline.link_kinds import EMBEDDED, LinkKind
from agent.pipeline.messages.jobs import Job, ListChanged
from agent.pipeline.messages.pages import Candidate, Links, Outside
from shared.crawl_scope.evaluation import ScopeRules
from shared.urls import canonical, host_of
from tests.fixtures_dir import fixture_folder

A = "http://a.example.jp:80/"
KOJI = "http://big.example.jp:80/~koji/"
PROBED = "http://p.example.jp:80/"
SPLIT = "http://s.example.jp:80/"
JOBS = (
    Job(1, A, "crawl", 1),
    Job(2, KOJI, "crawl", 1),
    Job(3, PROBED, "probe", 1, max_pages=50),
    Job(4, SPLIT, "crawl", 1, excepted=("/others/",)),
)


def scope_of(*jobs: Job, finished: frozenset[str] = frozenset()) -> Scope:
    return scope_of_jobs(jobs, finished)


class Gate:
    """A filter and its counts."""

    def __init__(self, limits: CrawlLimits | None = None, blocked: str = "") -> None:
        self.stopped = StopCounts()
        pattern = re2.compile(blocked) if blocked else None
        self.scope = scope_of(*JOBS)
        self.filter = Filter(
            self.scope,
            limits or CrawlLimits(),
            lambda url: pattern is not None and pattern.search(url) is not None,
            self.stopped,
            lambda: 2026,
        )

    def see(
        self, *urls: str, from_job: int = 1, depth: int = 2, redirects: int = 0
    ) -> list[Output]:
        links = Links(urls, "http://a.example.jp/", from_job, depth, redirects)
        return list(self.filter.handle_links([links]))


def test_a_link_into_a_unit_goes_in() -> None:
    """A page of a unit becomes a candidate of its job, with all that the next modules need."""
    url = "http://a.example.jp/x?y=1"
    assert Gate().see(url) == [("inside", Candidate(url, A, 1, 2, 0, "http://a.example.jp/"))]


def test_the_longest_unit_decides() -> None:
    """A page in a directory unit is ours, one beside it is for whoever owns that."""
    gate = Gate()
    inside, outside = "http://big.example.jp/~koji/a/b", "http://big.example.jp/~jiro/"
    assert [port for port, _ in gate.see(inside, outside)] == ["inside", "outside"]
    assert gate.see("http://big.example.jp/elsewhere", from_job=2) == [
        ("outside", Outside("http://big.example.jp/elsewhere", "http://a.example.jp/"))
    ]


def test_a_link_into_a_piece_at_rest_goes_by_the_manager() -> None:
    """It was told that nothing is left of the piece; only a list may wake it."""
    gate = Gate()
    piece = Job(5, "http://s.example.jp:80/mine/", "crawl", 1, share=2)
    scope = scope_of(*JOBS, piece)
    gate.filter.use_scope(replace(scope, resting={piece.unit}))
    url = "http://s.example.jp/mine/new.html"
    assert gate.see(url) == [("outside", Outside(url, "http://a.example.jp/"))]
    gate.filter.use_scope(scope_of(*JOBS, piece))
    [(port, candidate)] = gate.see(url)
    assert (port, getattr(candidate, "job", 0)) == ("inside", piece.number)


def test_a_port_of_another_protocol_is_never_asked() -> None:
    """A unit that a list names with such a port ends without a request, and says why."""
    gate = Gate()
    mail = Job(6, "http://a.example.jp:25/", "crawl", 1)
    gate.filter.use_scope(scope_of(*JOBS, mail))
    assert gate.see("http://a.example.jp:25/") == []
    assert gate.see("http://b.example.jp:6667/x") == []
    assert gate.stopped.count("port of another protocol") == 2


def test_excepted_paths_are_for_others() -> None:
    """A directory that the order leaves out is reported, not fetched."""
    url = "http://s.example.jp/others/page"
    assert Gate().see(url) == [("outside", Outside(url, "http://a.example.jp/"))]


def test_each_page_of_a_new_host_is_reported_once() -> None:
    """Of a host that we hold nothing of, the manager hears each page, also one that ends in `/`."""
    gate, home = Gate(), "http://a.example.jp/"
    pages = ["http://new.example.jp/a", "http://new.example.jp/b/", "http://new.example.jp/"]
    assert gate.see(*pages) == [("outside", Outside(page, home)) for page in pages]
    gate.filter.use_scope(gate.scope)
    assert gate.see(*pages) == []


def test_pages_of_others_are_reported_again_in_the_next_round() -> None:
    """What a manager lost, or had no room for, is found again; a list of the same round is none."""
    gate = Gate(CrawlLimits(foreign_pages=1))
    page, over = "http://new.example.jp/a", "http://new.example.jp/b"
    assert [port for port, _ in gate.see(page, over)] == ["outside"]
    for number, reports in ((1, ["outside"]), (1, []), (2, ["outside"]), (2, [])):
        list(gate.filter.handle_changed([ListChanged(begun=(Job(9, A, "crawl", number),))]))
        assert [port for port, _ in gate.see(page)] == reports


def test_a_host_of_others_has_its_share_of_reports() -> None:
    """A site that invents pages of another host fills neither the outbox nor the manager."""
    gate = Gate(CrawlLimits(foreign_pages=2))
    pages = [f"http://new.example.jp/{number}" for number in range(4)]
    outputs = gate.see(*pages, "http://other.example.jp/")
    assert [getattr(one, "url", "") for _, one in outputs] == [
        *pages[:2],
        "http://other.example.jp/",
    ]
    assert gate.stopped.count("enough pages of a host of others reported") == 2


def test_names_that_nobody_can_register_are_not_reported() -> None:
    """Links to templates and intranets are counted; units of our own always pass."""
    gate = Gate()
    assert gate.see("http://localhost/", "http://%7Bhost%7D.nonsense/") == []
    assert gate.stopped.count("host cannot be registered") == 2
    tolerant = Gate(CrawlLimits(require_public_suffix=False))
    assert [port for port, _ in tolerant.see("http://intranet/")] == ["outside"]


def test_a_host_that_nobody_can_register_may_name_others_like_it() -> None:
    """It is on the list all the same: a network with names of its own, whose pages are reported."""
    gate = Gate()
    gate.filter.use_scope(scope_of(*JOBS, Job(9, "http://intranet:80/", "crawl", 1)))
    page = "http://wiki.corp/deep/"
    assert gate.see(page) == gate.see(page) == []
    assert gate.stopped.count("host cannot be registered") == 1
    links = Links((page,), "http://intranet/start", 9, 2, 0)
    reported = [("outside", Outside(page, "http://intranet/start"))]
    assert list(gate.filter.handle_links([links])) == reported
    assert list(gate.filter.handle_links([links])) == []


def test_a_unit_of_our_own_passes_whatever_its_name() -> None:
    """What the manager has ordered needs no public suffix."""
    gate = Gate()
    own = scope_of(Job(9, "http://intranet:80/", "crawl", 1))
    gate.filter.use_scope(own)
    assert [port for port, _ in gate.see("http://intranet/x")] == ["inside"]


def test_a_probe_takes_links_of_its_own_pages_only() -> None:
    """A probe measures what can be reached from the top page, so others' links stay out."""
    gate = Gate()
    url = "http://p.example.jp/x"
    assert [port for port, _ in gate.see(url, from_job=1)] == ["outside"]
    assert [port for port, _ in gate.see(url, from_job=3)] == ["inside"]
    assert [port for port, _ in gate.see("http://p.example.jp/y", from_job=0)] == ["inside"]


def test_a_job_that_is_done_takes_nothing() -> None:
    """Links into a finished unit go to the manager: for the next round."""
    gate = Gate()
    gate.see("http://a.example.jp/known")
    gate.scope.units.finish(A)
    gate.filter.handle_changed([ListChanged(done=JOBS[:1])])
    assert [port for port, _ in gate.see("http://a.example.jp/late")] == ["outside"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a.example.jp/" + "x" * 2064, "URL too long"),
        ("http://a.example.jp/a/b/a/b/a/b/a/b/", "path repeats itself"),
        ("http://a.example.jp/x/x/x/x", "path repeats itself"),
        ("http://a.example.jp/login?next=1", "blocked"),
        ("http://new.example.jp/login", "blocked"),
    ],
)
def test_traps_and_blocked_urls_stop(url: str, reason: str) -> None:
    """What cannot be worth it is counted with its reason."""
    gate = Gate(blocked="/login")
    assert gate.see(url) == []
    assert gate.stopped.count(reason) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example.jp/" + "x" * 2063,
        "http://a.example.jp/a/b/a/b/a/b/",
        "http://a.example.jp/x/x/x/y",
        "http://a.example.jp/p?a=/x/x/x/x/x/x",
        "http://a.example.jp/1//2//3//4//",
    ],
)
def test_the_limits_themselves_pass(url: str) -> None:
    """A URL exactly at a limit is fetched; queries and empty segments are no repetition."""
    assert [port for port, _ in Gate().see(url)] == ["inside"]


def test_depth_and_redirects_belong_to_the_way_not_to_the_url() -> None:
    """A page that was found too deep passes when a shorter way leads to it."""
    gate = Gate()
    url = "http://a.example.jp/deep"
    assert gate.see(url, depth=31) == []
    assert gate.see(url, redirects=11) == []
    assert [port for port, _ in gate.see(url, depth=30, redirects=10)] == ["inside"]
    assert gate.stopped.count("too deep") == gate.stopped.count("too many redirects") == 1


def test_a_known_link_costs_no_second_message() -> None:
    """What went in goes in once, until the list changes: then its job may be another one."""
    gate = Gate()
    url = "http://a.example.jp/menu"
    assert len(gate.see(url, url)) == 1
    assert gate.see(url) == []
    gate.filter.handle_changed([ListChanged(done=JOBS[1:2])])
    assert gate.see(url) == []
    gate.filter.handle_changed([ListChanged(altered=JOBS[:1])])
    assert len(gate.see(url)) == 1
    gate.filter.use_scope(scope_of(replace(JOBS[0], number=7, round=2)))
    (output,) = gate.see(url)
    assert isinstance(output[1], Candidate)
    assert output[1].job == 7


def test_new_settings_look_at_links_again() -> None:
    """A block list that comes while the crawl goes on holds from then on."""
    gate = Gate()
    url = "http://a.example.jp/private/x"
    gate.see(url)
    gate.filter.retune(CrawlLimits(), lambda one: "/private/" in one)
    assert gate.see(url) == []
    assert gate.stopped.count("blocked") == 1


def test_a_probe_takes_no_sitemap() -> None:
    """The few pages of a probe measure the site; a crawl of the same unit takes its sitemaps."""
    gate = Gate()
    url = "http://p.example.jp/sitemap.xml"
    assert gate.see(url, from_job=3, depth=-2) == []
    assert [port for port, _ in gate.see("http://a.example.jp/s.xml", depth=-2)] == ["inside"]
    assert [port for port, _ in gate.see(url, from_job=3)] == ["inside"]  # a page links to it


def test_traps_of_the_wild_end() -> None:
    """Generators of endless paths, as real sites had them, are cut off after a few pages."""
    rows = json.loads((fixture_folder("crawler-traps") / "real_examples.json").read_text())
    chains = [row["chain"] for row in rows if len(row.get("chain", ())) >= 2]
    assert len(chains) >= 3
    for chain in chains:
        urls = [canonical(url) for url in chain]
        gate = Gate()
        trap = scope_of(Job(1, host_of(urls[0]), "crawl", 1))
        gate.filter.use_scope(trap)
        # What the site adds at each step, it adds for ever: a longer path, or another number.
        grown = urls[-1].removeprefix(urls[-2])
        grows = grown != urls[-1]
        passed = 0
        for depth in range(200):
            url = urls[depth] if depth < len(urls) else urls[-1]
            if depth >= len(urls):
                url += grown * (depth - len(urls) + 1) if grows else f"{depth}"
            passed += bool(gate.see(url, depth=depth))
        assert passed <= (5 if grows else 31), urls[-1]


def test_pages_that_are_fetched_again_lead_nowhere_inside() -> None:
    """The pages of the order pass; what they link to is neither fetched nor reported."""
    gate = Gate()
    job = Job(1, A, "refetch", 1, 2)
    gate.filter.use_scope(scope_of(job))
    assert [port for port, _ in gate.see("http://a.example.jp/x", from_job=0)] == ["inside"]
    assert gate.see("http://a.example.jp/y", from_job=1) == []


def loaded(depth: int, *, is_embedded: bool = False) -> Links:
    """Return the links of a page with an anchor, an image and a style sheet."""
    kinds = bytes((LinkKind.ANCHOR, LinkKind.IMAGE | EMBEDDED, LinkKind.LINK | EMBEDDED))
    urls = tuple(f"http://a.example.jp/{depth}/{name}" for name in "abc")
    return Links(urls, A, 1, depth, kinds=kinds, is_embedded=is_embedded)


def depths(gate: Gate, links: Links) -> list[tuple[int, int]]:
    found = [one for port, one in gate.filter.handle_links([links]) if port == "inside"]
    return [(one.depth, one.link_kind) for one in found if isinstance(one, Candidate)]


def test_what_a_page_loads_lies_as_near_as_the_page() -> None:
    """A replay needs it; what it loads in its turn lies one further."""
    assert [depth for depth, _ in depths(Gate(), loaded(3))] == [3, 2, 2]
    assert [depth for depth, _ in depths(Gate(), loaded(3, is_embedded=True))] == [3, 3, 3]
    image = LinkKind.IMAGE | EMBEDDED
    assert [kind for _, kind in depths(Gate(), loaded(4))][:2] == [LinkKind.ANCHOR, image]


def test_the_deepest_page_is_shown_whole_and_chains_of_loading_end() -> None:
    """Its links are too deep, its images and their style sheets' fonts are not."""
    gate = Gate(CrawlLimits(depth=4))
    assert [depth for depth, _ in depths(gate, loaded(5))] == [4, 4]
    assert gate.stopped.count("too deep") == 1
    far = 4 + EMBEDDED_HOPS
    assert [depth for depth, _ in depths(gate, loaded(far, is_embedded=True))] == [far, far]
    assert depths(gate, loaded(far + 1, is_embedded=True)) == []
    assert gate.stopped.count("too deep") == 5


def test_well_known_files_are_for_who_has_the_top_of_a_host() -> None:
    """Nobody is told of them, and a probe asks for its pages only."""
    for from_job, url in ((2, "http://big.example.jp/"), (1, "http://new.example.jp/"),
                          (3, "http://p.example.jp/")):  # fmt: skip
        links = Links((f"{url}.well-known/security.txt",), None, from_job, 0)
        links = replace(links, kinds=bytes((LinkKind.WELL_KNOWN,)))
        assert list(Gate().filter.handle_links([links])) == []


JAPANESE_ONLY = ScopeRules("include *.jp\nexclude language:de\ninclude language:ja")
ABROAD = "http://abroad.example.com:80/"


class Abroad:
    """A filter of an agent with a host that only pages in Japanese bring in."""

    def __init__(self) -> None:
        self.stopped = StopCounts()
        self.languages = HostLanguages()
        self.filter = Filter(
            scope_of(*JOBS, Job(9, ABROAD, "crawl", 1)),
            CrawlLimits(scope=JAPANESE_ONLY),
            lambda _: False,
            self.stopped,
            lambda: 2026,
            languages=self.languages,
        )

    def see(self, url: str, language: str, **more: Any) -> list[str]:
        given: dict[str, Any] = {
            "referer": "http://abroad.example.com/",
            "from_job": 9,
            "depth": 2,
        } | more
        return [port for port, _ in self.filter.handle_links([Links((url,), language=language,
                                                                    **given)])]  # fmt: skip

    @property
    def outside(self) -> int:
        return self.stopped.count(OUTSIDE_SCOPE)


def test_links_of_a_page_in_another_language_are_not_followed() -> None:
    """Neither here nor reported; a domain before the rule is followed, and counted once."""
    gate = Abroad()
    url, foreign = "http://abroad.example.com/x", "http://other.example.org/"
    for language in ("de", "en", "und"):
        assert gate.see(url, language) == []
        assert gate.see(foreign, language) == []
        assert gate.see(f"http://a.example.jp/{language}", language) == ["inside"]
    assert gate.outside == 2


def test_the_same_link_on_a_page_in_the_language_is_followed() -> None:
    """What was sorted out before is looked at again: another page may link to it."""
    gate = Abroad()
    url, foreign = "http://abroad.example.com/x", "http://other.example.org/"
    assert gate.see(url, "en") == []
    assert gate.see(foreign, "en") == []
    assert gate.see(url, "ja") == ["inside"]
    assert gate.see(foreign, "ja") == ["outside"]


def test_lists_and_redirects_lead_where_they_lead() -> None:
    """A page of the manager's list has no page that links to it; a redirect was asked before."""
    gate = Abroad()
    assert gate.see("http://abroad.example.com/a", "", referer=None, from_job=0) == ["inside"]
    assert gate.see("http://abroad.example.com/b", "", from_job=0) == ["inside"]
    assert gate.see("http://abroad.example.com/c", "", redirects=1) == ["inside"]


def test_a_sitemap_has_the_language_of_its_hosts_pages() -> None:
    """While none was read its pages are let in: the frontier asks again at their turn."""
    gate = Abroad()
    assert gate.see("http://abroad.example.com/a", "") == ["inside"]
    gate.see("http://abroad.example.com/b", "en")
    assert gate.see("http://abroad.example.com/c", "") == []
    for number in range(3):
        gate.see(f"http://abroad.example.com/{number}", "ja")
    assert gate.see("http://abroad.example.com/c", "") == ["inside"]


def test_languages_of_hosts_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest host is forgotten, and a site may change its language."""
    monkeypatch.setattr(host_languages, "HOSTS_MOST", 2)
    found = HostLanguages()
    for host in ("a", "b", "c"):
        found.saw(host, "ja")
    assert [found.language_of(host) for host in "abc"] == ["", "ja", "ja"]
    for _ in range(5000):
        found.saw("b", "de")
    for _ in range(1500):
        found.saw("b", "ja")
    assert found.language_of("b") == "ja"
