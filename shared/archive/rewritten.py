"""Names of rewritten segments, as without withdrawn hosts.

Its number has a `w` more: prsm-20261122162944-00007-a.warc.gz becomes ...-00007w-a.warc.gz.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["name_before", "next_name"]

SUFFIX: Final = ".warc.gz"
_SERIAL: Final = re.compile(r"(.*-[0-9]{14}-[0-9]+w*)(-.*)")
_REWRITTEN: Final = re.compile(r"(.*-[0-9]{14}-[0-9]+w*)w(-.*)")


def next_name(name: str) -> str:
    """Return the name of a segment that is written again."""
    match = _SERIAL.fullmatch(name)
    if match is None:
        return f"{name.removesuffix(SUFFIX)}-w{SUFFIX}"
    return f"{match[1]}w{match[2]}"


def name_before(name: str) -> str | None:
    """Return the name of the segment that one was written from; None: it is none of these."""
    match = _REWRITTEN.fullmatch(name)
    if match is not None:
        return f"{match[1]}{match[2]}"
    before = name.removesuffix(f"-w{SUFFIX}")
    return None if before == name or _SERIAL.fullmatch(name) else before + SUFFIX
