"""Repeated views of every page by a logged-in person."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final
from urllib.parse import urldefrag, urljoin

import httpx

from benchmarks.console.data import CONTROL, DOMAINS, HOST, ROUNDS, Filled
from benchmarks.console.served_manager import Served
from tests.manager.console.markup import read

__all__ = [
    "LANGUAGES",
    "NOT_LOOKED_AT",
    "PASSWORD",
    "PageCost",
    "addresses",
    "log_in",
    "measure_pages",
    "named_by",
    "named_in_styles",
    "p95",
    "timed",
]

PASSWORD: Final = "correct horse battery"
WARM_UPS: Final = 2
LANGUAGES: Final = ("en", "ja")
NO_ROWS: Final = ("nothing",)
"""Views without rows in the data that `filling` makes."""
NOT_LOOKED_AT: Final = {
    "/login": "a logged-in person is redirected",
    "/events": "a stream without an end",
}
"""Routes of pages that are not measured, each with the reason. Files are not pages."""
STYLE_URL: Final = re.compile(r"""url\(\s*["']?(?P<address>[^"')\s]+)""")
_EMPTY: Final = '<p class="nothing">'


@dataclass(frozen=True, slots=True)
class PageCost:
    """Cost of a page. first_ms: the first answer after the start, counted_ms: until it was there
    with all its figures. cpu_ms: the median, of the manager and its database. weight_kb: with all
    that a browser loads for it."""

    path: str
    language: str
    first_ms: float
    counted_ms: float
    p95_ms: float
    cpu_ms: float
    weight_kb: float

    @property
    def name(self) -> str:
        """Return the page with its language, where that is not English."""
        return self.path if self.language == "en" else f"{self.path} [{self.language}]"


def addresses(filled: Filled) -> list[str]:
    """Return every page with something on it, and lists as people use them."""
    host = HOST.format(filled.hosts // 2, filled.hosts // 2 % DOMAINS)
    control = HOST.format(CONTROL, CONTROL % DOMAINS)
    agent = "a0007.bench.example"
    last = filled.hosts // 50
    far = min(1000, last)
    found = [
        "", "agents", "agents?state=asleep&sort=-units", f"agent?name={agent}", "new-agent",
        "join-token?name=new.bench.example&token=0",
        "agents-map", "agents?page=20&size=25", "restart", "hosts", "hosts?sort=-volume",
        "hosts?q=d7.example", "hosts?q=h5000", "search?q=h5000&show=all",
        f"hosts?owner={agent}", "hosts?state=excluded", f"hosts?page={far}", f"hosts?page={last}",
        f"hosts?q=h{filled.hosts // 200}&in=address", "hosts?q=nothing.like.this&in=address",
        "hosts?q=example&in=address&sort=-pages", "hosts?state=placed&sort=-volume",
        "hosts?sort=owner", f"hosts?sort=pages&page={far}", f"hosts?sort=volume&page={last}",
        f"hosts?sort=-owner&page={last}", "add-hosts",
        f"host?host={host}", f"host?host={control}",
        "rounds", f"rounds/{ROUNDS}", f"rounds/{ROUNDS}?q=a00&sort=-units", "plans",
        f"plans/{ROUNDS}", "balance", "balance/splits",
        f"plans/{ROUNDS}/tree", "probes", "probes/matrix", "probes/distances",
        f"probes/distances?agent={agent}&sort=-distance", f"probes/distances?page={far}", "reports",
        f"reports?agent={agent}",
        "logs", f"logs?host=h{filled.hosts // 2}.d0.example",
        "logs?status=500", "logs?host=nothing.example", "logs/more?status=404", "collection",
        "collection/orders", "collection/orders?state=open",
        "data", "new-client", "client?name=library", "downloads",
        "archive-jobs", "withdrawn", "trash", f"captured?url={host}",
        "releases", "release-agents", "alerts", "audit",
        "audit?alerts=yes",
        f"audit?subject={agent}", "users", "user?name=hana", "user/password?name=hana",
        "own-password",
        "new-user", "settings", "fleet-rules", "scope",
        "tokens", "robot",
    ]  # fmt: skip
    return [f"/console/{each}" for each in found]


def measure_pages(
    client: httpx.Client, served: Served, paths: list[str], turns: int, language: str = "en"
) -> list[PageCost]:
    """Measure pages in a language, each `turns` times, after a first answer of each.

    The manager has settled before the measurement.

    A page that this version does not have is left out. Raises AssertionError for a list without
    rows where there should be some: it would measure nothing.
    """
    client.headers["Accept-Language"] = language
    first: dict[str, tuple[float, float]] = {}
    for path in paths:
        first_ms, answer = timed(client, path)
        counted_ms = first_ms
        while is_counting(answer):
            time.sleep(0.2)
            counted_ms += 200
            more_ms, answer = timed(client, path)
            counted_ms += more_ms
        if answer.status_code != 404:
            _has_rows(path, answer.text)
            first[path] = (first_ms, counted_ms)
    print(f"{language}: first answers, then settled after {served.settle():.0f} s", flush=True)
    costs = []
    for path, firsts in first.items():
        for _ in range(WARM_UPS):
            timed(client, path)
        took_ms, used_ms = [], [served.cpu_ms]
        for _ in range(turns):
            took_ms.append(timed(client, path)[0])
            used_ms.append(served.cpu_ms)
        # A tick falls into a few of the requests, so the median is of the page alone.
        cpu_ms = median(after - before for before, after in pairwise(used_ms))
        weight_kb = _weight_kb(client, timed(client, path)[1])
        costs.append(PageCost(path, language, *firsts, p95(took_ms), cpu_ms, weight_kb))
    return costs


def _has_rows(path: str, page: str) -> None:
    """Hold a list against what is known of it: whether it has rows."""
    _before, there_is, shown = page.partition('<div id="list">')
    expected = not any(one in f"{path}$" for one in NO_ROWS)
    found = "<tbody" in shown or _EMPTY not in shown
    assert not there_is or found == expected, f"{path}: rows expected: {expected}"


def log_in(client: httpx.Client) -> None:
    """Log in as hana, whose cookie the client then has."""
    form = read(client.get("/console/").text).form("/console/login")
    fields = form.fields | {"name": "hana", "password": PASSWORD}
    answer = client.post("/console/login", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200 or is_counting(answer), answer.text[-500:]


def is_counting(answer: httpx.Response) -> bool:
    """Return whether an answer says that the page's figures are being counted."""
    return answer.status_code == 503 and "refresh" in answer.headers


def timed(client: httpx.Client, path: str) -> tuple[float, httpx.Response]:
    """Return the milliseconds of a request, and its answer."""
    begun = time.perf_counter()
    answer = client.get(path)
    took_ms = (time.perf_counter() - begun) * 1000
    known = answer.status_code in (200, 404) or is_counting(answer)
    assert known, f"{path}: {answer.status_code} {answer.text[-500:]}"
    return took_ms, answer


def p95(values: list[float]) -> float:
    """Return what 95 of 100 do not exceed."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def _weight_kb(client: httpx.Client, page: httpx.Response) -> float:
    """Return what a browser receives for a page, headers left out.

    Counted are scripts, pictures, what `<link>` and `<use>` name, and what style sheets name in
    turn; each once.
    """
    received, waiting = {}, named_by(page.text, str(page.url))
    while waiting:
        address = waiting.pop()
        received[address] = answer = client.get(address)
        if answer.headers.get("content-type", "").startswith("text/css"):
            waiting |= named_in_styles(answer.text, str(answer.url)) - received.keys()
    return sum(one.num_bytes_downloaded for one in (page, *received.values())) / 1000


def named_by(html: str, base: str) -> set[str]:
    """Return the addresses of files that a browser loads for a page at `base`."""
    elements = read(html).elements
    named = [each.attributes.get("src") for each in elements if each.tag in ("script", "img")]
    named += [each.attributes.get("href") for each in elements if each.tag in ("link", "use")]
    return _addresses(filter(None, named), base)


def named_in_styles(css: str, base: str) -> set[str]:
    """Return the addresses of files that a browser may load for a style sheet at `base`."""
    return _addresses((found["address"] for found in STYLE_URL.finditer(css)), base)


def _addresses(named: Iterable[str], base: str) -> set[str]:
    """Return whole addresses without fragments; what is in the page itself has none."""
    whole = {
        urldefrag(urljoin(base, one)).url for one in named if not one.startswith(("data:", "#"))
    }
    return whole - {urldefrag(base).url}
