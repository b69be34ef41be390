"""The pages of one host: their paths, and which page links to which, by arithmetic alone.

Page 0 is `/`. Pages 1..mainland-1 fill directories of Zipf sizes; each directory is a heap-shaped
tree under its index page, and `/` links to every index page. So every mainland page is reached
from `/`, and nothing is stored per page. Pages from `mainland` on are the island: a directory
that no page of this host links to. Leaves (trouble, private pages) hang on mainland pages and
link back to `/` only. Which hosts link to which is the plan's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from math import gcd, sqrt

from shared.frozen import frozen
from simweb.sites.chance import Stream, draw64, shuffled

__all__ = ["Leaf", "Site"]

_SECTION_NAMES = (
    "news docs research library people faculty events archive data gallery reports lectures "
    "projects seminar journal notes software history maps topics guide campus admission alumni "
    "press policy faq english japanese results tables forum links courses physics biology "
    "medicine economics music sports"
)
_SECTIONS = _SECTION_NAMES.split()
_STYLES = ("html", "html", "slash", "query")
_PAGE_PATH = re.compile(r"/([a-z]+)/(?:[^?#]*?(\d+)(?:\.html|/)|show\?id=(\d+)&lang=ja)?\Z")
_LEAF_PATH = re.compile(r"/(?:t/([a-z-]+)|private(/open)?)/(\d{1,9})\.html\Z")
_PAGES_OF_A_FOLDER = 100


@frozen
class Leaf:
    """One page outside the tree: the `number`-th of its kind on its host."""

    kind: str
    number: int

    @property
    def path(self) -> str:
        """Return the path of the leaf."""
        if self.kind == "private":
            return f"/private/{self.number}.html"
        if self.kind == "private-open":
            return f"/private/open/{self.number}.html"
        return f"/t/{self.kind}/{self.number}.html"


@frozen
class _Section:
    name: str
    first: int
    count: int


class Site:
    """The page space of one host. Everything is a function of the constructor's arguments."""

    def __init__(
        self, key: int, mainland: int, island: int, leaves: tuple[tuple[str, int], ...]
    ) -> None:
        self.key = key
        self.mainland = mainland
        self.pages = mainland + island
        self.leaf_counts = dict(leaves)
        self.leaf_total = sum(self.leaf_counts.values())
        stream = Stream(draw64(key, "site"))
        self._style = _STYLES[stream.below(len(_STYLES))]
        self._branching = 3 + stream.below(8)
        self._sections = _sections(key, mainland, island)
        self._starts = [section.first for section in self._sections]
        self._by_name = {section.name: section for section in self._sections}
        self._leaf_starts = list(accumulate(self.leaf_counts.values(), initial=0))[:-1]
        self._step, self._shift = _coprime(stream, mainland), stream.below(mainland)
        self._unstep = pow(self._step, -1, mainland) if mainland > 1 else 0

    def path_of(self, page: int) -> str:
        """Return the path (with its query) of a page number."""
        if page == 0:
            return "/"
        section = self._section_of(page)
        local = page - section.first
        if local == 0:
            return f"/{section.name}/"
        if self._style == "query":
            return f"/{section.name}/show?id={local}&lang=ja"
        folder = ""
        if section.count > _PAGES_OF_A_FOLDER:
            folder = f"{local // _PAGES_OF_A_FOLDER:03d}/"
        if self._style == "slash":
            return f"/{section.name}/{folder}item-{local}/"
        return f"/{section.name}/{folder}p{local}.html"

    def page_at(self, path: str) -> int | None:
        """Return the page number at a path (with its query), or None."""
        if path == "/":
            return 0
        match = _PAGE_PATH.match(path)
        section = self._by_name.get(match[1]) if match else None
        if match is None or section is None:
            return None
        digits = match[2] or match[3] or "0"
        local = int(digits) if len(digits) <= 9 else section.count
        if local >= section.count or self.path_of(section.first + local) != path:
            return None
        return section.first + local

    def leaf_at(self, path: str) -> Leaf | None:
        """Return the leaf at a path without a query, or None."""
        match = _LEAF_PATH.match(path)
        if match is None:
            return None
        kind = match[1] or ("private-open" if match[2] else "private")
        leaf = Leaf(kind, int(match[3]))
        known = leaf.number < self.leaf_counts.get(kind, 0)
        return leaf if known and leaf.path == path else None

    def leaves(self) -> Iterator[Leaf]:
        """Yield every leaf of the host."""
        for kind, count in self.leaf_counts.items():
            for number in range(count):
                yield Leaf(kind, number)

    def children_of(self, page: int) -> list[int]:
        """Return the pages whose parent in the tree is this page."""
        if page == 0:
            return [section.first for section in self._sections if section.first < self.mainland]
        section = self._section_of(page)
        first = (page - section.first) * self._branching + 1
        last = min(first + self._branching, section.count)
        return list(range(section.first + first, section.first + last))

    def parent_of(self, page: int) -> int:
        """Return the page that the tree reaches this page from; 0 for `/` and index pages."""
        if page == 0:
            return 0
        section = self._section_of(page)
        local = page - section.first
        return section.first + (local - 1) // self._branching if local else 0

    def leaves_on(self, page: int) -> list[Leaf]:
        """Return the leaves that a page links to; each leaf hangs on exactly one page."""
        if page >= self.mainland or not self.leaf_total:
            return []
        first = (page - self._shift) * self._unstep % self.mainland
        return [self._leaf(index) for index in range(first, self.leaf_total, self.mainland)]

    def random_links(self, page: int, count: int, stream: Stream) -> list[int]:
        """Draw `count` mainland pages, two thirds of them from the page's own directory."""
        section = self._section_of(page)
        near = page and page < self.mainland and section.count > 1
        return [
            section.first + stream.below(section.count)
            if near and stream.below(3)
            else stream.below(self.mainland)
            for _ in range(count)
        ]

    @property
    def island(self) -> int | None:
        """Return the index page of the island, or None."""
        return self.mainland if self.pages > self.mainland else None

    def _section_of(self, page: int) -> _Section:
        if not self._sections:
            return _Section("", 0, 1)
        return self._sections[max(0, bisect_right(self._starts, page) - 1)]

    def _leaf(self, index: int) -> Leaf:
        slot = bisect_right(self._leaf_starts, index) - 1
        # An empty kind starts where the next one does; bisect_right takes the last of them.
        kind = list(self.leaf_counts)[slot]
        return Leaf(kind, index - self._leaf_starts[slot])


def _sections(key: int, mainland: int, island: int) -> tuple[_Section, ...]:
    rest = mainland - 1
    limit = len(_SECTIONS) - 1
    count = min(limit, rest, max(1, round(sqrt(mainland) / 2)))
    names = [_SECTIONS[at] for at in shuffled(len(_SECTIONS), key, "sections")]
    sections, first = [], 1
    total = sum(1 / (rank + 1) for rank in range(count))
    ranks = shuffled(count, key, "section-sizes")
    for slot, rank in enumerate(ranks):
        later = count - slot - 1
        size = max(1, round(rest / (rank + 1) / total))
        size = min(size, mainland - first - later) if later else mainland - first
        sections.append(_Section(names[slot], first, size))
        first += size
    if island:
        sections.append(_Section(names[-1], mainland, island))
    return tuple(sections)


def _coprime(stream: Stream, modulus: int) -> int:
    """Draw a step that visits every residue, so that leaves spread evenly over the pages."""
    if modulus < 3:
        return 1
    step = 1 + stream.below(modulus - 1)
    while gcd(step, modulus) != 1:
        step = step % (modulus - 1) + 1
    return step
