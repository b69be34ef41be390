"""Name of the open segment by the last commit, for removal while an agent runs.

A segment is sealed first and committed as sealed behind that; where the disk is full the commit may
come much later. A ledger that finds neither the open nor the sealed file would no longer open.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from agent.adapters.ledger.ledger import DATABASE

__all__ = ["named_segment"]

PATIENCE_S: Final = 5.0


def named_segment(folder: Path) -> str | None:
    """Return the sealed name of that segment; empty: none is, or there is no ledger in a folder.

    None: the ledger cannot be read now, as where the disk has no room for SQLite's own files.
    """
    path = folder / DATABASE
    if not path.exists():
        return ""
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=PATIENCE_S)
        ) as ledger:
            row = ledger.execute("SELECT segment FROM state").fetchone()
    except sqlite3.Error:
        return None
    return "" if row is None else str(row[0])
