"""Requests through libcurl: `Fetcher`'s real side.

    fetcher.py           the event loop's side: permit, limits, stopping; start here
    options.py           options common to all requests of this agent
    slot.py              one curl handle, used for one request after another
    blocks.py            header blocks: the request that is sent, the answers that came (pure)
    answers.py           received bytes and curl's error codes to an answer, or a retry
    fallback_requests.py second attempts where libcurl refuses an answer that browsers show
    raw_request.py       a request without libcurl
    raw_answer.py        an answer from its bytes, read as browsers read it (pure)
    idle_connections.py  open connections, one an address
    rate_limit.py        bytes a second of all answers together
    body_room.py         transfers that wait for memory
    event_loop.py        libcurl's sockets in an epoll set, its timer on the event loop

Invariant: each `start` is answered by exactly one `done`; no request is sent without a permit, to
another address than the given one, or over another protocol than HTTP.
"""

from agent.adapters.curl.fetcher import CurlFetcher
from agent.adapters.curl.options import FetchOptions

__all__ = ["CurlFetcher", "FetchOptions"]
