"""Search over all subjects: hosts, agents, pages, rounds, plans, people, records, settings.

`query` reads the typed text, `subjects` and `archive_pages` look for it, a subject each, and
`search` puts their hits together for a role. Invariants: a user finds only what their role may see;
each look is bounded, by an index, by a limit, or by the newest rows.
"""

from manager.operations.search.hits import (
    HITS_MOST,
    KINDS,
    ConsolePage,
    Hit,
    HitGroup,
    Kind,
    Match,
    SearchResult,
)
from manager.operations.search.search import Search

__all__ = [
    "HITS_MOST",
    "KINDS",
    "ConsolePage",
    "Hit",
    "HitGroup",
    "Kind",
    "Match",
    "Search",
    "SearchResult",
]
