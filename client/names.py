"""Names that the server gives, as places in the folder of who takes.

Invariant: what these functions return is relative, has no `..`, no empty part, no control
character, and lies in `warc/` or `html/`; every other name is refused with a sentence, so a hostile
server writes nowhere else.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from client.errors import DamagedError
from shared.archive.sums import check_host_port, host_sums
from shared.errors import FormatError

__all__ = ["SEGMENTS", "classic_place", "plain", "segment_place"]

SEGMENTS: Final = "warc"

_SEGMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,238}\.warc\.gz")
_CLASSIC: Final = re.compile(r"html/([0-9a-f]{1,4})/([0-9a-f]{1,2})/([^/]{1,251})\.zip")


def segment_place(name: str) -> PurePosixPath:
    """Return where a segment lies: `warc/NAME`; raises DamagedError for no plain file name."""
    if not _SEGMENT.fullmatch(name):
        raise DamagedError(
            f"file name {name[:100]!a} from the server: must be letters, digits, dots, hyphens and "
            "underscores, and end with .warc.gz; nothing was written. Tell the administrator"
        )
    return PurePosixPath(SEGMENTS, name)


def classic_place(member: str) -> PurePosixPath:
    """Return where a host's zip lies: `html/sumh/suml/host:port.zip`, as its member is called.

    Raises DamagedError where the sums are not those of the host, or the host is none.
    """
    match = _CLASSIC.fullmatch(member)
    if match is not None:
        sumh, suml, host = match.groups()
        try:
            check_host_port(host)
        except FormatError:
            match = None
        else:
            if (sumh, suml) != host_sums(host):
                match = None
    if match is None:
        raise DamagedError(
            f"member {member[:100]!a} of a zip: must be html/sumh/suml/host:port.zip; nothing of "
            "it was written. Tell the administrator"
        )
    return PurePosixPath(member)


def plain(text: str) -> str:
    """Return a text from outside as a terminal may show it: nothing in it is a command to it."""
    return "".join(each if each.isprintable() else " " for each in text)
