"""The scope of the crawl as the manager last said it, kept over restarts.

Invariant: a process that begins under a permit of the one before begins under its scope, too.
"""

from __future__ import annotations

import json

from agent.settings.home import Home, write_whole
from shared.errors import FormatError
from shared.wire.sync import CrawlScope, said
from shared.wire.sync_reading import read_scope

__all__ = ["kept_scope", "write_scope"]


def write_scope(home: Home, scope: CrawlScope) -> None:
    """Keep the scope that is in force now. Raises DiskFullError."""
    write_whole(home.scope, [json.dumps(said(scope)).encode()])


def kept_scope(home: Home) -> CrawlScope:
    """Return the scope that was in force; version 0 where none is kept, or it cannot be read."""
    try:
        return read_scope(home.scope.read_bytes())
    except (OSError, FormatError):
        return CrawlScope(version=0)
