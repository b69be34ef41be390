"""The launcher's notes on updates: skipped releases for `prs status`, ability to update for
`prs doctor`.

The launcher writes them (`launcher/state.py`, docs/adr/0122); what cannot be read is not shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.control.doctor import Check
from agent.control.launcher_program import OFFER_MARK, ROOT, changed_s, installation
from shared.messages import Message

__all__ = ["check_updates", "skipped_releases"]

STATE = "state.json"  # in the launcher's folder
METADATA = "metadata"  # there too: signed files that it verified
WHY = 300
LONG_AGO_S = 8 * 86_400.0  # a site may be open one day a week


def skipped_releases() -> list[Message]:
    """Return a message for each release that was tried here and is not tried again by itself."""
    home = installation()
    if home is None:
        return []
    try:
        said = json.loads((home / "launcher" / STATE).read_bytes())
        return list(_messages(said))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return []


def check_updates(now: datetime) -> Check:
    """Judge whether newer releases come by themselves, and when one was looked for."""
    home = installation()
    if home is None:
        return Check("updates", Message("doctor.updates_by_hand"))
    if not (home / "launcher" / ROOT).exists():
        return _without_root(home)
    looked_s, since_s = (
        changed_s(home / "launcher" / OFFER_MARK),
        changed_s(home / "current" / "complete"),
    )
    ago_s = now.timestamp() - (looked_s or since_s)
    said = Message("doctor.updates_never")
    if looked_s:
        said = Message("doctor.updates_checked", ago_h=ago_s / 3600)
    late = Message("doctor.updates_late", log=f"{home}/launcher/update.log")
    return Check("updates", said, late if ago_s > LONG_AGO_S else None)


def _without_root(home: Path) -> Check:
    """Check a site without a root: its archive was made without updates, or its root is lost."""
    own = home / "launcher"
    get = Message("doctor.get_root", root=ROOT)
    if any(own.glob(f"{METADATA}/*.json")):
        return Check("updates", Message("doctor.updates_root_gone", path=str(own / ROOT)), get)
    release = Path(sys.prefix).parent.name
    return Check("updates", Message("doctor.updates_off", release=release, remedy=get))


def _messages(said: dict[str, Any]) -> Iterator[Message]:
    for version, why in said["bad"].items():
        yield Message("agent.update_went_back", version=version, why=_short(why))
    for version, one in said.get("failed", {}).items():
        until = datetime.fromtimestamp(one["until_ms"] / 1000, UTC).astimezone()
        yield Message(
            "agent.update_failed",
            version=version,
            step=one["step"],
            times=one["times"],
            why=_short(one["why"]),
            until=f"{until:%Y-%m-%d %H:%M}",
        )


def _short(why: object) -> str:
    return " ".join(str(why).split())[-WHY:]
