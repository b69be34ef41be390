"""Fetches pages: one request for each URL whose turn it is, one message for each thing it causes.

Invariant: every `Due` ends in exactly one `FetchEnded`. An answer with a header becomes a page,
redirects too (their target goes back to the filter); one that gets another attempt does not.
What an earlier round stored whole is asked for conditionally, and compared when it comes.
Leaves to others: the permit and the network (the fetcher), when to try again (frontier).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from agent.modules.attempts import UNTOUCHED, gets_another_attempt
from agent.modules.limits import CrawlLimits
from agent.modules.request import ended, pinned, redirect_target, requested, was_sent
from agent.pipeline.messages import Due, Earlier, Fetched, Links
from agent.pipeline.ports import EarlierCaptures, FetchAnswer, FetchDone, Fetcher, FetchRequest
from agent.pipeline.spec import Output
from shared.archive.capture import (
    IDENTICAL_PAYLOAD,
    NOT_MODIFIED,
    Capture,
    Revisit,
    RevisitProfile,
)

__all__ = ["Fetch"]


class Fetch:
    """The module `fetch`."""

    def __init__(
        self,
        fetcher: Fetcher,
        limits: CrawlLimits,
        done: Callable[[FetchDone], None],
        earlier: EarlierCaptures | None = None,
    ) -> None:
        """Take the door to the network.

        done: where an answer goes, to arrive at the input `answer`. earlier: None: whatever
        comes is stored whole.
        """
        self._earlier = earlier
        self._fetcher = fetcher
        self._limits = limits
        self._done = done
        self.in_flight = 0

    def handle(self, port: str, batch: Sequence[object]) -> Iterable[Output]:
        """Take URLs whose turn it is, or answers."""
        if port == "answer":
            return self._answers(cast(Sequence[FetchDone], batch))
        for due in cast(Sequence[Due], batch):
            self.in_flight += 1
            request = FetchRequest(
                due.candidate.url,
                pinned(due.address),
                self._limits.body_bytes,
                earlier=self._known(due),
            )
            self._fetcher.start(request, partial(self._hand_back, due))
        return ()

    def _known(self, due: Due) -> Earlier | None:
        """Return a URL's earlier capture; only a crawl does without bodies that are known."""
        if self._earlier is None:
            return None
        known = self._earlier.look_up(due.host, due.candidate.url)
        if known is None or due.kind == "crawl":
            return known
        return replace(known, etag="", modified="")

    def _hand_back(self, due: Due, answer: FetchAnswer) -> None:
        self._done(FetchDone(due, due.address, answer))

    def _answers(self, batch: Sequence[FetchDone]) -> Iterator[Output]:
        for done in batch:
            self.in_flight -= 1
            yield from self._answer(done.due, done.answer)

    def _answer(self, due: Due, answer: FetchAnswer) -> Iterator[Output]:
        url = due.candidate
        if was_sent(answer):
            yield "request", requested(answer, due.host, url.job, due.round, due.kind)
        yield "ended", ended(answer, due.host, due.address, url.job)
        if answer.capture is None or answer.outcome in UNTOUCHED:
            return
        retries = self._limits.retries
        if gets_another_attempt(answer.outcome, answer.status, due.attempt, retries):
            return
        target = redirect_target(answer)
        if target is not None:
            yield (
                "redirect",
                Links((target,), url.url, url.job, url.depth, url.redirects + 1),
            )
        yield (
            "page",
            Fetched(
                _compared(answer.capture, answer.request.earlier),
                url.url,
                due.host,
                due.address,
                url.job,
                url.depth,
                url.redirects,
            ),
        )


def _compared(capture: Capture, earlier: Earlier | None) -> Capture:
    """Return a capture that refers to the earlier one, as the server says or the body may show."""
    if earlier is None or capture.truncated is not None:
        return capture
    if capture.status == 304 and (earlier.etag or earlier.modified):
        profile: RevisitProfile = NOT_MODIFIED
    elif capture.status == 200 and capture.body:
        profile = IDENTICAL_PAYLOAD
    else:
        return capture
    body = capture.body if profile == IDENTICAL_PAYLOAD else b""
    revisit = Revisit(profile, capture.url, earlier.fetched_at_ms)
    return replace(capture, body=body, payload_digest=earlier.digest, revisit=revisit)
