"""Address at which this home serves segments (`prs serve`), stored for the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from agent.settings.home import write_whole
from shared.errors import FormatError
from shared.wire import sync_reading
from shared.wire.sync import SegmentAddress, said

__all__ = ["read_serving", "remove_serving", "write_serving"]

SERVING: Final = "serving.json"


def write_serving(folder: Path, serving: SegmentAddress) -> None:
    """Write down where this home serves. Raises DiskFullError."""
    write_whole(folder / SERVING, [json.dumps(said(serving)).encode()])


def remove_serving(folder: Path) -> None:
    """Withdraw the announcement."""
    (folder / SERVING).unlink(missing_ok=True)


def read_serving(folder: Path) -> SegmentAddress | None:
    """Return where this home serves; None: nowhere."""
    try:
        return sync_reading.read_serving((folder / SERVING).read_bytes())
    except (OSError, FormatError):
        return None
