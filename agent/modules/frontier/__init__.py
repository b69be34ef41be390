"""The frontier: schedules every request. All politeness is here and nowhere else.

    handler.py        the module: reacts to each message
    registry.py       addresses, hosts and jobs by name
    address_memory.py addresses into memory for a turn, and out of it
    scheduler.py      ready addresses, resting addresses
    dispatch.py       starts requests
    request_end.py    ends requests, and decides about their URLs
    crawl_delay.py    wait of an address after a request
    backoff.py        addresses in back-off, for restarts and the status; the wall clock
    robots_effects.py effects of a robots.txt, or of its absence, on a host
    queues.py         addresses, their hosts, and the hosts' jobs
    queue_window.py   the part of a job's queues that is in memory
    linked_queue.py   a queue linked through its items
    completion.py     finished jobs
    host_move.py      a host that changes its address, between partitions
    gates.py          the rate of an address that many sites share
    rule_changes.py   addresses that become shared, or one clock again
    host_waits.py     hosts that wait for their next request, and why, for the status
    unloaded.py       jobs whose addresses are not in memory
    address_record.py what is kept of an address that is not in memory

Invariant: an address has one token. It is out from the start of a request (`due`, `rules_due`)
until its end (`ended`, `denied`), and after an end it rests for its interval; so two requests to
one address are never under way at once and never closer than the interval, whatever happens in
between: a restart, a list, a move, a permit that was lost. At an address that many sites share, as
the manager says, this holds for each registrable domain, and the whole has a rate (`gates`).
Source: seed 000, section 5.2.1; seed 002 (Mercator); seed 004, 5.1.4.
"""

from agent.modules.frontier.backoff import BackedOff
from agent.modules.frontier.handler import CrawlState, Frontier
from agent.modules.frontier.host_waits import Wait, WaitReason

__all__ = ["BackedOff", "CrawlState", "Frontier", "Wait", "WaitReason"]
