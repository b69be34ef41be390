"""The scope of the crawl as the manager last said it, kept over restarts.

Invariant: a process that begins under a permit of the one before begins under its scope, too.
"""

from __future__ import annotations

import json

from agent.settings.home import Home, write_whole
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.errors import FormatError
from shared.wire.sync import CrawlScope, said
from shared.wire.sync_reading import read_scope

__all__ = ["kept_scope", "write_scope"]


def write_scope(home: Home, scope: CrawlScope) -> None:
    """Keep the scope that is in force now. Raises DiskFullError."""
    write_whole(home.scope, [json.dumps(said(scope)).encode()])


def kept_scope(home: Home) -> tuple[int, ScopeRules]:
    """Return the version and the rules of the scope that was in force.

    Version 0 and no rule where none is kept, or this release cannot read it: the next sync brings
    the one of now.
    """
    try:
        scope = read_scope(home.scope.read_bytes())
        return scope.version, ScopeRules(scope.text, known_only=True)
    except (OSError, FormatError):
        return 0, EVERYTHING
