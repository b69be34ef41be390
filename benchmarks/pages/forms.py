"""Ways for a page and its work to cross to another process: CPU of writing and reading them.

What a pipe itself costs is not in it, but one copy each way, which shared memory would save.
"""

from __future__ import annotations

import marshal
import mmap
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from agent.adapters.pages import wire
from agent.pipeline.messages.pages import Fetched, Links, PageWork, Processed
from shared.archive.cdxj import IndexEntry
from shared.archive.encode import EncodedCapture

__all__ = ["forms"]

BATCH: Final = 32
ROUNDS: Final = 5


def forms(pages: Sequence[Fetched], works: Sequence[PageWork]) -> dict[str, float]:
    """Return microseconds a page for each way, down and up."""
    batches = [pages[at : at + BATCH] for at in range(0, len(pages), BATCH)]
    results = [works[at : at + BATCH] for at in range(0, len(works), BATCH)]
    both = list(zip(batches, results, strict=True))

    def marshalled(pair: tuple[Sequence[Fetched], Sequence[PageWork]]) -> None:
        frame = b"".join(wire.batch_of([(page, "") for page in pair[0]]))
        wire.pages_in(memoryview(frame)[wire.FRAME.size :])

    def framed(pair: tuple[Sequence[Fetched], Sequence[PageWork]]) -> None:
        parts: list[bytes] = []
        for work in pair[1]:
            parts += wire.result_of(work)
        wire.results_in(memoryview(b"".join(parts)), pair[0])

    def pickled(index: int) -> Callable[[Any], None]:
        return lambda pair: pickle.loads(pickle.dumps(pair[index], 5))

    def marshalled_up(pair: tuple[Sequence[Fetched], Sequence[PageWork]]) -> None:
        values = []
        for work in pair[1]:
            encoded, links = work.processed.encoded, work.links
            one = encoded.entry
            values.append(
                (
                    *(encoded.data, one.urlkey, one.surt, one.mime, one.status, one.digest),
                    *(one.offset, one.length, links.urls, work.processed.outward),
                    work.processed.note,
                )
            )
        for page, value in zip(pair[0], marshal.loads(marshal.dumps(values)), strict=True):
            data, urlkey, surt, mime, status, digest, offset, length, urls, outward, note = value
            capture = page.capture
            entry = IndexEntry(
                *(urlkey, surt, capture.url, capture.fetched_at_ms, mime, status, digest),
                *(offset, length),
            )
            processed = Processed(
                *(EncodedCapture(data, entry), page.url, page.host, page.address, page.job),
                *(page.is_rules, outward, note),
            )
            PageWork(processed, Links(urls, page.url, page.job, page.depth + 1))

    shared = mmap.mmap(-1, 64 << 20)

    def through_memory(pair: tuple[Sequence[Fetched], Sequence[PageWork]]) -> None:
        at, places = 0, []
        for page in pair[0]:
            body = page.capture.body
            shared[at : at + len(body)] = body
            places.append((at, len(body)))
            at += len(body)
        for start, size in places:
            shared[start : start + size]

    count = len(pages)
    return {
        "down, marshal": _us(marshalled, both, count),
        "down, pickle": _us(pickled(0), both, count),
        "up, own frames": _us(framed, both, count),
        "up, pickle": _us(pickled(1), both, count),
        "up, marshal": _us(marshalled_up, both, count),
        "bodies in and out of shared memory": _us(through_memory, both, count),
    }


def _us(cross: Callable[[Any], None], batches: Sequence[Any], pages: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for batch in batches:
            cross(batch)
        best = min(best, time.process_time() - begun)
    return round(best / pages * 1e6, 1)
