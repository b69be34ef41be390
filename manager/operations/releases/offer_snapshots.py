"""Snapshot of a release as a person saw it, compared with the present one.

Two administrators may look at one release. A decision from an outdated page ends no halt that the
page did not show, and narrows no ring that another administrator has widened.
"""

from __future__ import annotations

import re
from typing import Final

from manager.db.releases.releases import ReleaseRow
from manager.errors import ConflictError
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["ShownOffer", "check_shown", "offer_of", "read_offer"]

_TEXT: Final = re.compile(r"([a-z]{1,20}) ([0-9]{1,18}|-) ([0-9]{1,18}|-)")


@frozen
class ShownOffer:
    """State of an offer: agents, since when, and its halt, in epoch milliseconds."""

    ring: str
    rolled_out_ms: int | None = None
    halted_ms: int | None = None

    def __str__(self) -> str:
        """Return it as a form carries it."""
        times = ("-" if at is None else str(at) for at in (self.rolled_out_ms, self.halted_ms))
        return " ".join((self.ring, *times))


def offer_of(row: ReleaseRow) -> ShownOffer:
    """Return what a page shows of a release."""
    return ShownOffer(row.ring, row.rolled_out_ms, row.halted_ms)


def read_offer(text: str) -> ShownOffer | None:
    """Return what a form carries; none of an empty one. Raises FormatError."""
    if not text:
        return None
    found = _TEXT.fullmatch(text)
    if found is None:
        raise FormatError("releases.bad_shown", shown=text[:40])
    ring, rolled_out, halted = found.groups()
    return ShownOffer(ring, _time(rolled_out), _time(halted))


def _time(text: str) -> int | None:
    return None if text == "-" else int(text)


def check_shown(row: ReleaseRow, shown: ShownOffer | None) -> None:
    """Raise ConflictError, which names the change, where a release differs from the shown one.

    shown: None: no page was shown, any state is accepted.
    """
    now = offer_of(row)
    if shown is None or shown == now:
        return
    if now.halted_ms is not None and now.halted_ms != shown.halted_ms:
        raise ConflictError("releases.offer_halted", version=row.version)
    if now.ring != shown.ring:
        raise ConflictError("releases.offer_to_another_ring", version=row.version, ring=now.ring)
    raise ConflictError("releases.offer_changed", version=row.version)
