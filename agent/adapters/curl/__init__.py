"""Requests through libcurl: `Fetcher`'s real side.

    options.py   what every request of this agent has in common
    slot.py      one curl handle, used again and again, and what comes in through it
    blocks.py    header blocks: the request that is sent, the answers that came (pure)
    outcomes.py  how a request ended, from curl's words to ours (pure)
    answers.py   from what came in to the answer
    fallbacks.py second ways to ask, where libcurl refuses an answer that browsers show
    retries.py   which failed requests are sent again, and in what way
    raw_request.py  a request whose answer libcurl does not read, and we do
    raw_requests.py those of them that are under way
    raw_answer.py   an answer from its bytes, as browsers read it (pure)
    idle.py      connections that stay open, one an address
    rate.py      how fast all answers together may come
    room.py      who waits, where bodies in memory have reached their bound
    sockets.py   what libcurl waits for, watched as one
    timer.py     when libcurl wants to be woken
    fetcher.py   the event loop's side: permit, limits, stopping

Invariant: each `start` is answered by exactly one `done`; no request is sent without a permit, to
another address than the given one, or over another protocol than HTTP.
"""

from agent.adapters.curl.fetcher import CurlFetcher
from agent.adapters.curl.options import FetchOptions

__all__ = ["CurlFetcher", "FetchOptions"]
