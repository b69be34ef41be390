"""Scrapy follows the links of some hosts: `python scrapy_crawl.py TOPS.txt [reference]`.

SETTINGS are what it runs with. `reference` runs it with the three that the comparison is held
to be fair by, and nothing else: `python -m benchmarks.crawl --check-scrapy` shows both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

REFERENCE: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 200,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "LOG_LEVEL": "ERROR",
}
# Everything that following links does not need is off: all of it makes Scrapy faster.
SETTINGS: dict[str, Any] = {
    **REFERENCE,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "RETRY_ENABLED": False,
    "REFERER_ENABLED": False,
    "LOGSTATS_INTERVAL": 0,
}


# The links that ours follows: what a reader can follow, and what a browser loads.
TAGS = ("a", "area", "link", "frame", "iframe", "img", "script", "source", "embed", "input")


class FollowLinks(scrapy.Spider):
    """Every link that stays on the hosts of the list; nothing is kept of a page."""

    name = "follow-links"

    def __init__(self, tops: list[str], **more: Any) -> None:
        """Begin at the top pages."""
        super().__init__(**more)
        self.start_urls = tops
        self._links = LinkExtractor(
            allow_domains=[top.split("/")[2] for top in tops],
            tags=TAGS,
            attrs=("href", "src"),
            deny_extensions=(),
        )

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        """Follow the links of a page."""
        if isinstance(response, HtmlResponse):
            for link in self._links.extract_links(response):
                yield scrapy.Request(link.url)


if __name__ == "__main__":
    settings = REFERENCE if sys.argv[2:] == ["reference"] else SETTINGS
    process = CrawlerProcess(settings)
    process.crawl(FollowLinks, tops=Path(sys.argv[1]).read_text().split())
    process.start()
