"""WASAPI file lists, validated: names, sizes and digests.

Source: WASAPI v1 as Archive-It speaks it; `manager/distribution/wasapi.py` is the other side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import quote

from client.errors import DamagedError
from client.names import plain
from client.server import Server
from shared.frozen import frozen

__all__ = ["Listed", "files_of_page", "list_segments"]

WEBDATA: Final = "wasapi/v1/webdata"
PAGE: Final = 500
PAGES_MOST: Final = 1_000_000

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_AFTER: Final = re.compile(r"[?&]after_file=([0-9]{1,19})(?:&|$)")
LARGEST: Final = 2**53


@frozen
class Listed:
    """A file as the server lists it. name: as it came, not yet to be trusted."""

    name: str
    path: str
    size_bytes: int
    sha256: str


def list_segments(server: Server) -> Iterator[Listed]:
    """Give the public segments; raises ClientError.

    Each page begins behind the last file of the one before. Counted from the first, as by a
    manager that does not name it, they would lack a file for each that is withdrawn meanwhile.
    """
    behind: list[tuple[str, str]] = []
    for page in range(1, PAGES_MOST):
        asked = [("page", str(page)), ("page_size", str(PAGE)), *behind]
        answer = server.json(WEBDATA, asked)
        # The address in the list is not looked at.
        yield from files_of_page(answer, lambda name: "api/v1/segments/" + quote(name, safe=""))
        following = answer.get("next")
        if not following:
            return
        last = _AFTER.search(following) if isinstance(following, str) else None
        behind = [("after_file", last[1])] if last else []


def files_of_page(answer: Any, path_of: Callable[[str], str]) -> list[Listed]:
    """Return the files of one answer; path_of: where one is fetched. Raises DamagedError."""
    if not isinstance(answer, dict) or not isinstance(answer.get("files"), list):
        raise DamagedError("the list of files is none: is this the address of a PRSM manager?")
    return [_file(each, path_of) for each in answer["files"]]


def _file(each: Any, path_of: Callable[[str], str]) -> Listed:
    try:
        name, size_bytes = each["filename"], each["size"]
        sha256 = each["checksums"]["sha256"]
    except (KeyError, TypeError) as error:
        raise DamagedError("a file of the list has no name, size or SHA-256") from error
    if (
        not isinstance(name, str)
        or not isinstance(size_bytes, int)
        or not isinstance(sha256, str)
        or not 0 <= size_bytes <= LARGEST
        or not _SHA256.fullmatch(sha256)
    ):
        raise DamagedError(
            f"file {plain(str(name))[:100]!a} of the list: its size or SHA-256 is none"
        )
    return Listed(name, path_of(name), size_bytes, sha256)
