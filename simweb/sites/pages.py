"""The HTML of ordinary pages: a function of world, host, page number, version and port.

A page links to its children in the tree, its parent, its leaves, random pages of its host, and
other hosts; the tree does not change with the version, the rest of the page does. Links that
make pages reachable are plain `<a href>`; random ones also come as other tags and in spellings
that a crawler must bring to one form (dot segments, upper-case host, fragment, `//host`).
A page has exactly the size that the plan gives it, unless its links alone are longer.
"""

from __future__ import annotations

import math

from simweb.sites.chance import Stream, draw64, normal
from simweb.sites.plan import HostPlan, World
from simweb.sites.site import Leaf
from simweb.sites.text import FLOOR, paragraphs, python_charset, titles

__all__ = ["leaf_html", "page_html", "page_size", "trap_html"]

_PAGE_SIGMA = 0.6  # pages within one host
_LEAST_BYTES, _MOST_FACTOR = 200, 50.0


def page_size(host: HostPlan, page: int) -> int:
    """Return the bytes of a page before compression, as planned."""
    factor = math.exp(_PAGE_SIGMA * normal(host.key, "bytes", page) - _PAGE_SIGMA**2 / 2)
    return max(_LEAST_BYTES, int(host.page_bytes * min(factor, _MOST_FACTOR)))


def page_html(world: World, host: HostPlan, page: int, version: int, port: int) -> bytes:
    """Return the body of a page."""
    site = world.site(host)
    stream = Stream(draw64(host.key, "page", page, version))
    links = [f'<a href="{_attribute(site.path_of(child))}">' for child in site.children_of(page)]
    links += [_leaf_link(leaf) for leaf in site.leaves_on(page)]
    if page:
        links.append(f'<a href="{_attribute(site.path_of(site.parent_of(page)))}">')
        links.append('<a href="/">')
    count = int(world.options.links_mean * 2 * stream.unit() + 0.5)
    for other in site.random_links(page, count, stream):
        links.append(_varied(host, site.path_of(other), port, stream))
    for outlink in world.outlinks(host, page, version):
        url = world.hosts[outlink.host].url(port, outlink.path)
        links.append(f'<a href="{_attribute(url)}">')
    note = f"page {page} version {version}"
    return _document(host, note, links, page_size(host, page), stream)


def leaf_html(host: HostPlan, leaf: Leaf, version: int = 0) -> bytes:
    """Return the body of a leaf that is answered with a page; it links to `/` only."""
    stream = Stream(draw64(host.key, leaf.path, version))
    note = f"{leaf.kind} {leaf.number} version {version}"
    robots = "noindex" if leaf.kind == "noindex" else ""
    size = int(host.page_bytes * (0.5 + stream.unit()))
    return _document(host, note, ['<a href="/">'], size, stream, robots)


def trap_html(host: HostPlan, leaf: Leaf, identity: str, links: list[str]) -> bytes:
    """Return a page of a trap; its text depends on `identity` alone."""
    stream = Stream(draw64(host.key, leaf.path, identity))
    tags = [f'<a href="{link}">' for link in links]
    return _document(host, f"{leaf.kind} {leaf.number}", tags, 2_000, stream)


def _attribute(url: str) -> str:
    """Escape a URL of ours, which holds no quotes, for an attribute."""
    return url.replace("&", "&amp;")


def _leaf_link(leaf: Leaf) -> str:
    if leaf.kind == "image":
        return f'<img src="{leaf.path}" alt="image"><a>'
    rel = ' rel="nofollow"' if leaf.kind == "nofollow" else ""
    return f'<a href="{leaf.path}"{rel}>'


def _varied(host: HostPlan, path: str, port: int, stream: Stream) -> str:
    """Return an opening tag that links to a path of the same host, in one of many ways."""
    form = stream.below(40)
    href = path
    if form < 4:
        href = host.url(port, path)
    elif form == 4:
        href = host.url(port, path).replace(host.name, host.name.upper())
    elif form == 5:
        href = host.url(port, path).removeprefix("http:")
    elif form in (6, 7):
        href = f"{path}#part{stream.below(9)}"
    elif form == 8:
        href = f"/./a/..{path}"
    href = _attribute(href)
    if form == 9:
        return f'<iframe src="{href}"></iframe><a>'
    if form == 10:
        return f'<map name="m"><area href="{href}" alt=""></map><a>'
    if form == 11:
        return f"<a class=x\n  HREF='{href}'>"
    if form == 12:
        return f"<a href= {href.replace('&amp;', '&#38;')} >"
    return f'<a href="{href}">'


def _document(
    host: HostPlan, note: str, links: list[str], size: int, stream: Stream, robots: str = ""
) -> bytes:
    """Put a page together; pad it to `size` bytes with text and one comment."""
    charset = host.charset
    codec = python_charset(charset)
    label = f'<meta charset="{charset}">\n' if charset == codec else ""
    robots = f'<meta name="robots" content="{robots}">\n' if robots else ""
    names = titles(charset)
    name = names[stream.below(len(names))]
    head = (
        f"<!DOCTYPE html>\n<html>\n<head>\n{label}<title>{name}</title>\n{robots}</head>\n"
        f"<body>\n<h1>{name}</h1>\n<p>{note} of {host.name}</p>\n<ul>\n"
    ).encode(codec)
    items = "".join(f"<li>{link}item {number}</a>\n" for number, link in enumerate(links))
    parts = [head, items.encode(codec), b"</ul>\n"]
    tail = b"</body>\n</html>\n"
    missing = size - sum(map(len, parts)) - len(tail)
    filler = paragraphs(charset)
    at = stream.below(len(filler))
    while missing > FLOOR:
        parts.append(filler[at])
        missing -= len(filler[at])
        at = (at + 1) % len(filler)
    if missing >= 10:
        parts.append(b"<!--" + b"." * (missing - 8) + b"-->\n")
    parts.append(tail)
    return b"".join(parts)
