"""Lets a URL through once in each job, and enters it in the job's queue in the same step.

A redirect that comes back to a URL with other cookies than before is let through once more.

Most links lead to URLs met a moment ago, so a bounded memory (`agent.modules.seen`) answers
first; only what it does not know goes to the exact set on disk, a batch at a time. The memory is
keyed by a 64-bit hash with this process's secret: a site cannot make two of its URLs collide. The
job is part of the key, so a mistake of a memory that makes some is not made again in the next
round.

Invariant: a URL is entered in the seen-set and in the queue between the same two commits, so no
crash leaves it known but never fetched.
Source: seed 000, 5.2.2; seed 003.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from agent.modules.counts import KindCounts, StopCounts
from agent.modules.limits import CrawlLimits
from agent.modules.priority import level_of
from agent.modules.seen import make_seen
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import LEVELS, Ledger, QueuedUrl
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import Candidate

__all__ = ["Dedup"]


class Dedup:
    """The module `dedup`."""

    def __init__(
        self,
        ledger: Ledger,
        limits: CrawlLimits,
        stopped: StopCounts,
        kinds: KindCounts | None = None,
    ) -> None:
        self._kinds = KindCounts() if kinds is None else kinds
        self._ledger = ledger
        self._pages = limits.pages_per_host
        self._stopped = stopped
        self._seen = make_seen(limits.seen)

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {"candidates": Input(Candidate, self.handle_candidates)}

    def handle_candidates(self, candidates: Sequence[Candidate]) -> Iterator[Output]:
        """Pass on the candidates that are new in their jobs."""
        unknown: dict[int, dict[str, Candidate]] = {}
        again: list[Candidate] = []
        known = self._seen.meet([hash((one.job, one.url)) for one in candidates])
        for one, is_known in zip(candidates, known, strict=True):
            if one.again:
                again.append(one)
            elif not is_known:
                unknown.setdefault(one.job, {})[one.url] = one
        yield from self._enter(unknown)
        if again:
            self._ledger.push([_queued(one) for one in again])
            for one in again:
                yield "new", one

    def _enter(self, unknown: dict[int, dict[str, Candidate]]) -> Iterator[Output]:
        for job, met in unknown.items():
            room = self._pages - self._ledger.queued(job)
            candidates = met if room >= len(met) else self._cut(job, met, room)
            new = self._ledger.add_new(job, list(candidates))
            entered = [one for one, is_new in zip(candidates.values(), new, strict=True) if is_new]
            self._ledger.push([_queued(one) for one in entered])
            for one in entered:
                self._kinds.found(one.link_kind)
                yield "new", one

    def _cut(self, job: int, candidates: dict[str, Candidate], room: int) -> dict[str, Candidate]:
        # More than this will never be fetched; forgotten, so that they may come again.
        items = iter(candidates.items())
        kept = dict(islice(items, max(0, room)))
        for url, _ in items:
            self._seen.forget(hash((job, url)))
            self._stopped.add("queue holds as many pages as a host may have", url)
        return kept


def _queued(one: Candidate) -> QueuedUrl:
    url, depth, redirects = one.url, one.depth, one.redirects
    level = level_of(url, depth, redirects)
    if one.link_kind == LinkKind.WELL_KNOWN and depth >= 0:
        level = LEVELS - 1  # behind all pages
    return QueuedUrl(
        *(0, url, one.job, depth, redirects, one.referer, 0, level),
        chain=one.chain,
        link_kind=one.link_kind,
    )
