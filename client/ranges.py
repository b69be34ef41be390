"""Answers to range requests, interpreted.

Source: RFC 9110, 13.1.5 (If-Range), 14.4 (Content-Range), 15.3.7 (206).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from client.errors import CutError

__all__ = ["read_rest", "rest_fields"]

_CONTENT_RANGE: Final = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")


def rest_fields(offset: int, etag: str) -> dict[str, str]:
    """Return the header fields that ask for a file from `offset` on, if it is still the same.

    etag: as the server told it with the first bytes; empty: unknown, then the digest at the end
    decides alone.
    """
    # Some program would undo any coding, and the digest is of the plain bytes.
    fields = {"Accept-Encoding": "identity"}
    if offset:
        fields["Range"] = f"bytes={offset}-"
        if etag and not etag.startswith("W/"):
            fields["If-Range"] = etag
    return fields


def read_rest(status: int, fields: Mapping[str, str], offset: int, size_bytes: int) -> int:
    """Return where an answer's bytes begin; raises CutError where it cannot be this file's.

    A proxy may answer 200 with its own page: the length shows it. The digest shows wrong bytes of
    the right length.
    """
    if fields.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise CutError(
            f"something between encodes the file ({fields['content-encoding'][:20]!a}), so its "
            "bytes are not the server's"
        )
    length = fields.get("content-length", "")
    if status == 200:
        if length.isdigit() and int(length) != size_bytes:
            raise CutError(f"{length} bytes are offered, and the file has {size_bytes}")
        return 0
    match = _CONTENT_RANGE.fullmatch(fields.get("content-range", ""))
    if status != 206 or match is None:
        raise CutError(f"the answer {status} is no part of the file")
    start, last, whole = match.groups()
    if int(start) != offset or int(last) >= size_bytes or whole not in (str(size_bytes), "*"):
        raise CutError(
            f"bytes {start}-{last} of {whole} are offered, and {offset}-{size_bytes - 1} of "
            f"{size_bytes} were asked for"
        )
    return offset
