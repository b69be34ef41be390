"""The world: which hosts there are, where, how large, how troubled, and who links to whom.

Host 0 is healthy, and each later host is linked from a healthy host before it or is a seed; so
links lead from the seeds to every host, dead ones included. Seeds are the first healthy hosts
and all folder hosts. Answers, pages and faults at run time belong to other modules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from shared.frozen import frozen
from simweb.sites.chance import Stream, draw, draw64
from simweb.sites.distance import Distances
from simweb.sites.options import WorldOptions
from simweb.sites.site import Site

__all__ = ["HostPlan", "Outlink", "World"]

CHAIN = 4
"""Islands in a row, of which each is linked only from the one before."""


@frozen
class Outlink:
    """A link to another host."""

    host: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlan:
    """All that is decided about one host."""

    index: int
    name: str
    address: str
    more_addresses: tuple[str, ...] = ()
    region: int
    key: int
    pages: int = 0  # mainland and island
    island_pages: int = 0
    page_bytes: float = 0.0
    leaves: tuple[tuple[str, int], ...] = ()
    trouble: str = ""  # a kind of HOST_TROUBLE, or empty
    robots: str  # a kind of ROBOTS_KINDS, or `file` for a folder
    crawl_delay_s: float = 0.0
    coding: str  # gzip, deflate, deflate-raw, br, or empty
    charset: str = ""
    keep_alive: bool
    validators: bool  # sends ETag and Last-Modified, answers 304
    change_every_s: float = 0.0  # 0: never by time
    folder: str = ""

    @property
    def healthy(self) -> bool:
        """Return whether a crawl from `/` reaches every page, so that others may hang on it."""
        return not self.trouble and self.robots not in ("error", "forbid", "others")

    def url(self, port: int, path: str = "/") -> str:
        """Return the URL of a path of this host."""
        return f"http://{self.name}{'' if port == 80 else f':{port}'}{path}"

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values."""
        return {**asdict(self), "leaves": dict(self.leaves)}


class World:
    """The plan of a whole simulated web, a function of its options."""

    def __init__(self, options: WorldOptions, hosts: list[HostPlan]) -> None:
        self.options = options
        self.hosts = hosts
        self.distances = Distances(options)
        self.by_name = {host.name: host for host in hosts}
        self.seeds = self._choose_seeds()
        self._sites: dict[int, Site] = {}
        self.found_on: dict[int, tuple[int, int]] = {}  # host -> (host, page) that links to it
        self._planned: dict[int, dict[int, list[Outlink]]] = {}
        self._link_hosts()

    def site(self, host: HostPlan) -> Site:
        """Return the page space of a generated host."""
        found = self._sites.get(host.index)
        if found is None:
            mainland = host.pages - host.island_pages
            found = Site(host.key, mainland, host.island_pages, host.leaves)
            self._sites[host.index] = found
        return found

    def outlinks(self, host: HostPlan, page: int, version: int) -> list[Outlink]:
        """Return the links of a page to other hosts: the planned ones, then drawn ones."""
        links = list(self._planned.get(host.index, {}).get(page, ()))
        stream = Stream(draw64(host.key, "outlinks", page, version))
        mean = self.options.outlinks_mean
        for _ in range(int(mean * 2 * stream.unit() + stream.unit())):
            other = self.hosts[stream.below(len(self.hosts))]
            deep = stream.below(5) < 2 and not other.folder
            if other.index != host.index:
                site = self.site(other) if deep else None
                path = site.path_of(stream.below(site.mainland)) if site else "/"
                links.append(Outlink(other.index, path))
        return links

    def planned_outlinks(self, host: HostPlan) -> Iterator[tuple[int, Outlink]]:
        """Yield (page, link) of the links that make other hosts and islands reachable."""
        for page, links in self._planned.get(host.index, {}).items():
            for link in links:
                yield page, link

    def addresses(self) -> list[str]:
        """Return the addresses that something listens on, in order."""
        hosts = [host for host in self.hosts if host.trouble != "refused"]
        return list(
            dict.fromkeys(one for host in hosts for one in (host.address, *host.more_addresses))
        )

    def _choose_seeds(self) -> list[HostPlan]:
        folders = [host for host in self.hosts if host.folder]
        made = [host for host in self.hosts if not host.folder]
        limit = self.options.seeds or len(made)
        healthy = [host for host in made if host.healthy]
        return (healthy if self.options.seeds else made)[:limit] + folders

    def _link_hosts(self) -> None:
        seeds = {host.index for host in self.seeds}
        healthy: list[HostPlan] = []
        seed = self.options.seed
        for host in self.hosts:
            if host.folder:
                continue
            if healthy and host.index not in seeds:
                page = self._plan_link(healthy, Outlink(host.index, "/"), "found-on")
                self.found_on[host.index] = page
            if host.healthy:
                healthy.append(host)
        if self.options.island_chain:
            self._chain_islands(healthy)
            return
        for host in healthy:
            island = self.site(host).island if host.island_pages else None
            others = [other for other in healthy if other.index != host.index]
            if island is not None and others:
                path = self.site(host).path_of(island)
                self._plan_link(others, Outlink(host.index, path), f"island-{seed}")

    def _chain_islands(self, healthy: list[HostPlan]) -> None:
        """Link each island from the island before, and the first of four from a mainland."""
        islanders = [host for host in healthy if host.island_pages]
        for number, host in enumerate(islanders):
            island = self.site(host).island
            assert island is not None, "it has pages there"
            link = Outlink(host.index, self.site(host).path_of(island))
            if number % CHAIN == 0:
                others = [other for other in healthy if other.index != host.index]
                self._plan_link(others, link, f"island-{self.options.seed}")
                continue
            before = islanders[number - 1]
            page = self.site(before).island
            assert page is not None, "it has pages there"
            self._planned.setdefault(before.index, {}).setdefault(page, []).append(link)

    def _plan_link(self, sources: list[HostPlan], link: Outlink, why: str) -> tuple[int, int]:
        """Put a link on some page of one of the sources; return (host, page)."""
        seed = self.options.seed
        source = sources[int(draw(seed, why, link.host) * len(sources))]
        mainland = source.pages - source.island_pages
        page = int(draw(seed, why, "page", link.host) * mainland)
        self._planned.setdefault(source.index, {}).setdefault(page, []).append(link)
        return source.index, page
