"""Checks of kept files: each is there, of its size, and has its digest where it is read whole.

Invariant: a missing file is only a finding where its row still needs it after the check
(`is_needed`): rows end before files. Files without rows are left to `orphan_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from manager.operations.segments.kept_file_list import FileKind, FilePlaces, KeptFile
from manager.store.segments.verification import (
    FileProblem,
    Throttle,
    Verdict,
    verified,
    verified_file,
    verified_lines,
    verified_parquet,
    verified_size,
)
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["FileFinding", "examine_file", "file_finding"]


@frozen
class FileFinding:
    """A file that is not as it must be. segment_id: of the segment that it is of, if of any."""

    kind: FileKind
    place: str
    subject: str
    problem: FileProblem
    detail: Message | None = None
    segment_id: int | None = None


def file_finding(file: KeptFile, verdict: Verdict) -> FileFinding | None:
    """Return the problem of an examined file; None: it has none."""
    if verdict.problem is None:
        return None
    return FileFinding(
        kind=file.kind,
        place=file.place,
        subject=file.subject,
        problem=verdict.problem,
        detail=verdict.detail,
        segment_id=file.segment_id,
    )


def examine_file(
    file: KeptFile,
    places: FilePlaces,
    *,
    deep: bool,
    throttle: Throttle = lambda _bytes: None,
    sizes: dict[str, int] | None = None,
) -> Verdict:
    """Return the verdict on a file. deep: its bytes are read; else only its size is looked at.

    sizes: of all segments, where they were listed. Raises BusyError where an object store is away.
    """
    if file.kind is FileKind.SEGMENT:
        path = places.store.path(file.place)
        if path is None:
            return _object_examined(file, places, throttle if deep else None, sizes)
    else:
        path = places.layout.kept / file.place
    if not deep or file.kind is FileKind.UPLOAD:
        return verified_file(path, file.size_bytes)
    verdict = verified_file(path)
    if verdict.problem is not None:
        return verdict
    verdict = verified(lambda: path.open("rb"), file.size_bytes, file.sha256, throttle)
    if verdict.problem is not None or file.sha256:
        return verdict
    # Of before its digest was kept: it is learned where the file can be what it was.
    by_content = {FileKind.LOG: verified_parquet, FileKind.CDXJ: verified_lines}.get(file.kind)
    found = verdict if by_content is None else by_content(path)
    return verdict if found.problem is None else found


def _object_examined(
    file: KeptFile, places: FilePlaces, throttle: Throttle | None, sizes: dict[str, int] | None
) -> Verdict:
    """Return the verdict on a segment of an object store. throttle: None: only by its size."""
    if throttle is None:
        found = places.store.size(file.place) if sizes is None else sizes.get(file.place)
        return verified_size(found, file.size_bytes)
    if places.store.size(file.place) is None:
        return Verdict(FileProblem.MISSING)
    opened: Callable[[], BinaryIO] = partial(places.store.open, file.place)
    return verified(opened, file.size_bytes, file.sha256, throttle)
