"""The heart of the crawl: whose turn it is. All politeness is here and nowhere else.

    handler.py   the module: what each message means
    moving.py    a host that changes its address, from partition to partition
    turns.py     who is ready, who rests, who has one of the parallel places
    queues.py    addresses, their hosts, and the hosts' jobs
    pace.py      how long to rest
    front.py     what of a job's queues is in memory
    endings.py   how requests end, and what becomes of their URLs
    finishing.py when a job is done
    rulings.py   what a robots.txt, or its absence, means for a host's turns
    backing_off.py  who is left alone for longer, for the status
    waits.py     hosts that wait for their next request, and why, for the status

Invariant: an address has one token. It is out from the start of a request (`due`, `rules_due`)
until its end (`ended`, `denied`), and after an end it rests for its interval; so two requests to
one address are never under way at once and never closer than the interval, whatever happens in
between: a restart, a list, a move, a permit that was lost.
Source: seed 000, section 5.2.1; seed 002 (Mercator); seed 004, 5.1.4.
"""

from agent.modules.frontier.backoff import BackedOff
from agent.modules.frontier.handler import Frontier
from agent.modules.frontier.host_waits import Wait, WaitReason

__all__ = ["BackedOff", "Frontier", "Wait", "WaitReason"]
