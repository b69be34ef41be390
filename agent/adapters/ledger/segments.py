"""The open segment, and the list of links that lead out of its pages.

Beside `NAME.warc.gz` lies `NAME.warc.gz.links.gz`: lines of extserver.list (target TAB source), a
gzip member with each commit. It stays here, for programs that write the classic lists of a host on
this machine; the manager reads links from the captures (docs/adr/0103). Files for each host would
be a write for each page in thousands of folders.

Invariant: a segment is sealed right after a commit and never otherwise, so that all of it is
committed; it may be larger than its limit by one commit.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from agent.adapters.ledger.append_file import AppendedFile
from agent.adapters.ledger.open_index import OpenIndex
from agent.adapters.ledger.trash import Trash
from agent.errors import HomeError
from shared.archive.classic import link_lines
from shared.archive.encode import EncodedCapture, SegmentInfo
from shared.archive.errors import DamageError, DiskFullError
from shared.archive.gzip_member import compress_member
from shared.archive.recover import recover_segment
from shared.archive.rewritten import name_before
from shared.archive.segment import OPEN_SUFFIX, OpenFile, OpenSegment, sync_directory
from shared.archive.writer import SegmentWriter
from shared.frozen import frozen

__all__ = ["LINKS_SUFFIX", "SegmentOptions", "SegmentState", "Segments"]

LINKS_SUFFIX: Final = ".links.gz"
NO_LIMIT: Final = 1 << 62


@frozen
class SegmentState:
    """Committed state of the open segment. `name`: of the sealed file; "": none is open."""

    name: str = ""
    size_bytes: int = 0
    links_bytes: int = 0
    next_serial: int = 0


@frozen
class SegmentOptions:
    """Fields of segments and their size limit. agent, prefix: parts of their names."""

    agent: str
    info: SegmentInfo
    prefix: str
    max_bytes: int


class Segments:
    """Writes captures; one segment is open at a time."""

    def __init__(
        self,
        directory: Path,
        committed: SegmentState,
        options: SegmentOptions,
        index: OpenIndex,
        trash: Trash,
        *,
        keep_strays: bool,
        open_file: OpenFile = io.FileIO,
    ) -> None:
        """Open the folder as the last commit left it.

        keep_strays: the ledger is new, or older than these files, and does not know all of them;
        whole captures are sealed. Otherwise what no commit names goes to the trash.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._max_bytes = options.max_bytes
        self._open_file = open_file
        self._trash = trash
        self._index = index
        self._lines: list[bytes] = []  # of the index, since the last commit
        self._outward: list[bytes] = []
        self._links: AppendedFile | None = None
        self._writer = SegmentWriter(
            directory,
            prefix=options.prefix,
            agent=options.agent,
            info=options.info,
            max_bytes=NO_LIMIT,
            first_serial=committed.next_serial,
            open_file=open_file,
        )
        try:
            self._recover(committed, keep_strays=keep_strays)
        except BaseException:
            self.close()
            raise

    @property
    def state(self) -> SegmentState:
        """Return the present state of files and numbers."""
        segment = self._writer.open_segment
        serial = self._writer.next_serial
        if segment is None:
            return SegmentState(next_serial=serial)
        links_bytes = 0 if self._links is None else self._links.size_bytes
        return SegmentState(segment.path.name, segment.size_bytes, links_bytes, serial)

    def append(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        """Append captures, each with the links that leave its host, by one write.

        Raises DiskFullError, and then nothing of them is there.
        """
        lines = [link_lines(outward, encoded.entry.url) for encoded, outward in captures if outward]
        self._lines += self._writer.append_all([encoded for encoded, _ in captures])
        self._outward += lines

    def enter(self) -> None:
        """Hand what a start must know of the open segment to the open transaction."""
        segment = self._writer.open_segment
        if segment is None:
            self._index.enter("", None, [])
        else:
            self._index.enter(segment.path.name, segment.known, self._lines)
        self._lines.clear()

    def syncs(self) -> list[Callable[[], None]]:
        """Return what brings everything appended safely to the disk, in any order, or at a time.

        Raises DiskFullError: call again.
        """
        segment = self._writer.open_segment
        if self._outward and segment is not None:
            if self._links is None:
                path = _links_path(segment.path)
                self._links = AppendedFile(_opened(path), 0, self._open_file)
            self._links.append(compress_member(b"".join(self._outward)))
            self._outward.clear()
        if self._links is None:
            return [self._writer.commit]
        return [self._writer.commit, self._links.sync]

    def seal_if_full(self) -> bool:
        """Seal the segment where it has reached its limit; call right after a commit.

        Return whether it was sealed. Without room it stays open; the next commit tries again.
        """
        segment = self._writer.open_segment
        if segment is None or segment.size_bytes < self._max_bytes:
            return False
        with suppress(DiskFullError):
            self.seal()
        return self._writer.open_segment is None

    def seal(self) -> None:
        """Seal the open segment, if any; call right after a commit."""
        segment = self._writer.open_segment
        if segment is None:
            return
        if self._links is not None:
            self._links.close()
            self._links = None
        path = _links_path(segment.path)
        if _opened(path).exists():
            _opened(path).rename(path)
        try:
            self._writer.seal()
        except DiskFullError:
            self._open_links(segment.path, path.stat().st_size if path.exists() else 0)
            raise

    def close(self) -> None:
        """Close; the open segment stays open for the next start."""
        if self._links is not None:
            self._links.close()
            self._links = None
        self._writer.close()

    def _recover(self, committed: SegmentState, *, keep_strays: bool) -> None:
        named = self._directory / committed.name if committed.name else None
        if named is not None and keep_strays and _is_longer(_opened(named), committed.size_bytes):
            named = None  # it is sealed with what the ledger does not know of it
        if named is not None:
            self._resume(named, committed)  # raises before a stray of another ledger is touched
        for path in sorted(self._directory.glob(f"*.warc.gz{OPEN_SUFFIX}")):
            sealed = path.with_name(path.name.removesuffix(OPEN_SUFFIX))
            if sealed == named:
                continue
            if keep_strays and not _is_draft(sealed):
                recovery = recover_segment(path)
                if recovery.segment is not None:
                    self._writer.adopt(recovery.segment)
                    self._writer.seal()
                    links = _links_path(sealed)  # what of them is whole can be read
                    if _opened(links).exists():
                        _opened(links).rename(links)
            else:
                self._trash.take(path)
        for path in self._directory.glob(f"*{LINKS_SUFFIX}{OPEN_SUFFIX}"):
            if self._links is None or path != self._links.path:
                self._trash.take(path)
        sync_directory(self._directory)

    def _resume(self, named: Path, committed: SegmentState) -> None:
        if named.exists():  # sealed after the last commit, which nothing followed
            links = _links_path(named)
            if _opened(links).exists():
                _opened(links).rename(links)
            return
        path = _opened(named)
        if not path.exists() or path.stat().st_size < committed.size_bytes:
            raise HomeError(
                "agent_errors.segment_shorter",
                path=str(path),
                committed_bytes=committed.size_bytes,
            )
        self._trash.take_tail(path, committed.size_bytes)
        self._writer.adopt(self._as_committed(path, named.name, committed.size_bytes))
        self._open_links(named, committed.links_bytes)

    def _as_committed(self, path: Path, name: str, size_bytes: int) -> OpenSegment:
        """Return the segment as committed: by the rows of its index, or by its records."""
        known = self._index.known(name, size_bytes)
        if known is not None:
            try:
                return OpenSegment.resume(path, known, self._index.lines())
            except DamageError as error:
                raise HomeError(
                    "agent_errors.segment_damaged", path=str(path), problem=error.problem
                ) from error
        os.truncate(path, size_bytes)
        recovery = recover_segment(path)
        if recovery.segment is None or recovery.problem is not None:
            raise HomeError(
                "agent_errors.segment_cut",
                path=str(path),
                kept_bytes=recovery.kept_bytes,
                committed_bytes=size_bytes,
                problem=recovery.problem,
            )
        return recovery.segment

    def _open_links(self, segment: Path, committed_bytes: int) -> None:
        path = _links_path(segment)
        if path.exists():  # sealing was not finished
            path.rename(_opened(path))
        if committed_bytes or _opened(path).exists():
            self._links = AppendedFile(_opened(path), committed_bytes, self._open_file, self._trash)


def _is_longer(path: Path, size_bytes: int) -> bool:
    return path.exists() and path.stat().st_size > size_bytes


def _is_draft(segment: Path) -> bool:
    """Return whether it was being rewritten: the withdrawal of a host begins that again.

    Sealed unchanged, it would pass for whole, and the one before would go.
    """
    before = name_before(segment.name)
    return before is not None and segment.with_name(before).exists()


def _links_path(segment: Path) -> Path:
    return segment.with_name(segment.name + LINKS_SUFFIX)


def _opened(path: Path) -> Path:
    return path.with_name(path.name + OPEN_SUFFIX)
