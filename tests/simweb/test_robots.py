"""simweb's own robots.txt matcher agrees with the cases that others wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from simweb.sites.robots import FORBID_ALL, ROBOTS_KINDS, forbids, robots_text
from tests.fixtures_dir import fixture_folder

# Google takes a line without its colon, and compares escapes letter by letter, where RFC 9309
# (2.2, 2.2.2) has neither.
NOT_THE_RFC = (
    "user-agent FooBot\ndisallow /\n",
    "User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/ツ\n",
    "User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/%E3%83%84\n",
    "User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/%62%61%7A\n",
)


def google_cases() -> list[dict[str, Any]]:
    """Return Google's verdicts that follow the RFC."""
    folder = fixture_folder("robots-google")
    cases = json.loads((folder / "robots_test_cases.json").read_text())["allow_cases"]
    return [
        case
        for case in cases
        if not case["google_specific"] and case["url"] and case["robotstxt"] not in NOT_THE_RFC
    ]


def rfc_cases() -> list[dict[str, Any]]:
    """Return the examples of RFC 9309."""
    folder = fixture_folder("robots-rfc9309")
    cases: list[dict[str, Any]] = json.loads((folder / "rfc9309_cases.json").read_text())["cases"]
    return cases


@pytest.mark.parametrize("source", [google_cases, rfc_cases])
def test_cases_of_others(source: Callable[[], list[dict[str, Any]]]) -> None:
    """Every verdict of Google's test suite that follows the RFC, and the RFC's own examples."""
    cases = source()
    assert len(cases) > 30
    wrong = []
    for case in cases:
        parts = urlsplit(case["url"])
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if forbids(case["robotstxt"], case["useragent"], path) is case["allowed"]:
            wrong.append(case)
    assert not wrong


@pytest.mark.parametrize(
    ("path", "forbidden"),
    [("/", False), ("/private/1.html", True), ("/private/open/1.html", False), ("/privat", False)],
)
@pytest.mark.parametrize("kind", ["disallow", "crawl-delay", "redirect", "others", "sitemap"])
def test_private_is_forbidden_and_open_is_not(kind: str, path: str, forbidden: bool) -> None:
    """The longer Allow wins over the Disallow of its directory."""
    text = robots_text(kind, 2.0, "http://h/sitemap.xml")
    assert forbids(text, "PRSM/1.0", path) is forbidden


def test_kinds_differ_as_they_say() -> None:
    """Each kind serves what its line in ROBOTS_KINDS promises."""
    texts = {kind: robots_text(kind, 1.5, "http://h/s.xml") for kind in ROBOTS_KINDS}
    assert texts["none"] == ""
    assert not forbids(texts["allow"], "PRSM", "/private/1.html")
    assert "Crawl-delay: 1.5\n" in texts["crawl-delay"]
    assert "Sitemap: http://h/s.xml\n" in texts["sitemap"]
    assert texts["forbid"] == texts["error"] == FORBID_ALL
    assert forbids(texts["others"], "Mozilla/5.0 (compatible; OtherBot/2.1)", "/")
    assert not forbids(texts["others"], "PRSM/1.0", "/")


def test_robots_txt_itself_is_never_forbidden() -> None:
    """RFC 9309, 2.2.2."""
    assert not forbids(FORBID_ALL, "PRSM", "/robots.txt")
    assert forbids(FORBID_ALL, "PRSM", "/robots.txt.html")


def test_matching_is_linear() -> None:
    """A pattern of many stars against a long path ends at once."""
    text = f"User-agent: *\nDisallow: {'/*a' * 50}b$\n"
    assert not forbids(text, "PRSM", "/" + "a/" * 1_000)
