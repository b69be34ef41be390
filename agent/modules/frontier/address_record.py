"""The record of an address between two turns: all that is known of it and of its hosts and jobs.

What the ledger has of a job (its order, its queue, its counters) is not in it, nor are addresses
that are in the middle of something: with a request or a page under way, in a ring, on the move. A
record is bytes in the memory of one process, about 250 of them for an address with one host. Its
head (`unloaded.Head`) has the name and the strikes of the address.

Invariant: `read` of `record_of` is the same address again: nothing that decides about a turn, a
rest or an end is lost (strikes, Retry-After, Crawl-delay, failures in a row, whose turn is next).
"""

from __future__ import annotations

import marshal
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from agent.modules.frontier.queue_window import Front
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.unloaded import Head
from agent.pipeline.messages.jobs import Job
from shared.host_failures import HostFailure

__all__ = ["due_s", "read", "record_of"]

T = TypeVar("T")


def record_of(address: AddressQueue, dirty: dict[int, None]) -> bytes | None:
    """Return the record of an address; None: it must stay in memory for now.

    dirty: jobs that may be done, and have not been looked at.
    """
    if address.holder is not None or address.arriving or address.rules:
        return None
    if address.again is not None or address.closing or address.leaving is not None:
        return None
    if address.listed and address.gate is None:
        return None
    for host in address.hosts.values():
        if host.rules == "asked" or host.leaves_to or not host.jobs:
            return None
        for number, job in host.jobs.items():
            if number in dirty or job.in_flight or (job.front and job.front.is_in_use):
                return None
    hosts = tuple(map(_of_host, _in_order(address.turns, address.hosts.values(), _host_due_s)))
    fields: Any = (
        *(address.not_before_s, address.last_end_s, address.rest_s),
        *(address.in_a_row, address.gap, hosts),
    )
    return marshal.dumps(fields)


def read(
    head: Head,
    record: bytes | memoryview,
    job_of: Callable[[int], Job | None],
    limit_of: Callable[[Job], int],
) -> tuple[AddressQueue, list[int]]:
    """Return the address of a record with those jobs that `job_of` knows, and the numbers of all.

    A host may have no job left.
    """
    not_before_s, last_end_s, rest_s, in_a_row, gap, hosts = marshal.loads(record)  # noqa: S302  # our own, of this process
    address = AddressQueue(
        head.name,
        not_before_s=not_before_s,
        last_end_s=last_end_s,
        rest_s=rest_s,
        strikes=head.strikes,
        in_a_row=in_a_row,
        gap=gap,
    )
    numbers: list[int] = []
    for fields, jobs in hosts:
        host = HostQueue(fields[0], address)
        for attribute, value in zip(_HOST, fields, strict=True):
            setattr(host, attribute, value)
        for number, front, failure, *rest in jobs:
            numbers.append(number)
            job = job_of(number)
            if job is None:
                continue
            queue = host.jobs[number] = JobQueue(job, host, limit_of(job))
            for attribute, value in zip(_JOB, rest, strict=True):
                setattr(queue, attribute, value)
            queue.failure = None if failure is None else HostFailure(failure)
            queue.front = None if front is None else Front(*front)
            if queue.listed:
                host.turns.append(queue)
        address.hosts[host.name] = host
        if host.listed:
            address.turns.append(host)
    return address, numbers


def due_s(address: AddressQueue) -> float:
    """Return when an address has a turn at the earliest; `inf`: nothing of it waits."""
    if address.turns:
        return address.not_before_s
    found = min(map(_host_due_s, address.hosts.values()), default=math.inf)
    return max(found, address.not_before_s)


def _host_due_s(host: HostQueue) -> float:
    return max(host.not_before_s, min(map(_job_due_s, host.jobs.values()), default=math.inf))


def _job_due_s(job: JobQueue) -> float:
    return job.not_before_s if job.wants_turn else math.inf


_HOST: Final = (
    *("name", "not_before_s", "rules", "rules_until_s", "rules_fresh", "rules_failures"),
    *("rules_retries", "crawl_delay_s", "failures", "asks_since_s", "asks"),
    *("total_bytes", "total_ms", "listed"),
)
_JOB: Final = ("pages", "response_bytes", "not_before_s", "stopped", "trouble", "faults", "listed")


def _of_host(host: HostQueue) -> tuple[object, ...]:
    jobs = tuple(map(_of_job, _in_order(host.turns, host.jobs.values(), _job_due_s)))
    return tuple(getattr(host, one) for one in _HOST), jobs


def _of_job(queue: JobQueue) -> tuple[object, ...]:
    return (
        queue.job.number,
        None if queue.front is None else queue.front.facts,
        None if queue.failure is None else str(queue.failure),
        *(getattr(queue, one) for one in _JOB),
    )


def _in_order(ring: Iterable[T], all_of_them: Iterable[T], due_s: Callable[[T], float]) -> list[T]:
    """Return first those in a ring, whose turns are next, then the others as they become ready.

    What left meanwhile may still be in the ring.
    """
    there = {id(one): one for one in sorted(all_of_them, key=due_s)}
    first = {id(one): one for one in ring if id(one) in there}
    return list((first | there).values())
