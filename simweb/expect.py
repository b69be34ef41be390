"""What an honest, complete crawl gets: every URL of the world, by outcome, known from the plan.

URLs are in the form in which the crawler should store them. A host in trouble, or one whose
robots.txt forbids all or fails, gives no capture. `strict` is for robots that obey a Disallow
whomever it addresses. Times are not considered: `slow` hosts and pages count as `slow`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from simweb.folder_crawl import folder_urls
from simweb.leaves import LANDINGS, landing_path
from simweb.plan import HostPlan, World
from simweb.trouble import HOST_TROUBLE, PAGE_TROUBLE, Outcome

__all__ = ["Expected", "expect_host", "expect_world"]


@dataclass(slots=True)
class Expected:
    """URLs by outcome."""

    urls: dict[Outcome, set[str]] = field(default_factory=lambda: {kind: set() for kind in Outcome})

    @property
    def captures(self) -> set[str]:
        """Return the URLs that answer 200, whole, at the first request or later."""
        return self.urls[Outcome.CAPTURE] | self.urls[Outcome.RETRY] | self.urls[Outcome.SLOW]

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
    """Return what a crawl of one host gets, its island included."""
    found = Expected()
    if host.folder:
        found.urls[Outcome.CAPTURE] = folder_urls(world.options, host, port)
        return found
    forbidden = host.robots in ("error", "forbid") or (strict and host.robots == "others")
    whole = _whole_host(host, forbidden)
    for path, outcome in _paths(world, host, strict):
        # A fault of the host decides, unless the path was forbidden anyway.
        kind = outcome if whole is None or outcome is Outcome.DENIED else whole
        if kind is Outcome.SLOW and outcome is not Outcome.CAPTURE:
            kind = outcome
        found.urls[kind].add(host.url(port, path))
    return found


def _whole_host(host: HostPlan, forbidden: bool) -> Outcome | None:
    if host.trouble:
        outcome = HOST_TROUBLE[host.trouble].outcome
        if outcome in (Outcome.ERROR, Outcome.REDIRECT):
            return outcome
        if not forbidden:
            return outcome if outcome is not Outcome.CAPTURE else None
    return Outcome.DENIED if forbidden else None


def _paths(world: World, host: HostPlan, strict: bool) -> Iterable[tuple[str, Outcome]]:
    """Yield (path, outcome) of every URL that links or redirects lead to on a healthy host."""
    site = world.site(host)
    for page in range(site.pages):
        yield site.path_of(page), Outcome.CAPTURE
    for leaf in site.leaves():
        if leaf.kind == "private":
            yield leaf.path, Outcome.DENIED
        elif leaf.kind == "private-open":
            yield leaf.path, Outcome.CAPTURE
        else:
            yield leaf.path, PAGE_TROUBLE[leaf.kind].outcome
        if leaf.kind in LANDINGS:
            yield landing_path(leaf.kind, leaf.number), Outcome.CAPTURE
