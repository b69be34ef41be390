"""When requests end: the rest that follows, what becomes of the URL, and when a job is done.

Invariant: a URL leaves the ledger only when its page is kept, when robots.txt forbids it, or when
it is given up with a reason that is counted. A job is done only when nothing of it waits or is
under way, or when it has stopped for a reason and nothing is under way. A piece of a split host
is done in the same way, but stays: others may find more of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from agent.modules.attempts import ANSWERED, UNTOUCHED, gets_another_attempt
from agent.modules.counts import StopCounts
from agent.modules.frontier.backing_off import BackedOff
from agent.modules.frontier.front import Front
from agent.modules.frontier.holdings import Holdings
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.rulings import Rulings
from agent.modules.silence import Silence
from agent.pipeline.messages import (
    Denied,
    FetchEnded,
    Job,
    Kept,
    RulesDue,
    UnitFinished,
)
from agent.pipeline.spec import Output
from shared.urls import host_of

__all__ = ["Endings"]

SILENT: Final = frozenset({"refused", "timeout", "disconnected"})
COMPLETE: Final = "complete"
LOOKED_AT_A_TICK: Final = 2000  # jobs: a list of a million begins at once


class Endings:
    """Ends requests and jobs.

    given_up: counts URLs that are not fetched. silence: tells a dead host from a dead network.
    """

    def __init__(
        self,
        holdings: Holdings,
        given_up: StopCounts,
        silence: Silence,
        rulings: Rulings,
    ) -> None:
        self._has = holdings
        self._given_up = given_up
        self._silence = silence
        self._rulings = rulings

    def ended(self, ended: FetchEnded) -> Iterator[Output]:
        """Take the token back after a request, and begin the rest."""
        address = self._has.addresses.get(ended.address)
        holder = None if address is None else address.holder
        if address is None or holder is None:
            return
        host = self._has.hosts.get(ended.host)
        here = host if host is not None and host.address is address else None
        if isinstance(holder, RulesDue) and holder.hop:
            here = None  # it was another host that was asked
        self._has.take_token_back(address)
        self._has.turns.note_time(ended.ended_s)
        self._listen(ended)
        if address.closing:
            yield from self._closings(address)
        queue = self._has.jobs.get(ended.job)
        self._rest(address, here, ended)
        if isinstance(holder, RulesDue):
            self._rulings.ended(address, holder, host, ended)
        elif queue is not None and here is not None:
            self._page_ended(here, queue, ended)
        self._go_on(address, here, queue)

    def denied(self, denied: Denied) -> Iterator[Output]:
        """Take the token back of a request that was not sent."""
        has = self._has
        address = has.addresses.get(denied.address)
        if address is None or address.holder is None:
            return
        self._has.take_token_back(address)
        if address.closing:
            yield from self._closings(address)
        candidate = denied.due.candidate
        host, queue = has.hosts.get(denied.host), has.jobs.get(candidate.job)
        if queue is not None:
            queue.in_flight -= 1
            url = has.gone(queue, candidate.url)
            if url is not None and denied.rule:
                has.ledger.remove(candidate.job, url.position)
            elif url is not None:
                _front(queue).put_back(url)
            has.dirty[candidate.job] = None
        if host is not None and not denied.rule and host.rules == "known":
            host.rules = "unknown"
        self._go_on(address, host, queue)

    def kept(self, kept: Kept) -> None:
        """Forget a URL whose page is stored, and whose links have been handed on."""
        queue = self._has.jobs.get(kept.job)
        url = None if queue is None else self._has.gone(queue, kept.url)
        if queue is None or url is None:
            return
        self._has.ledger.remove(kept.job, url.position)
        self._has.ledger.count(kept.job, pages=0, kept=1, response_bytes=0)
        if not queue.under_way:
            self._has.dirty[kept.job] = None

    def finished(self) -> Iterator[Output]:
        """Report the jobs that are done. To be called when nothing is on its way inside."""
        has = self._has
        self._look_at_fresh()
        for number in list(islice(has.dirty, LOOKED_AT_A_TICK)):
            has.dirty.pop(number, None)
            queue = has.jobs.get(number)
            if queue is None:
                # Not placed, at least not here: done only if no URL of it passed the filters.
                job = has.open_job(number)
                if job is not None and not has.ledger.queued(number):
                    yield "finished", self._finished_asleep(job)
                continue
            reason = self._reason(queue)
            if reason:
                if queue.job.is_piece and reason == COMPLETE:
                    has.let_rest(queue)
                else:
                    has.drop_job(queue)
                yield (
                    "finished",
                    _finished(
                        queue.job, queue.host.name, queue.pages, queue.response_bytes, reason
                    ),
                )

    def _look_at_fresh(self) -> None:
        """Let some of the jobs that have just begun be looked at."""
        fresh = self._has.fresh
        while fresh and len(self._has.dirty) < LOOKED_AT_A_TICK:
            numbers = fresh[0]
            self._has.dirty.update(dict.fromkeys(numbers[-LOOKED_AT_A_TICK:]))
            del numbers[-LOOKED_AT_A_TICK:]
            if not numbers:
                fresh.popleft()

    def _finished_asleep(self, job: Job) -> UnitFinished:
        """Return what is said of a job without a URL of which nothing is awake."""
        row = self._has.ledger.job(job.number)
        if row is None or not row.address:
            return _finished(job, host_of(job.unit), 0, 0, "nothing to fetch")
        return _finished(job, row.host, row.pages, row.response_bytes, "complete")

    def _reason(self, queue: JobQueue) -> str:
        """Return why a job is done; "": it is not."""
        host, number = queue.host, queue.job.number
        rules_under_way = host.in_flight and isinstance(host.address.holder, RulesDue)
        if queue.under_way or host.leaves_to or rules_under_way:
            return ""
        if not queue.stopped and not queue.at_limit:
            if queue.waits:
                return ""
            if not self._has.ledger.queued(number):
                return COMPLETE
            _front(queue).begin_again()
            self._has.turns.offer_job(queue)
            return ""
        left = self._has.ledger.queued(number)
        if not left and not queue.stopped:
            return COMPLETE
        reason = queue.stopped or "page limit"
        if left:
            kind, _, why = reason.partition(": ")
            unit = queue.job.unit
            self._given_up.add(kind, f"{unit} ({why})" if why else unit, left)
        return reason

    def _listen(self, ended: FetchEnded) -> None:
        # Half a header is an answer too: whoever breaks off is there, however often.
        if ended.outcome in SILENT and not ended.response_bytes:
            self._silence.failed(ended.address, ended.ended_s)
        elif ended.outcome not in UNTOUCHED:
            self._silence.answered()

    def _closings(self, address: AddressQueue) -> Iterator[Output]:
        closing, address.closing = address.closing, ()
        for unit in closing:
            yield "closed", unit

    def _rest(
        self,
        address: AddressQueue,
        host: HostQueue | None,
        ended: FetchEnded,
    ) -> None:
        if ended.outcome in ("no_permit", "forbidden_address"):
            return  # not sent
        pace = self._has.pace
        if host is not None:
            pace.measure(host, ended)
            if own_rest_s := host.own_rest_s:
                host.not_before_s = max(host.not_before_s, ended.ended_s + own_rest_s)
        address.last_end_s = ended.ended_s
        ours = self._silence.is_ours(ended.ended_s)
        address.rest_s = pace.rest_s(address, host, ended, ours=ours)
        address.in_a_row += 1
        if host is not None and pace.may_go_on(address, host, ended):
            address.again, address.not_before_s = host, ended.ended_s
        else:
            address.again, address.in_a_row = None, 0
            address.not_before_s = ended.ended_s + address.rest_s
        backed_off = self._has.backing_off.note(address, ended)
        if host is not None:
            self._tell_others(host, backed_off)
        if address.rest_s > self._has.limits.probe_patience_s and not ours:
            self._stop_probes(address, ended)

    def _tell_others(self, host: HostQueue, backed_off: BackedOff | None) -> None:
        """Remember what a host asks for from which others fetch as well, or that it is over."""
        if backed_off is not None and any(queue.job.share for queue in host.jobs.values()):
            self._has.told_to_wait[host.name] = backed_off
        else:
            self._has.told_to_wait.pop(host.name, None)

    def _stop_probes(self, address: AddressQueue, ended: FetchEnded) -> None:
        """Let nobody wait for a probe of an address that must rest for long."""
        said = f"status {ended.status}" if ended.outcome in ANSWERED else ended.outcome
        if not ended.job:
            said = f"robots.txt: {said}"
        reason = f"unreachable: {said}, and {address.rest_s:.0f} s until the next request"
        for host in address.hosts.values():
            self._has.stop(host, reason, probes_only=True)

    def _page_ended(self, host: HostQueue, queue: JobQueue, ended: FetchEnded) -> None:
        has, number = self._has, queue.job.number
        queue.in_flight -= 1
        host.rules_fresh = False
        has.dirty[number] = None
        if ended.outcome in UNTOUCHED:
            url = has.gone(queue, ended.url)
            if url is not None:
                _front(queue).put_back(url)
            return
        if self._silence.is_ours(ended.ended_s):
            host.failures += 1
            url = has.gone(queue, ended.url)
            if url is not None:
                _front(queue).put_back(url)
            return
        queue.pages += 1
        queue.response_bytes += ended.response_bytes
        has.ledger.count(number, pages=1, kept=0, response_bytes=ended.response_bytes)
        answered = ended.outcome in ANSWERED
        host.failures = 0 if answered else host.failures + 1
        url = _front(queue).under_way.get(ended.url)
        if url is not None:
            attempt = url.attempts + 1
            retries = has.limits.retries
            if gets_another_attempt(ended.outcome, ended.status, attempt, retries):
                has.gone(queue, ended.url)
                due_ms = has.wall.epoch_ms(ended.ended_s + has.retry_wait_s(attempt))
                has.ledger.retry(number, url.position, attempt, due_ms)
                queue.has_more()
            elif not answered:
                has.gone(queue, ended.url)
                has.ledger.remove(number, url.position)
                self._given_up.add(ended.outcome, ended.url)
        if ended.outcome == "forbidden_address":
            has.stop(host, "unreachable: its address must not be crawled")
        elif host.failures >= has.limits.failures_in_a_row:
            has.stop(host, f"unreachable: {ended.outcome}, {host.failures} requests in a row")

    def _go_on(self, address: AddressQueue, host: HostQueue | None, queue: JobQueue | None) -> None:
        turns = self._has.turns
        if queue is not None:
            turns.offer_job(queue)
        if host is not None:
            turns.offer_host(host)
            self._has.forget_if_idle(host)
        turns.offer_address(address)
        self._has.forget_address_if_idle(address)


def _front(queue: JobQueue) -> Front:
    """Return what a job has in memory: there is something since its first turn."""
    assert queue.front is not None
    return queue.front


def _finished(job: Job, host: str, pages: int, response_bytes: int, reason: str) -> UnitFinished:
    return UnitFinished(
        job.number, job.unit, host, job.kind, job.round, pages, response_bytes, reason
    )
