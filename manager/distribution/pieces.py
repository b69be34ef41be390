"""May a web server in front send the next piece of a file? It asks before each: `/api/v1/pieces`.

nginx sends files that the manager allowed once, and that may take hours. It takes them in pieces
(`slice`), and asks here before each (`auth_request`): so a token that is revoked, or a file that is
withdrawn, ends a download within one piece, and the manager knows how far it is.
Invariant: an answer here opens nothing by itself; it says of a path below the archive's folder
what `/api/v1` would say of that file, to whoever shows the token.
"""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Header, Response

from manager.distribution.authentication import Caller, caller_with
from manager.distribution.ranges import asked_bytes
from manager.errors import ForbiddenError
from manager.operations.archive import archive_files, selection_jobs

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", include_in_schema=False)
Anybody = Annotated[Caller, Depends(caller_with(None, only_403=True))]

_PATH: Final = re.compile(
    r"/(?:(?P<kind>segments|index)/(?P<key>[0-9]{1,18}/[0-9a-f]{64})[.](?P<ending>warc[.]gz|parquet|cdxj)"
    r"|results/(?P<job>[0-9]{1,18})[.]result)"
)


@router.get("/pieces", status_code=204)
async def piece(
    caller: Anybody,
    path: Annotated[str, Header(alias="x-piece-path", max_length=200)] = "",
    piece_range: Annotated[str, Header(alias="x-piece-range", max_length=80)] = "",
) -> Response:
    """Answer 204 where the caller may have the next piece of a file, else 403."""
    asked = _PATH.fullmatch(path)
    found = None if asked is None else await asyncio.to_thread(_given, caller, asked)
    if found is None:
        raise ForbiddenError("archive.not_public", path=path[:100])
    name, size_bytes = found
    piece = asked_bytes({"range": piece_range}, size_bytes, "", "")
    caller.services.downloads.piece(caller.client, name, size_bytes, piece.start, piece.end)
    return Response(status_code=204)


def _given(caller: Caller, asked: re.Match[str]) -> tuple[str, int] | None:
    """Return the name and size of a file that is given to a caller, None: it is not."""
    services = caller.services
    if asked["job"]:
        caller.client.require("pages")
        job = selection_jobs.complete_job(services.db, int(asked["job"]), caller.client.id)
        return None if job is None else (job.name, job.size_bytes)
    caller.client.require("index" if asked["kind"] == "index" else "segments")
    row = archive_files.public_by_key(services.db, f"{asked['key']}.warc.gz")
    if row is None:
        return None
    if asked["kind"] == "segments":
        return row.name, row.size_bytes
    ending = f".{asked['ending']}"
    path = services.layout.index_file(row.key).with_suffix(ending)
    return row.name + ending, path.stat().st_size
