"""Which releases this installation leaves alone, and why: the launcher's notes, for `prs status`.

The launcher writes them (`launcher/state.py`, docs/adr/0122); what cannot be read is not shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from agent.control.launching import installation

__all__ = ["left_alone"]

STATE = "state.json"  # in the launcher's folder
WHY = 300


def left_alone() -> list[str]:
    """Return a sentence for each release that was tried here and is not tried again by itself."""
    home = installation()
    if home is None:
        return []
    try:
        said = json.loads((home / "launcher" / STATE).read_bytes())
        return list(_sentences(said))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return []


def _sentences(said: dict[str, Any]) -> Iterator[str]:
    for version, why in said["bad"].items():
        yield f"{version} went back ({_short(why)}); `prs update --again` tries it"
    for version, one in said.get("failed", {}).items():
        until = datetime.fromtimestamp(one["until_ms"] / 1000, UTC).astimezone()
        often = "once" if one["times"] == 1 else f"{one['times']} times"
        yield (
            f"{version} failed at {one['step']}, {often} ({_short(one['why'])}); it "
            f"is left alone until {until:%Y-%m-%d %H:%M}, `prs update --again` tries it now"
        )


def _short(why: object) -> str:
    return " ".join(str(why).split())[-WHY:]
