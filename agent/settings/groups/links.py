"""Settings of the agent: kinds of links that are followed."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import setting
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
