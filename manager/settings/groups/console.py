"""Settings of the manager: the console."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["ConsoleSettings"]

HOUR_S, DAY_S = 3600, 86400


@frozen
class ConsoleSettings:
    """The pages and sessions of people."""

    session_s: float = setting(
        12.0 * HOUR_S,
        Range("s", 60, 30 * DAY_S),
        "how long people stay logged in; the default is a working day",
    )
    contact: str = setting(
        "",
        "address",
        "mail address to which owners of sites can write, shown at /console/robot; empty: they are "
        "told of the one in the User-Agent",
    )
