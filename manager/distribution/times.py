"""Dates and times as requests write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Query

from shared.errors import FormatError

__all__ = ["When", "time_ms"]

When = Annotated[
    str | None, Query(max_length=40, description="RFC 3339, or YYYY, YYYY-MM, YYYY-MM-DD; UTC")
]
_SHORT: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")


def time_ms(name: str, text: str | None) -> int | None:
    """Return milliseconds since 1970 of a date or time; raises FormatError."""
    if text is None or text == "":
        return None
    try:
        if _SHORT.fullmatch(text):
            moment = datetime.fromisoformat(text + "-01" * (2 - text.count("-")))
        else:
            # A plus sign in an address means a space; no client writes a space there.
            moment = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError as error:
        raise FormatError("archive.bad_time", name=name, value=text[:40]) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
