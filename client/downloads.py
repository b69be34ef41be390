"""One file: asked for, resumed at its byte after every cut, verified.

The digest decides: whatever proxies did, what is returned has the bytes that the server listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from client.errors import CutError, DamagedError, LaterError
from client.file_list import Listed
from client.names import plain
from client.partial_file import PartialFile
from client.ranges import read_rest, rest_fields
from client.retry import RetryPolicy
from client.server import Server

__all__ = ["download"]

DAMAGES_MOST: Final = 5

Came = Callable[[int], None]
"""Receives the number of bytes as they come; negative: they were thrown away."""


def download(server: Server, part: PartialFile, file: Listed, came: Came) -> None:
    """Make a part whole, verified and synced; raises ClientError, and keeps the part then."""
    retrying = RetryPolicy(server.patience, plain(file.name)[:100])
    damages = 0
    while True:
        try:
            if part.missing:
                _rest(server, part, file, came, retrying)
            part.check()
        except (CutError, LaterError) as error:
            retrying.failed(error)
        except DamagedError as error:
            damages += 1
            came(-part.size)
            part.restart()
            if damages >= DAMAGES_MOST:
                raise
            server.patience.tell(f"{plain(file.name)[:100]}: {error}; from the beginning again")
        else:
            return


def _rest(
    server: Server, part: PartialFile, file: Listed, came: Came, retrying: RetryPolicy
) -> None:
    fields = rest_fields(part.size, part.etag)
    with server.stream(file.path, fields, also=(416,)) as answer:
        if answer.status_code == 416:
            raise DamagedError(f"the server has no bytes behind {part.size} of it")
        start = read_rest(answer.status_code, answer.headers, part.size, file.size_bytes)
        if start == 0:
            came(-part.size)
            part.restart()
            part.begin(answer.headers.get("etag", ""))
        for piece in answer.iter_raw():
            server.patience.check()
            part.write(piece)
            came(len(piece))
            retrying.progressed()
            if not part.missing:
                break
    if part.missing:
        raise CutError(f"ended with {part.missing} of {file.size_bytes} bytes missing")
