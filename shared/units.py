"""Units: what the manager assigns. A host, or a directory of a host.

A unit is written as a URL whose path ends in `/`, with the port explicit:
`http://www.example.jp:80/` is the whole host, `http://www.example.jp:80/~koji/` a directory.
Where a host is split, the longest unit that is a prefix of a page's path holds the page.
Invariant: for one set of units, each page lies in at most one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shared.errors import UrlError
from shared.urls import canonical, host_of

__all__ = ["UnitIndex", "explicit", "is_unit", "is_whole_host", "unit_key"]

_SLASHES = 3  # of a host key


def explicit(url: str) -> str:
    """Return a canonical URL with its port made explicit, as units and lists write it."""
    host = host_of(url)
    start = url.find("/", url.find("//") + 2)
    return host + url[start + 1 :] if start >= 0 else host


def is_unit(url: str) -> bool:
    """Return whether a URL names a unit (its path ends in `/`, no query) or a start page."""
    return url.endswith("/") and "?" not in url


def is_whole_host(unit: str) -> bool:
    """Return whether a unit key is a host's, not a directory's."""
    return unit.count("/") == _SLASHES


def unit_key(text: str) -> str:
    """Return the key of the unit that a text names; raises UrlError where it names a page."""
    key = explicit(canonical(text))
    if not is_unit(key):
        raise UrlError("urls.not_a_unit", url=key)
    return key


class UnitIndex:
    """A set of units, with the look-up that decides where a page belongs.

    A look-up costs one dictionary access for a host that is not split, and one more for each
    path segment of the page where it is.
    """

    def __init__(self, units: Iterable[str] = ()) -> None:
        self._by_host: dict[str, set[str]] = {}
        self._size = 0
        for unit in units:
            self.add(unit)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        for units in self._by_host.values():
            yield from units

    def __contains__(self, unit: object) -> bool:
        return isinstance(unit, str) and unit in self._by_host.get(_host_part(unit), ())

    def add(self, unit: str) -> None:
        """Add a unit key; adding it again changes nothing."""
        units = self._by_host.setdefault(_host_part(unit), set())
        self._size += unit not in units
        units.add(unit)

    def discard(self, unit: str) -> None:
        """Take a unit key out; one that is not there changes nothing."""
        host = _host_part(unit)
        units = self._by_host.get(host)
        if units is None or unit not in units:
            return
        units.remove(unit)
        self._size -= 1
        if not units:
            del self._by_host[host]

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return the units of a host, given by its key, in order."""
        return tuple(sorted(self._by_host.get(host, ())))

    def unit_of(self, url: str) -> str | None:
        """Return the longest unit that holds a canonical URL, or None: outside all units."""
        page = explicit(url)
        host = _host_part(page)
        units = self._by_host.get(host)
        if units is None:
            return None
        if len(units) == 1 and host in units:
            return host
        end = page.find("?")
        path_end = len(page) if end < 0 else end
        while True:
            slash = page.rfind("/", len(host) - 1, path_end)
            if slash < 0:
                return None
            candidate = page[: slash + 1]
            if candidate in units:
                return candidate
            path_end = slash


def _host_part(url: str) -> str:
    return url[: url.index("/", url.index("//") + 2) + 1]
