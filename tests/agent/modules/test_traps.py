"""Each kind of trap ends, and what real sites do goes on."""

from __future__ import annotations

import json
from itertools import count, permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.limits import CrawlLimits
from agent.modules.page.html.markup import links_of_markup
from agent.modules.page.links import links_of
from agent.modules.traps import Traps
from shared.errors import UrlError
from shared.urls import canonical
from tests.fixtures_dir import fixture_folder
from tests.programs import skip_without

SITE = "http://a.example"
DOCUMENTS = Path("/usr/share/doc")


def traps(**limits: int) -> Traps:
    return Traps(CrawlLimits(**limits), lambda: 2026)  # type: ignore[arg-type]  # numbers all


def passed(reasons: list[str]) -> int:
    return reasons.count("")


def test_a_path_that_repeats_itself() -> None:
    """A segment may come three times."""
    rules = traps()
    assert rules.reason(f"{SITE}/a/b/a/b/a/b/") == ""
    assert rules.reason(f"{SITE}/a/b/a/b/a/b/a/") == "path repeats itself"


@pytest.mark.parametrize(
    "path",
    [
        "/img/p/1/1/1/1/1111.jpg",
        "/1/1/1/1/1/",
        "/2026/11/11/11/11.html",
        "/12/34/12/34/12/34/12/34/x",
        "/en/news/en/sport/en/art/en/",
        "/v1/a/v2/a/v3/a/v4/a/x",
    ],
)
def test_repeated_segments_alone_are_no_proof(path: str) -> None:
    """Numbers stand for files in their folders, and a word may come again elsewhere in a path."""
    assert traps().reason(SITE + path) == ""


def test_equal_pages_prove_a_loop() -> None:
    """Then a segment that comes more than three times anywhere ends it; on that host alone."""
    rules = traps()
    path = "/en/news/en/sport/en/art/en/"
    rules.saw(f"{SITE}/en/news/en/", "the same")
    rules.saw(f"{SITE}/en/news/", "the same")
    assert rules.reason(SITE + path) == ""
    rules.saw(f"{SITE}/en/news/en/sport/en/", "the same")
    assert rules.reason(SITE + path) == "path repeats itself"
    assert rules.reason("http://b.example" + path) == ""
    assert rules.reason(f"{SITE}/img/p/1/1/1/1/1111.jpg") == ""


def test_a_segment_without_end_needs_no_proof() -> None:
    """Two links in a loop, in any order, whose pages all differ."""
    words = "abbabaabbaababbaabbaabba"
    reasons = [traps().reason(f"{SITE}/{'/'.join(words[:end])}/") for end in range(1, len(words))]
    assert reasons[:11] == [""] * 11
    assert reasons[-1] == "path repeats itself"


def test_a_query_that_repeats_itself() -> None:
    """The same parameter with the same value may come three times, with other values any number."""
    rules = traps()
    assert rules.reason(f"{SITE}/?p=1&p=1&p=1") == ""
    assert rules.reason(f"{SITE}/?p=1&p=1&p=1&p=1") == "query repeats itself"
    assert rules.reason(f"{SITE}/?" + "&".join(f"c[]={n}" for n in range(50))) == ""


@pytest.mark.parametrize("grown", ["%25252525", "?amp;amp;amp;p=2", "?amp%3Bamp%3Bamp%3Bp=2"])
def test_escapes_that_grow(grown: str) -> None:
    """What is escaped again at each step is recognised; a URL within a URL is not that."""
    assert traps().reason(f"{SITE}/x{grown}") == "escapes grow"
    assert traps().reason(f"{SITE}/login?to=http%253A%252F%252Fb.example%252F%3Fa&amp=1") == ""


@pytest.mark.parametrize(
    "form",
    [
        "/page.php?PHPSESSID={}&id=7",
        "/page;jsessionid={}?id=7",
        "/t.html?sid={}",
        "/(S({}))/default.aspx",
    ],
)
def test_session_numbers(form: str) -> None:
    """Of a page under ever new session numbers two are fetched; another page is another page."""
    rules = traps()
    urls = [SITE + form.format(f"{number:024x}") for number in range(50)]
    reasons = [rules.reason(url) for url in urls]
    assert passed(reasons) == 2
    assert set(reasons) == {"", "session number in the URL"}
    assert rules.reason(urls[0]) == ""
    other = form.replace("7", "8").replace("t.html", "u.html").replace("default", "other")
    assert rules.reason(SITE + other.format("ab12" * 6)) == ""


@pytest.mark.parametrize(
    "query",
    ["sid={}", "story={}&sid=12", "session=talk-on-databases-in-{}", "s=a-long-question-of-{}"],
)
def test_numbers_that_are_no_session(query: str) -> None:
    """Short numbers and words name pages, whatever the parameter is called."""
    rules = traps()
    assert all(not rules.reason(f"{SITE}/x?{query.format(number)}") for number in range(500))


def test_the_order_of_parameters() -> None:
    """A query is taken in two orders: in some programs the order means something."""
    rules = traps()
    urls = [f"{SITE}/shop?" + "&".join(one) for one in permutations(("a=1", "b=2", "c=3", "d=4"))]
    reasons = [rules.reason(url) for url in urls]
    assert passed(reasons) == 2
    assert set(reasons) == {"", "same query in another order"}


def test_semicolons_are_text_beside_an_ampersand() -> None:
    """A link that carries a program in its query has two parameters, not one for each line."""
    rules = traps()
    for number in range(500):
        code = f"{SITE}/play?code=let+a{number};x=1;x=1;x=1;x=1;b{number}=2&edition=2024"
        assert rules.reason(code) == ""
    assert rules.reason(f"{SITE}/index/?C=N;O=D") == ""


def test_combinations_of_parameters() -> None:
    """Filters of a shop can be combined without end, parameters of a program cannot."""
    rules = traps()
    shop = [
        f"{SITE}/shop?" + "&".join(f"f{bit}=1" for bit in range(12) if number >> bit & 1)
        for number in range(1, 4096)
    ]
    reasons = [rules.reason(url) for url in shop]
    assert passed(reasons) == 200 + 12  # one parameter alone is a list
    assert "endless combinations of parameters" in reasons
    board = [f"{SITE}/viewtopic.php?f={n % 9}&t={n}&start={n % 40 * 15}" for n in range(5000)]
    assert passed([rules.reason(url) for url in board]) == 5000


@pytest.mark.parametrize(
    "form",
    [
        "/index.php?op=statistics&statisticsYear={}",
        "/events/?month={}-05",
        "/calendar/{}/05/",
        "/calendar?date={}0517",
        "/blog-date-{}01.html",
    ],
)
def test_calendars(form: str) -> None:
    """A calendar ends a hundred pages beyond our time; pages of our time are all fetched."""
    for years in (count(2029), count(1899, -1)):
        rules = traps()
        reasons = [rules.reason(SITE + form.format(next(years))) for _ in range(300)]
        assert set(reasons) == {"", "calendar without end"}
        assert passed(reasons) == 100
    assert passed([rules.reason(SITE + form.format(year)) for year in range(1900, 2029)]) == 129


@pytest.mark.parametrize(
    "form",
    [
        "/thread/{}/2",
        "/catalogue?update={}",
        "/yearbook?yearbook_id={}",
        "/archive/{}/5",
        "/{}/11/",
    ],
)
def test_numbers_that_are_no_dates(form: str) -> None:
    """Numbers of threads, articles and pages are not years."""
    rules = traps()
    assert all(not rules.reason(SITE + form.format(number)) for number in range(1000, 9999))


def test_equal_pages_under_many_urls() -> None:
    """After fifty equal pages in a row only a sample is fetched, until one is different."""
    rules = traps()
    numbers = count()

    def crawl(pages: int, content: str) -> int:
        fetched = 0
        for _ in range(pages):
            url = f"{SITE}/item?id={next(numbers)}"
            if not rules.reason(url):
                fetched += 1
                rules.saw(url, content or url)
        return fetched

    assert crawl(49, "sorry") == 49
    assert crawl(100, "") == 100
    assert 50 <= crawl(1000, "sorry") < 200
    assert rules.reason(f"{SITE}/about") == ""
    crawl(200, "")  # a sample finds that there are pages again
    assert crawl(100, "") == 100


def test_a_page_that_is_seen_again_is_one_page() -> None:
    """Not the same page many times, but many equal pages are a trap."""
    rules = traps()
    for _ in range(200):
        rules.saw(f"{SITE}/item/1", "same")
    assert rules.reason(f"{SITE}/item/2") == ""


def test_rules_that_are_switched_off() -> None:
    """0 means that the rule does not count."""
    rules = traps(query_shapes=0, calendar_pages=0, same_content=0)
    for number in range(300):
        url = f"{SITE}/calendar/{3000 + number}/01/?a{number}=1&b=1"
        assert rules.reason(url) == ""
        rules.saw(url, "same")
    assert rules.reason(f"{SITE}/calendar/9999/01/?a=1&b=1") == ""


def test_patterns_of_archivists_that_loop() -> None:
    """Paths that archivists exclude because they loop are cut off here without a pattern."""
    found = json.loads((fixture_folder("crawler-traps") / "global.json").read_text())["patterns"]
    loops = [one for one in found if one.count("/.+/") == 1 and one.startswith("/")]
    assert len(loops) >= 10
    for pattern in loops:
        grown = pattern.replace(".+", "x").rstrip("/")
        assert traps().reason(f"{SITE}{grown * 4}/") == "path repeats itself", pattern


@given(st.lists(st.text("abc/?&=;0129%", max_size=40), max_size=60))
def test_a_url_that_passed_passes_again(paths: list[str]) -> None:
    """Nothing is counted twice, whatever came in between."""
    rules = traps(query_shapes=2, calendar_pages=2)
    good = []
    for path in paths:
        try:
            url = canonical(f"{SITE}/{path}")
        except UrlError:
            continue
        if not rules.reason(url):
            good.append(url)
    assert [rules.reason(url) for url in good] == [""] * len(good)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", ["amp;", "%25", "a=1&", "sid=", "/2031-", "calendar/", "0", "(S("]
)
def test_hostile_urls_take_one_pass(piece: str) -> None:
    """Length alone does no harm."""
    rules = traps()
    for number in range(50):
        rules.reason(f"{SITE}/calendar/?{number}" + piece * (8000 // len(piece)))


@pytest.mark.slow
def test_nothing_of_real_documentation_is_stopped() -> None:
    """Every link of the documentation that is installed here passes."""
    found = sorted(DOCUMENTS.rglob("*.html")) if DOCUMENTS.is_dir() else []
    pages = [page for page in found if page.is_file()][::5]
    if len(pages) < 100:
        skip_without(f"100 pages of documentation under {DOCUMENTS}", "python3-doc")
    rules = traps()
    for page in pages:
        url = canonical(f"{SITE}{page}")
        parts, _ = links_of_markup(page.read_bytes(), "utf-8", "x")
        links = links_of(parts, b"", url, "utf-8", agent_token="x", max_links=10_000)
        stopped = {one: rules.reason(one) for one in links.urls if rules.reason(one)}
        assert not stopped, page
        rules.saw(url, str(hash(page.read_bytes())))
