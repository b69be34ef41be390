"""Version of this agent that last completed a sync: the proof of a new release.

Written once by each process that was answered, and read by the launcher (docs/adr/0122).
"""

from __future__ import annotations

import json
from pathlib import Path

from agent.settings.home import write_whole

__all__ = ["note_synced"]


def note_synced(path: Path, version: str, at_ms: int) -> None:
    """Keep that a version was answered. Raises DiskFullError."""
    write_whole(path, [json.dumps({"version": version, "at_ms": at_ms}).encode()])
