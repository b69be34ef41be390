"""Crawl a folder host without a network: the URLs that links from `/` reach.

The links are those that a crawler's parser follows (a, area, link, frame, iframe, img, script,
form, meta refresh, srcset, under base), but read with the standard library's parser, so that the
crawler's parser is not its own judge. URLs are joined by urllib, which browsers disagree with on
malformed ones: for real pages, compare sets with that in mind.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from shared.errors import FormatError
from simweb.servers.request import Request
from simweb.sites.file_site import FolderAnswers
from simweb.sites.options import WorldOptions
from simweb.sites.plan import HostPlan
from simweb.sites.robots import forbids

__all__ = ["LinkReader", "folder_urls"]

_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "frame": "src",
    "iframe": "src",
    "img": "src",
    "script": "src",
    "form": "action",
}
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_MOST_HOPS = 10


class LinkReader(HTMLParser):
    """Collects the links of a page, resolved against its base."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self._base: str | None = None
        self._found: list[str] = []

    def links(self) -> list[str]:
        """Return absolute URLs without fragments, of http and https only."""
        base = urljoin(self._url, self._base or "")
        links = []
        for text in self._found:
            try:
                link = urljoin(base, text.strip()).partition("#")[0]
                if urlsplit(link).scheme in ("http", "https"):
                    links.append(link)
            except ValueError:
                continue
        return links

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the links of one tag."""
        values = {name: value for name, value in attrs if value is not None}
        link = values.get(_ATTRIBUTES.get(tag, ""))
        if link is not None:
            self._found.append(link)
        if tag == "base" and self._base is None:
            self._base = values.get("href")
        if tag in ("img", "source"):
            candidates = values.get("srcset", "").split(",")
            self._found += [item.split()[0] for item in candidates if item.split()]
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            match = _REFRESH.match(values.get("content", ""))
            if match:
                self._found.append(match[1])


def folder_urls(options: WorldOptions, host: HostPlan, port: int, user_agent: str = "") -> set[str]:
    """Return the URLs of a folder host that answer 200 and that links from `/` reach."""
    answers = FolderAnswers(options)
    top = host.url(port)
    rules = answers.robots_text(host)
    found: set[str] = set()
    seen, waiting = {top}, [(top, 0)]
    while waiting:
        url, hops = waiting.pop()
        target = url.removeprefix(top[:-1])
        if not target.isascii() or forbids(rules, user_agent, target):
            continue
        try:
            request = Request("GET", target, "HTTP/1.1", {})
            answer = answers.answer(host, request)
        except FormatError:
            continue
        links: list[str] = []
        if answer.status == 301 and hops < _MOST_HOPS:
            links = [urljoin(url, value) for name, value in answer.headers if name == "Location"]
        elif answer.status == 200:
            found.add(url)
            if answer.headers[0][1].startswith(("text/html", "application/xhtml")):
                reader = LinkReader(url)
                reader.feed(answer.body.decode("utf-8", "replace"))
                links = reader.links()
        for link in links:
            if link.startswith(top) and link not in seen:
                seen.add(link)
                waiting.append((link, hops + 1 if answer.status == 301 else 0))
    return found
