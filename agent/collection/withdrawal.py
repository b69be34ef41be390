"""Drops captures of hosts that were taken out of the archive from the segments of this home.

What the centre keeps is deleted here whole; what it has and has not judged yet goes as soon as it
has; a segment that it never had is rewritten without these hosts, under another name. Invariant:
captures of other hosts are never lost: the new segment is sealed before the old one goes.
"""

from __future__ import annotations

import gzip
import json
import zlib
from calendar import timegm
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import strptime
from typing import BinaryIO, Final

from agent.collection.segment_records import LINKS, SEGMENT, SegmentRecords
from agent.control.robot_log import LineLogger
from agent.errors import HomeError
from shared.archive.errors import DamageError, DiskFullError
from shared.archive.reader import iter_captures
from shared.archive.recover import recover_segment
from shared.archive.rewritten import next_name
from shared.archive.segment import OPEN_SUFFIX
from shared.errors import PrsmError
from shared.full_disk import NO_ROOM
from shared.urls import host_of

__all__ = ["drop_hosts"]

PIECE_BYTES: Final = 1024**2

WithdrawnHosts = Mapping[str, int]
"""Host key -> up to when its captures go, epoch milliseconds."""


def drop_hosts(records: SegmentRecords, withdrawn: WithdrawnHosts, log_line: LineLogger) -> int:
    """Drop captures from all sealed segments; return how many segments held any.

    Raises DiskFullError, HomeError (a copy failed): finished segments stay finished, call again.
    """
    count = 0
    uncommitted = records.uncommitted
    for name in records.names():
        if not _holds(records.segment_folder / name, withdrawn):
            continue
        if name == uncommitted:
            raise DiskFullError("agent_errors.no_room_for_segment_end", name=name)
        count += 1
        segment = records.read(name)
        if segment.is_archived:
            records.remove(name)
        elif segment.state == "sent":
            records.write(replace(segment, doomed=True))
        else:
            _rewrite_segment(records, name, withdrawn, log_line)
    _drop_from_trash(records, withdrawn, log_line)
    return count


def _drop_from_trash(
    records: SegmentRecords, withdrawn: WithdrawnHosts, log_line: LineLogger
) -> None:
    """Delete segments of the trash that hold withdrawn hosts, or cannot be read to their end."""
    from agent.adapters.ledger.trash import Trash  # noqa: PLC0415  # few ask

    trash = Trash(records.segment_folder.parent)
    for path in list(trash.files()):
        if SEGMENT in path.name and LINKS not in path.name:
            if not _is_free_of(path, withdrawn):
                trash.delete(path)
                log_line(f"{path.name} was deleted from the trash: it holds a withdrawn host")
        elif LINKS in path.name:
            trash.delete(path)  # it names what a segment led to, and can be made again


def _is_free_of(segment: Path, withdrawn: WithdrawnHosts) -> bool:
    try:
        with segment.open("rb") as file:
            return not any(
                _is_withdrawn(stored.capture.url, stored.capture.fetched_at_ms, withdrawn)
                for stored in iter_captures(file)
            )
    except (DamageError, PrsmError, OSError):
        return False


def _holds(segment: Path, withdrawn: WithdrawnHosts) -> bool:
    try:
        return any(_is_withdrawn(url, at_ms, withdrawn) for url, at_ms in _indexed(segment))
    except (OSError, ValueError, KeyError):
        return True  # its index is gone: the segment itself is read


def _indexed(segment: Path) -> Iterator[tuple[str, int]]:
    """Yield URL and time of each capture, as the index beside a segment has them."""
    with segment.with_name(segment.name + ".cdxj").open("rb") as index:
        for line in index:
            _, stamp, about = line.split(b" ", 2)
            at_ms = timegm(strptime(stamp[:14].decode("ascii"), "%Y%m%d%H%M%S")) * 1000
            yield str(json.loads(about)["url"]), at_ms


def _is_withdrawn(url: str, at_ms: int, withdrawn: WithdrawnHosts) -> bool:
    try:
        until_ms = withdrawn.get(host_of(url))
    except PrsmError:
        return False
    return until_ms is not None and at_ms <= until_ms


def _rewrite_segment(
    records: SegmentRecords, name: str, withdrawn: WithdrawnHosts, log_line: LineLogger
) -> None:
    source = records.segment_folder / name
    target = source.with_name(next_name(name))
    draft = target.with_name(target.name + OPEN_SUFFIX)
    kept = dropped = 0
    if not target.exists():  # else a process was killed before the old one went
        damage: DamageError | None = None
        with _room(draft), source.open("rb") as reading, source.open("rb") as data:
            with draft.open("wb") as out:
                try:
                    for stored in iter_captures(reading):
                        if not kept and not dropped:
                            _copy(data, out, 0, stored.offset)  # warcinfo
                        capture = stored.capture
                        if _is_withdrawn(capture.url, capture.fetched_at_ms, withdrawn):
                            dropped += 1
                            continue
                        _copy(data, out, stored.offset, stored.length)
                        kept += 1
                except DamageError as error:
                    damage = error
            if kept:
                _copy_links(source, target, withdrawn, log_line)
                _seal(draft, is_cut=damage is not None)
            else:
                draft.unlink()
        if damage is not None:
            log_line(f"{name}: {damage}; it held a withdrawn host, and the rest is unreadable")
    records.remove(name)
    log_line(f"{name}: deleted {dropped} captures of withdrawn hosts, kept {kept}")


def _copy_links(
    source: Path, target: Path, withdrawn: WithdrawnHosts, log_line: LineLogger
) -> None:
    links = source.with_name(source.name + LINKS)
    if not links.exists():
        return
    with (
        gzip.open(links, "rb") as before,
        gzip.open(target.with_name(target.name + LINKS), "wb") as after,
    ):
        try:
            # Lines are target TAB source; who withdraws a host does not ask when.
            after.writelines(
                line
                for line in before
                if not _is_withdrawn(line.rpartition(b"\t")[2].strip().decode(), 0, withdrawn)
            )
        except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
            log_line(f"{links.name}: damaged ({error}); the links after it are dropped")


def _seal(draft: Path, *, is_cut: bool) -> None:
    """Seal the copy; is_cut: it may end in half a capture. Raises HomeError."""
    recovery = recover_segment(draft)
    segment = recovery.segment
    if segment is not None and (is_cut or recovery.problem is None):
        segment.seal()
        return
    if segment is not None:
        segment.let_go()
    raise HomeError("agent_errors.copy_not_whole", path=str(draft), problem=recovery.problem)


def _copy(source: BinaryIO, target: BinaryIO, start: int, length: int) -> None:
    source.seek(start)
    while length:
        data = source.read(min(length, PIECE_BYTES))
        if not data:
            raise DamageError(start, "agent_errors.segment_short_of_records")
        target.write(data)
        length -= len(data)


@contextmanager
def _room(draft: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno not in NO_ROOM:
            raise
        raise DiskFullError("agent_errors.no_room_for_rewrite", folder=str(draft.parent)) from error
