"""Make a selection: pick the captures of each host, and give the bytes of a zip or of WARC.

Invariants: hosts are processed one after the other, each with its own query, so memory is that of
one host's index rows within a limit, and a host that is excluded in the meantime is left out; where
that happens while its own pages are sent, the selection ends in the middle within two seconds.
Blocks: for a thread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Final

from manager.db.archive import selection_jobs
from manager.db.engine import Database
from manager.errors import GoneError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.archive.selections import HostFiles, Selection, hosts_of
from manager.store import Layout
from manager.store.captures.capture_selection import CaptureSelection, Picked
from manager.store.captures.page_reader import PageReader
from manager.store.captures.page_zip import gathered, host_zip, warc_records
from manager.store.captures.zip_stream import ZipStream
from manager.store.segments.segment_store import SegmentStore
from shared.archive.encode import SegmentInfo, encode_warcinfo
from shared.archive.sums import host_folder
from shared.frozen import frozen

__all__ = ["FORMS", "Form", "SelectionSources", "WithdrawnError", "make", "note_selection"]

WATCH_S: Final = 2.0


class WithdrawnError(GoneError):
    """A host was withdrawn while its pages were given."""


@frozen
class Form:
    """Format of a selection."""

    suffix: str
    media_type: str


FORMS: Final = {
    "zip": Form("zip", "application/zip"),
    "warc": Form("warc.gz", "application/warc"),
}


@frozen
class SelectionSources:
    """Sources and limits of selections."""

    db: Database
    layout: Layout
    store: SegmentStore
    memory_bytes: int
    now_ms: Callable[[], int]


OfHost = Callable[[HostFiles, int], None]
"""Callback for each finished host, with the number of its captures."""


def make(
    making: SelectionSources, asked: Selection, form: str, of_host: OfHost | None = None
) -> Iterator[bytes]:
    """Give the bytes of a selection. form: of FORMS. Raises FormatError before the first byte."""
    if form not in FORMS:
        raise NotFoundError(
            "general.unknown_choice", name="form", value=form[:40], known=tuple(FORMS)
        )
    parts = _zip(making, asked, of_host) if form == "zip" else _warc(making, asked, of_host)
    return gathered(parts)


def _zip(making: SelectionSources, asked: Selection, of_host: OfHost | None) -> Iterator[bytes]:
    with ZipStream() as made:
        for host, picked, reader in _picked(making, asked, of_host):
            name = f"{host_folder(host.name)}.zip"
            pieces = _watched(making, host, host_zip(picked, reader))
            yield from made.streamed(name, pieces, level=0)
        yield from made.finish()


def _warc(making: SelectionSources, asked: Selection, of_host: OfHost | None) -> Iterator[bytes]:
    info = SegmentInfo(software="prsm", operator="", contact="")
    yield encode_warcinfo(info, "pages.warc.gz", making.now_ms())
    every = replace(asked, conditions=replace(asked.conditions, newest=False))
    for host, picked, reader in _picked(making, every, of_host):
        yield from _watched(making, host, warc_records(picked, reader))


def _watched(making: SelectionSources, host: HostFiles, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Give the pieces of one host for as long as it may be given away."""
    asked_at = time.monotonic()
    for piece in pieces:
        yield piece
        if time.monotonic() - asked_at > WATCH_S:
            asked_at = time.monotonic()
            with making.db.read() as tx:
                withdrawn = selection_jobs.excluded_since(tx, host.ids)
            if withdrawn:
                raise WithdrawnError("archive.withdrawn_meanwhile", host=host.name)


def _picked(
    making: SelectionSources, asked: Selection, of_host: OfHost | None
) -> Iterator[tuple[HostFiles, Picked, PageReader]]:
    selecting = CaptureSelection(making.memory_bytes, making.layout.spool)
    reader = PageReader(making.store)
    try:
        for host in hosts_of(making.db, making.layout, asked):
            reader.know(host.segments)
            picked = selecting.pick(host.indexes, host.keys, asked.conditions)
            if not picked.none:
                yield host, picked, reader
            if of_host is not None:
                of_host(host, host.captures)
    finally:
        reader.close()
        selecting.close()


def note_selection(db: Database, asked: Selection, form: str, actor: Actor, now_ms: int) -> None:
    """Write down who takes which selection."""
    conditions = {name: value for name, value in asdict(asked.conditions).items() if value}
    said = json.dumps(conditions, sort_keys=True)
    with db.write() as tx:
        note(tx, now_ms, actor, "selection.download", asked.host[:200], form=form, conditions=said)
