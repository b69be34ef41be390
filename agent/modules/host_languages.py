"""Languages of hosts: the language of most pages of a host that were read recently.

A sitemap or feed has no language: its entries have that of their host. Kept in memory only; after
a start the first page of a host sets it again.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

__all__ = ["HostLanguages"]

HOSTS_MOST: Final = 100_000
PAGES_MOST: Final = 1_000
"""Pages of a host after which older ones count half: a site may change."""


class HostLanguages:
    """Pages of each host by language. One for all modules of a process."""

    def __init__(self) -> None:
        self._pages: dict[str, Counter[str]] = {}

    def saw(self, host: str, language: str) -> None:
        """Count a page of a host, by its key."""
        pages = self._pages.get(host)
        if pages is None:
            if len(self._pages) >= HOSTS_MOST:
                self._pages.pop(next(iter(self._pages)))
            pages = self._pages[host] = Counter()
        pages[language] += 1
        if pages[language] >= PAGES_MOST:
            self._pages[host] = Counter({code: n // 2 for code, n in pages.items() if n > 1})

    def language_of(self, host: str) -> str:
        """Return the language of most pages of a host; "": none was read yet."""
        pages = self._pages.get(host)
        return pages.most_common(1)[0][0] if pages else ""
