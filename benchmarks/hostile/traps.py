"""Sites whose links never end: those that people met, and one for each list of archivists.

Each is a function from the target of a request to a page; nothing is remembered between requests.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.hostile.sampling import sample

__all__ = ["FIXTURES", "Site", "page_of", "trap_sites"]

FIXTURES: Final = Path(__file__).resolve().parents[3] / "shared" / "fixtures"
LINKS_A_PAGE: Final = 10

Site = Callable[[str], bytes]
"""From a request's target to the whole answer, header and body."""

_SCHEME_AND_HOST: Final = re.compile(r"\A[a-z]+://[^/?#]*", re.IGNORECASE)


def page_of(body: bytes | str, *fields: str) -> bytes:
    """Return an answer of 200 with a page."""
    octets = body.encode("utf-8", "replace") if isinstance(body, str) else body
    head = "\r\n".join(
        ("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {len(octets)}", *fields)
    )
    return head.encode() + b"\r\n\r\n" + octets


def trap_sites() -> Iterator[tuple[str, Site]]:
    """Yield (name, site) of each entry of the traps that others wrote down."""
    for path in sorted((FIXTURES / "crawler-traps").glob("*.json")):
        content = json.loads(path.read_text())
        if isinstance(content, dict):
            yield f"patterns {path.stem}", _matching(content["patterns"])
            continue
        for number, row in enumerate(content, 1):
            yield f"trap {number}: {row['kind']}", _met(row)


def _link_page(*references: str) -> bytes:
    return page_of("".join(f'<p><a href="{escape(one)}">on</a>' for one in references))


def _matching(patterns: list[str]) -> Site:
    """Return a site on which each page leads to ten new URLs that the patterns match."""

    def site(target: str) -> bytes:
        chance = random.Random(target)
        links = []
        for _ in range(LINKS_A_PAGE):
            text = sample(chance.choice(patterns), chance)
            path = _SCHEME_AND_HOST.sub("", text)
            links.append(path if path.startswith("/") else f"/{path}{chance.randrange(10**6)}")
        return _link_page(*links)

    return site


def _met(row: dict[str, Any]) -> Site:
    if "robotstxt" in row:
        return _with_rules(row["robotstxt"], row["url"])
    kind = row["kind"]
    makers = {"entity": _entities, "schemeless": _schemeless, "calendar": _calendar}
    makers |= {"slash": _slashes, "endless": _endless, "extractor": _pathological}
    return makers[kind.partition(" ")[0]]


def _entities(target: str) -> bytes:
    path, _, query = target.partition("?")
    return _link_page(*(f"{path}?amp{quote(';' + query)}&amp;p={page}" for page in (2, 3)))


def _schemeless(target: str) -> bytes:
    return _link_page("www.google.com/intl/de/policies/privacy/partners/", "www.other.example/")


def _calendar(target: str) -> bytes:
    found = re.search(r"Year=([0-9]+)", target)
    year = int(found[1]) if found else 2026
    years = (year - 1, year + 1, year + 10)
    return _link_page(*(f"/index.php?op=statistics&statisticsYear={one}" for one in years))


def _slashes(target: str) -> bytes:
    return _link_page(f"{target}/", f"{target}/x")


def _endless(target: str) -> bytes:
    # Without its end: the server continues it as long as the client reads.
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/2><a href=/3>"


def _pathological(target: str) -> bytes:
    quotes = '<a href="' * 20_000 + "javascript:x('" * 20_000
    return page_of(f"<a href=/a{len(target)}>{quotes}{'<' * 50_000}{' a=' * 50_000}")


def _with_rules(rules: str, url: str) -> Site:
    def site(target: str) -> bytes:
        if target == "/robots.txt":
            return page_of(rules).replace(b"text/html", b"text/plain", 1)
        return _link_page(url, *(f"/page{number}" for number in range(20)))

    return site
