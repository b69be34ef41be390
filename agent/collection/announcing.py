"""Where this home serves segments (`prs serve`): written down for the agent to tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from agent.settings.home import write_whole
from shared.wire.sync import Serving

__all__ = ["forget_serving", "keep_serving", "read_serving"]

SERVING: Final = "serving.json"


def keep_serving(folder: Path, serving: Serving) -> None:
    """Write down where this home serves. Raises DiskFullError."""
    write_whole(folder / SERVING, [serving.model_dump_json().encode()])


def forget_serving(folder: Path) -> None:
    """Tell nobody any more."""
    (folder / SERVING).unlink(missing_ok=True)


def read_serving(folder: Path) -> Serving | None:
    """Return where this home serves; None: nowhere."""
    try:
        return Serving.model_validate(json.loads((folder / SERVING).read_bytes()))
    except (OSError, ValueError):  # pydantic's errors are of the latter kind
        return None
