"""The pages that are crawled, as files below one folder for each host.

Hosts are addresses of 127.0.0.0/8, so that no crawler looks names up. The simulated web is
simweb's, page by page; each of its hosts has a robots.txt that forbids a twentieth of its pages.
The real pages are the HTML documentation of five Debian packages.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from simweb.sites.builder import build_world
from simweb.sites.options import WorldOptions
from simweb.sites.pages import leaf_html, page_html
from simweb.sites.plan import HostPlan, World
from simweb.sites.robots import ROBOTS_KINDS, robots_text

__all__ = ["DOCUMENTATION", "Web", "real_web", "simulated_web"]

DOCUMENTATION: Final = {
    "python3-doc": "python3-doc/html",
    "postgresql-doc-15": "postgresql-doc-15/html",
    "git-doc": "git/html",
    "apache2-doc": "apache2-doc/manual",
    "openjdk-17-doc": "openjdk-17-jre-headless/api",
}
"""Debian package: its folder below /usr/share/doc."""

PAGE_BYTES: Final = 11_000
LINKED: Final = 0.8  # of the files of documentation: others are linked from nowhere


@dataclass(frozen=True, slots=True)
class Web:
    """Hosts as folders: `folder/ADDRESS/...`. `pages`: what links lead to, at least."""

    folder: Path
    hosts: tuple[str, ...]
    pages: int = 0

    def tops(self, port: int) -> list[str]:
        """Return the top page of each host."""
        return [f"http://{host}:{port}/" for host in self.hosts]


def simulated_web(folder: Path, hosts: int, pages: int, port: int) -> Web:
    """Write a simulated web of about so many pages, none of them in trouble."""
    options = WorldOptions(
        hosts=hosts,
        pages_mean=pages / hosts,
        pages_sigma=0.0,
        page_bytes=PAGE_BYTES,
        bytes_sigma=0.0,
        names_per_address=1,
        trouble_scale=0.0,
        robots=tuple(f"{kind}={int(kind == 'disallow')}" for kind in ROBOTS_KINDS),
    )
    planned = build_world(options).hosts
    world = World(options, [replace(host, name=host.address) for host in planned])
    for host in world.hosts:
        _write_host(folder / host.address, world, host, port)
    return Web(
        folder,
        tuple(host.address for host in world.hosts),
        sum(host.pages for host in world.hosts),
    )


def _write_host(folder: Path, world: World, host: HostPlan, port: int) -> None:
    site = world.site(host)
    _write(folder, "/robots.txt", robots_text(host.robots, 0.0, "").encode())
    for page in range(site.pages):
        _write(folder, site.path_of(page), page_html(world, host, page, 0, port))
    for leaf in site.leaves():
        _write(folder, leaf.path, leaf_html(host, leaf))


def _write(folder: Path, path: str, body: bytes) -> None:
    file = folder / (path[1:] + "index.html" if path.endswith("/") else path[1:])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)


def real_web(folder: Path) -> Web:
    """Copy the documentation, each package as a host; missing packages end the program.

    Copied because a package's folder holds links to other packages, which nginx should not follow.
    """
    folder.mkdir(parents=True)
    hosts = []
    for number, (package, place) in enumerate(DOCUMENTATION.items(), start=1):
        source = Path("/usr/share/doc") / place
        if not source.is_dir():
            sys.exit(f"no {source}: run make bench-crawl as root, or apt-get install {package}")
        host = f"127.30.0.{number}"
        shutil.copytree(source, folder / host, ignore_dangling_symlinks=True)
        hosts.append(host)
    pages = sum(1 for _ in folder.rglob("*.html"))
    return Web(folder, tuple(hosts), int(LINKED * pages))
