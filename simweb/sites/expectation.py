"""Expected result of an honest, complete crawl: every URL of the world by outcome.

URLs are in the form in which a crawler should store them. A host in trouble, or one whose
robots.txt forbids all or fails, gives no capture; URLs of such a host that no crawler can find are
listed all the same. Of a crawl with patience it holds that

    captures <= what it stores <= captures | damaged | noindex | nofollow | excess | trap
                                            | sitemap

`strict` is for robots that obey a Disallow whomever it addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from simweb.sites.file_site_crawl import folder_urls
from simweb.sites.leaves import LANDINGS, landing_path
from simweb.sites.plan import HostPlan, World
from simweb.sites.site import Leaf
from simweb.sites.trouble import HOST_TROUBLE, PAGE_TROUBLE, Outcome

__all__ = ["Expected", "captures_of", "expect_host", "expect_world", "outcome_counts"]

_GOOD = (Outcome.CAPTURE, Outcome.RETRY, Outcome.SLOW)


@dataclass(slots=True)
class Expected:
    """URLs by outcome."""

    urls: dict[Outcome, set[str]] = field(default_factory=lambda: {kind: set() for kind in Outcome})

    @property
    def captures(self) -> set[str]:
        """Return the URLs that answer 200, whole: at once, slowly, or when asked again."""
        return self.of(*_GOOD)

    @property
    def tolerated(self) -> set[str]:
        """Return the URLs that a crawl may store or not, as its policy is."""
        kinds = (Outcome.DAMAGED, Outcome.NOINDEX, Outcome.NOFOLLOW, Outcome.EXCESS, Outcome.TRAP)
        return self.of(*kinds, Outcome.SITEMAP)

    def of(self, *outcomes: Outcome) -> set[str]:
        """Return the URLs of some outcomes."""
        return set().union(*(self.urls[outcome] for outcome in outcomes))

    def counts(self) -> dict[str, int]:
        """Return how many URLs have each outcome; outcomes without any are left out."""
        return {kind.value: len(urls) for kind, urls in self.urls.items() if urls}

    def add(self, other: Expected) -> None:
        """Take another host's URLs too."""
        for kind, urls in other.urls.items():
            self.urls[kind] |= urls


def expect_world(
    world: World, port: int, hosts: Iterable[HostPlan] | None = None, strict: bool = False
) -> Expected:
    """Return what a crawl of these hosts (default: all) gets."""
    found = Expected()
    for host in world.hosts if hosts is None else hosts:
        found.add(expect_host(world, host, port, strict))
    return found


def expect_host(world: World, host: HostPlan, port: int, strict: bool = False) -> Expected:
    """Return what a crawl of one host gets, its island included.

    A folder host is crawled here, file by file: seconds for thousands of files.
    """
    found = Expected()
    if host.folder:
        found.urls[Outcome.CAPTURE] = folder_urls(world.options, host, port)
        return found
    site = world.site(host)
    for outcome, kind, count in _groups(host, strict):
        paths = (_path(kind, number) for number in range(count))
        if not kind:
            paths = (site.path_of(page) for page in range(count))
        found.urls[outcome].update(host.url(port, path) for path in paths)
    return found


def outcome_counts(host: HostPlan, strict: bool = False) -> Counter[Outcome]:
    """Return how many URLs of a generated host have each outcome, without making them."""
    found: Counter[Outcome] = Counter()
    for outcome, _, count in _groups(host, strict):
        found[outcome] += count
    return found


def captures_of(counts: Counter[Outcome]) -> int:
    """Return how many URLs of these counts are captures."""
    return sum(counts[kind] for kind in _GOOD)


def _groups(host: HostPlan, strict: bool) -> Iterator[tuple[Outcome, str, int]]:
    """Yield (outcome, kind of leaf or empty for pages, how many) on a generated host."""
    yield _settled(host, Outcome.CAPTURE, strict), "", host.pages
    for kind, count in host.leaves:
        if kind == "private":
            outcome = Outcome.DENIED
        elif kind == "private-open":
            outcome = Outcome.CAPTURE
        else:
            outcome = PAGE_TROUBLE[kind].outcome
        yield _settled(host, outcome, strict), kind, count
        if kind in LANDINGS:
            yield _settled(host, Outcome.CAPTURE, strict), f"landing-{kind}", count
    if host.robots == "sitemap":
        yield _settled(host, Outcome.SITEMAP, strict), "sitemap", 1


def _settled(host: HostPlan, outcome: Outcome, strict: bool) -> Outcome:
    """Return what a URL's outcome becomes by the host's trouble and robots.txt."""
    whole = HOST_TROUBLE[host.trouble].outcome if host.trouble else Outcome.CAPTURE
    if whole in (Outcome.ERROR, Outcome.REDIRECT):
        return whole
    if host.robots in ("error", "forbid") or (strict and host.robots == "others"):
        return Outcome.DENIED
    return whole if outcome is Outcome.CAPTURE else outcome


def _path(kind: str, number: int) -> str:
    if kind.startswith("landing-"):
        return landing_path(kind.removeprefix("landing-"), number)
    if kind == "sitemap":
        return "/sitemap.xml"
    return Leaf(kind, number).path
