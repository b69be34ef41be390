"""Sites that users of other crawlers reported, and the requests that a visit consists of.

The keys are those of docs/peer-reports.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.peer_pages import GZIP, LIST, LONG, NONE, moved, packed, page, rules

__all__ = ["COOKIES", "END", "WALKS", "Walk"]


@dataclass(frozen=True)
class Walk:
    """What a site answers by path, and the paths that are asked for, behind /robots.txt."""

    answers: Mapping[str, bytes]
    asked: tuple[str, ...]
    outcome: str = "answered"
    path: str = "/page"


END = page("<p>x")
DENIES = rules(b"User-agent: *\nDisallow: /page\n")
NO_RULES_HOPS = tuple(f"/r{number}" for number in range(1, 6))


def rules_behind(hops: int) -> dict[str, bytes]:
    """Return a robots.txt that denies, behind so many redirects."""
    steps = {f"/r{number}": moved(f"/r{number + 1}") for number in range(1, hops)}
    return {"/robots.txt": moved("/r1"), **steps, f"/r{hops}": DENIES, "/page": END}


WALKS: Mapping[str, Walk] = {
    "heritrix3#371": Walk(
        {"/robots.txt": rules(b"User-agent: *\nDisallow: /*?*\n")}, (), "denied", "/page?a"
    ),
    "heritrix3#353": Walk(
        {"/robots.txt": rules(b"User-agent: *\nDisallow: /*/output/\n")},
        (),
        "denied",
        "/docview/5/output/MathML",
    ),
    "heritrix3#127": Walk(
        {"/robots.txt": rules(b"\xc3\xaf\xc2\xbb\xc2\xbfUser-agent: *\nDisallow: /page\n")},
        (),
        "denied",
    ),
    "scrapy#3637": Walk(
        {
            "/robots.txt": rules(b"User-agent: *\nDisallow: /en/\nAllow: /en/$\nAllow: /en/geo/\n"),
            "/en/": END,
        },
        ("/en/",),
        path="/en/",
    ),
    "scrapy#3916": Walk(
        {"/robots.txt": rules(b"User-agent: *\nDisallow: /inventory/srp.html?*\n")},
        (),
        "denied",
        "/inventory/srp.html?a=1",
    ),
    "scrapy#6195": Walk(
        {"/robots.txt": rules(b"\xef\xbb\xbfUser-agent: *\nDisallow: /page\n")}, (), "denied"
    ),
    "scrapy#6292": Walk(
        {"/robots.txt": rules(b"# Stra\xdfe\nUser-agent: *\nDisallow: /stra\xdfe\n")},
        (),
        "denied",
        "/stra%DFe/x",
    ),
    "scrapy#2388": Walk(
        {
            "/robots.txt": b"HTTP/1.1 403 Forbidden\r\nContent-Encoding: gzip\r\nConnection: "
            b"close\r\n"
            b"\r\n<?xml version='1.0'?><html>403 - Forbidden</html>",
            "/page": END,
        },
        ("/page",),
    ),
    "stormcrawler#1058": Walk(rules_behind(5), NO_RULES_HOPS, "denied"),
    "nutch#779": Walk(rules_behind(6), (*NO_RULES_HOPS, "/page")),
    "stormcrawler#2004": Walk(
        {
            "/robots.txt": moved("/r"),
            "/r": rules(b"User-agent: *\n" + b"# padding\n" * 120_000 + b"Disallow: /page\n"),
            "/page": END,
        },
        ("/r", "/page"),
    ),
    "stormcrawler#660": Walk(
        {"/page": moved("/maps/7", 301), "/maps/7": page(LIST, "application/xml")},
        ("/page", "/maps/7"),
    ),
    "scrapy#2363": Walk(
        {"/page": moved("http%3A//a.example/ação"), "/http%3A//a.example/a%C3%A7%C3%A3o": END},
        ("/page", "/http%3A//a.example/a%C3%A7%C3%A3o"),
    ),
    "scrapy#4032": Walk(
        {"/page": moved("///127.0.0.1:{PORT}/there"), "/there": END}, ("/page", "/there")
    ),
    "scrapy#2493": Walk(
        {
            "/page": b"HTTP/1.1 301 Moved\r\nLocation: /there\r\nContent-Length: 300\r\n"
            b"Connection: close\r\n\r\nshort",
            "/there": END,
        },
        ("/page", "/there"),
    ),
    "scrapy#2586": Walk(
        {"/page": page(packed(LONG), fields=GZIP + "Content-Length: 10025\r\n")},
        ("/page",),
        "truncated",
    ),
    "browsertrix-crawler#789": Walk({"/page": NONE}, ("/page",)),
    "browsertrix-crawler#955": Walk(
        {"/page": moved("/1", 308), "/1": moved("2", 307), "/2": moved("./3", 303), "/3": END},
        ("/page", "/1", "/2", "/3"),
    ),
    "browsertrix-crawler#1129": Walk({"/page": END}, ("/page",), path="/page#Background"),
    "pywb#533": Walk(
        {"/page": b"HTTP/1.1 302 \r\nLocation: /x\r\nConnection: close\r\n\r\n", "/x": END},
        ("/page", "/x"),
    ),
    "pywb#865": Walk(
        {"/page": moved("/page/", 301), "/page/": moved("/page", 301)},
        ("/page", "/page/"),
        "too_many_redirects",
    ),
    "browsertrix-crawler#460": Walk(
        {"/page": b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nConnection: close\r\n\r\n'},
        ("/page",),
    ),
}

COOKIES: Mapping[str, tuple[dict[str, bytes], list[str]]] = {
    "scrapy#5021": (
        {
            "/page": moved("/b", fields="Set-Cookie: c=1; path=/\r\n"),
            "/b": moved("/c", fields="Set-Cookie: c=2; path=/\r\n"),
            "/c": END,
        },
        ["", "c=1", "c=2"],
    ),
    "scrapy#4772": (
        {
            "/page": moved(
                "/b", fields="Set-Cookie: =; path=/\r\nSet-Cookie: a=b=c; Expires=never\r\n"
            ),
            "/b": END,
        },
        ["", "a=b=c"],
    ),
    "browsertrix-crawler#722": (
        {"/page": moved("/b", fields="Set-Cookie: name=žluťoučký; path=/\r\n"), "/b": END},
        ["", "name=žluťoučký"],
    ),
    "warcio#128": (
        {"/page": moved("/b", fields="Set-Cookie: ³ÒÚÍ×=%96; path=/\r\n"), "/b": END},
        ["", "³ÒÚÍ×=%96"],
    ),
}
