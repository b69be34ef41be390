"""Settings of the agent: kinds of links that are followed."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting
from shared.well_known import WELL_KNOWN_NAMES

__all__ = ["LinkSettings"]


@frozen
class LinkSettings:
    """Kinds of links that are followed."""

    disabled_kinds: tuple[str, ...] = setting(
        (),
        "kinds",
        "kinds of links that are not followed, as ping or string; prs status shows the results of "
        "each kind",
    )
    well_known_files: tuple[str, ...] = setting(
        WELL_KNOWN_NAMES,
        "names",
        "files below /.well-known/ that are asked for once a host and round, after its pages; "
        "empty: none",
    )
    foreign_pages_per_host: int = setting(
        10_000,
        Range("pages", 1, 10**6),
        "how many pages of one host of other agents are reported to the manager, which has its own "
        "limit; more are counted",
    )
