"""Sitemaps and feeds read by the agent's reader and by lxml: `make bench-sitemaps`.

Each in a separate process: cases whose URLs are right (`cases.py`), CPU seconds for a sitemap of
50 MB and for 1,000 feeds, the memory above that before it, the time of the import. Beside them the
size of lxml's wheel. docs/adr/0197 says what follows. Prints a table and `RESULT {json}`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.modules.page.documents import link_lists
from benchmarks.sitemaps.cases import URL, cases
from benchmarks.sitemaps.lxml_reader import FOLDER, install, read_by_lxml

READERS: Final = ("agent", "lxml")
URLS: Final = 50_000
FEEDS: Final = 1000
ROUNDS: Final = 3
LARGE: Final = 10  # times: a million open elements, texts of 12 MB, 20,000 attributes
MOST: Final = 10**6  # URLs of one document

Figures = dict[str, float | str | list[str]]


def main() -> None:
    """Print the figures of each reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", choices=READERS, help="measure one, in this process")
    reader = parser.parse_args().reader
    if reader:
        print(json.dumps(figures(reader)))
        return
    install()
    result = {}
    for name in READERS:
        words = [sys.executable, "-m", "benchmarks.sitemaps", "--reader", name]
        result[name] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        for key, value in result[name].items():
            print(f"{name:8}{key:24}{value}")
    print("RESULT", json.dumps({"benchmark": "sitemaps", **result}))


def figures(reader: str) -> Figures:
    """Return the figures of one reader."""
    begun = time.perf_counter()
    if reader == "lxml":
        sys.path.append(str(FOLDER))
        importlib.import_module("lxml.etree")
        vars(link_lists)["read_xml"] = read_by_lxml
    else:
        importlib.import_module("xml.parsers.expat")
    import_ms = 1000 * (time.perf_counter() - begun)
    feed, sitemap = _feed(), _sitemap()
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins again
    before = _peak_kib()
    sitemap_s = min(_cpu_s(lambda: _urls(sitemap)) for _ in range(ROUNDS))
    peak = _peak_kib()
    known = list(cases(LARGE))
    wrong, slowest_s, slowest = [], 0.0, ""
    for case in known:
        begun = time.process_time()
        if _urls(case.body) != case.urls:
            wrong.append(case.name)
        if (took_s := time.process_time() - begun) > slowest_s:
            slowest_s, slowest = took_s, case.name
    return {
        "import_ms": round(import_ms, 1),
        "cases": len(known),
        "wrong": wrong,
        "slowest_case": slowest,
        "slowest_case_s": round(slowest_s, 2),
        "sitemap_mb": round(len(sitemap) / 1e6, 1),
        "sitemap_urls": len(_urls(sitemap)),
        "sitemap_cpu_s": round(sitemap_s, 2),
        "sitemap_memory_mb": round((peak - before) / 1024, 1),
        "feeds_cpu_s": round(min(_cpu_s(lambda: _often(feed)) for _ in range(ROUNDS)), 3),
        "broken_feeds_cpu_s": round(
            min(_cpu_s(lambda: _often(feed.replace(b"News 10", b"R & D"))) for _ in range(ROUNDS)),
            3,
        ),
    }


def _urls(body: bytes) -> list[str]:
    return list(link_lists.list_of("xml", body, "application/xml", URL, MOST).urls)


def _often(body: bytes) -> None:
    for _ in range(FEEDS):
        _urls(body)


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def _cpu_s(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _sitemap() -> bytes:
    """Return a sitemap of 50 MB, each of whose pages has five languages and an image."""
    rows = ['<urlset xmlns="s" xmlns:xhtml="x" xmlns:image="i">\n']
    for number in range(URLS):
        url = f"http://a.example/shop/{number % 97}/product-{number}.html?from=list&amp;id={number}"
        languages = "".join(
            f'<xhtml:link rel="alternate" hreflang="{one}" href="{url}&amp;language={one}"/>\n'
            for one in ("en", "de", "fr", "ja", "zh")
        )
        rows.append(
            f"<url>\n<loc>{url}</loc>\n<lastmod>2026-11-01T00:00:00+09:00</lastmod>\n"
            f"<changefreq>daily</changefreq>\n<priority>0.8</priority>\n{languages}"
            f"<image:image><image:loc>http://a.example/images/{number}.jpg</image:loc>"
            f"<image:title>{'Product ' * 8}</image:title></image:image>\n</url>\n"
        )
    return "".join([*rows, "</urlset>"]).encode()


def _feed() -> bytes:
    items = "".join(
        f"<item><title>News {number}</title><link>http://a.example/news/{number}</link>"
        f'<guid isPermaLink="false">id {number}</guid><description>&lt;p&gt;Text</description>'
        "</item>"
        for number in range(20)
    )
    return f"<rss><channel><link>http://a.example/</link>{items}</channel></rss>".encode()


if __name__ == "__main__":
    main()
