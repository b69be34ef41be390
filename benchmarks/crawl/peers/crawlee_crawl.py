"""crawlee follows the links of some hosts: `python crawlee_crawl.py TOPS.txt`.

Its HTTP crawler with the parsel parser, everything in memory, its log quiet, and as many requests
at a time as Scrapy has.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from crawlee import ConcurrencySettings, service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def main(tops: list[str]) -> None:
    """Crawl from the top pages until nothing is left; all hosts are of loopback, at one port."""
    port = tops[0].rstrip("/").rpartition(":")[2]
    ours = re.compile(rf"http://127\.[0-9.]+:{port}/")
    service_locator.set_storage_client(MemoryStorageClient())
    service_locator.set_configuration(
        Configuration(purge_on_start=False, available_memory_ratio=0.9, log_level="ERROR")
    )
    crawler = ParselCrawler(
        configure_logging=False,
        max_request_retries=0,
        use_session_pool=False,
        respect_robots_txt_file=False,
        request_handler_timeout=timedelta(seconds=60),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=200, desired_concurrency=200, max_concurrency=200
        ),
    )

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        if not context.http_response.headers.get("content-type", "").startswith("text/html"):
            return
        found = context.selector.xpath("//@href | //@src").getall()
        joined = {urldefrag(urljoin(context.request.url, one)).url for one in found}
        await context.add_requests([one for one in joined if ours.match(one)])

    logging.disable(logging.WARNING)
    await crawler.run(tops)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).read_text().split()))
