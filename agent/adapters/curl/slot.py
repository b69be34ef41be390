"""One libcurl handle, used for one request after another, and the data that it receives.

What all requests have in common is set once, when the slot is made. A handle lives as long as its
fetcher, because connections that outlive a request keep pointing at it.

Invariants: at most `max_body_bytes` of a body are held, and a request that `may_send` refuses
leaves no byte on the wire: it is asked when the connection stands, right before sending.
A request is sent once. libcurl repeats one by itself, up to five times and at once, where a
connection that was kept open has ended, or a server refuses an HTTP/2 stream; here that is refused
before it connects, the request ends as a `retry`, and the frontier schedules the repetition.
libcurl knows no limit on the first byte, and its limit on the whole also runs while a transfer is
paused by us: a slow rate of ours, or a full memory, would cut each large page, as if its server
were slow. So the fetcher asks whether a request is `overdue`. It continues beyond `deadline_s` only
while requests may be begun. A permit ends here by a deadline earlier than at the manager
(`permit_margin_s`), so none outlives it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pycurl

from agent.adapters.body_memory import BodyMemory
from agent.adapters.curl.blocks import Site, own_fields
from agent.adapters.curl.event_loop import Sockets
from agent.adapters.curl.fallback_requests import Fallback
from agent.adapters.curl.options import FetchOptions, system_ca_file
from agent.adapters.curl.rate_limit import RateLimit
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest, Outcome

__all__ = ["Slot"]

_STOP: Final = -1
_READ_BYTES: Final = 64 * 1024  # at a time: one buffer of all requests, and most pages in one piece
_NO_FIELD: Final = "Proxy-Connection:"  # without a value: do not send it
_SUPPRESS_CONNECT_HEADERS: Final = 265  # CURLOPT_..., which pycurl has no name for


class Slot:
    """A handle with the request that it is on, if any. `handle` is a pycurl.Curl."""

    def __init__(
        self,
        options: FetchOptions,
        may_send: Callable[[Slot, str], bool],
        may_receive: Callable[[Slot, int], bool],
        rate: RateLimit,
        memory: BodyMemory,
        sockets: Sockets,
    ) -> None:
        """Make a handle ready.

        may_send: asked with the address that the connection leads to. may_receive: asked with
        the size of each piece of a body while `rate` is limited or `memory`, which counts it, is
        at its bound; a no pauses the transfer. sockets: learns of connections that are opened.
        """
        self.handle: Any = pycurl.Curl()
        self.request: FetchRequest
        self.site: Site
        self.done: Callable[[FetchAnswer], None]
        self.lines: list[bytes] = []
        self.body: list[bytes] = []
        self.body_bytes = 0
        self.too_long = False
        self.refusal: Outcome | None = None
        self.fallback = Fallback.NONE
        self.sent = False
        self.started_s = 0.0
        self.started_epoch_ms = 0
        self._waited_s = 0.0
        self._paused_at_s: float | None = None
        self._may_send = may_send
        self._may_receive = may_receive
        self._rate = rate
        self._memory = memory
        self.is_proxied = bool(options.proxy)
        self._fields = options.fields
        self._sockets = sockets
        self._anew = False
        self._conditional = False  # the fields of the last request hold for the next
        self._set_up(options)

    def begin(
        self,
        request: FetchRequest,
        site: Site,
        done: Callable[[FetchAnswer], None],
        started_s: float,
        started_epoch_ms: int,
        fallback: Fallback,
    ) -> None:
        """Take a request on; whoever calls gives the handle to libcurl next."""
        self.request = request
        self.site = site
        self.done = done
        self.started_s = started_s
        self.started_epoch_ms = started_epoch_ms
        self.handle.setopt(pycurl.URL, request.url)
        if fallback is not self.fallback:
            self._set_fallback(fallback)
        more = own_fields(request, fallback)
        if more or self._conditional:
            self._set_fields(more)
        if not self.is_proxied:
            shown = f"[{request.address}]" if ":" in request.address else request.address
            # To the checked address, whatever the name; Host and SNI stay the name.
            self.handle.setopt(pycurl.CONNECT_TO, [f"::{shown}:"])

    def set_fresh_connection(self, anew: bool) -> None:
        """Use no connection that is open, or use it where there is one."""
        if anew is not self._anew:
            self.handle.setopt(pycurl.FRESH_CONNECT, int(anew))
            self._anew = anew

    def _set_fallback(self, fallback: Fallback) -> None:
        set_option = self.handle.setopt
        is_usual = fallback is Fallback.NONE
        version = pycurl.CURL_HTTP_VERSION_2TLS if is_usual else pycurl.CURL_HTTP_VERSION_1_1
        set_option(pycurl.HTTP_VERSION, version)
        set_option(pycurl.IGNORE_CONTENT_LENGTH, int(fallback is Fallback.TO_THE_END))
        self.fallback = fallback

    def _set_fields(self, more: Sequence[str]) -> None:
        sent = [one.encode("latin-1") for one in more]  # a server's cookie has any bytes
        self.handle.setopt(pycurl.HTTPHEADER, [*self._fields, *sent, _NO_FIELD])
        self._conditional = bool(more)

    def pause(self, now_s: float) -> None:
        """Note that from now on it waits for rate or memory of ours, and not for its server."""
        if self._paused_at_s is None:
            self._paused_at_s = now_s

    def resume(self, now_s: float) -> bool:
        """Note that a pause is over; False: there was none, the request has ended meanwhile."""
        if self._paused_at_s is None:
            return False
        self._waited_s += now_s - self._paused_at_s
        self._paused_at_s = None
        return True

    def took_s(self, now_s: float) -> float:
        """Return how long the request has taken so far, pauses of ours left out."""
        return now_s - self.started_s - self.waited_s(now_s)

    def waited_s(self, now_s: float) -> float:
        """Return how long it was paused so far."""
        current_s = 0.0 if self._paused_at_s is None else now_s - self._paused_at_s
        return self._waited_s + current_s

    def overdue(
        self, now_s: float, options: FetchOptions, may_fetch: Callable[[], bool]
    ) -> str | None:
        """Return why a request must end now, None: it may continue.

        may_fetch: the permit; asked only where our own pauses made a request outlast its deadline.
        """
        lasted_s = now_s - self.started_s
        if lasted_s > options.first_byte_s and not self.lines:
            return f"no answer within {options.first_byte_s:g} s"
        if lasted_s <= options.deadline_s:
            return None
        if self.took_s(now_s) > options.deadline_s:
            return f"no end of the answer within {options.deadline_s:g} s"
        if not may_fetch():
            return f"no end within {options.deadline_s:g} s beside pauses, and no permit for longer"
        return None

    def clear(self) -> None:
        """Forget the request and its body."""
        del self.request, self.done
        self.lines.clear()
        self._drop_body()
        self.too_long = self.sent = False
        self.refusal = None
        self._waited_s, self._paused_at_s = 0.0, None

    def _drop_body(self) -> None:
        self.body.clear()
        self._memory.sum -= self.body_bytes
        self.body_bytes = 0

    def _set_up(self, options: FetchOptions) -> None:
        set_option = self.handle.setopt
        set_option(pycurl.NOSIGNAL, 1)
        set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        set_option(pycurl.FOLLOWLOCATION, 0)
        set_option(pycurl.PATH_AS_IS, 1)
        set_option(pycurl.BUFFERSIZE, _READ_BYTES)
        set_option(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        set_option(pycurl.HTTPHEADER, [*options.fields, _NO_FIELD])
        set_option(_SUPPRESS_CONNECT_HEADERS, 1)
        # Set even where there is none, or the environment's would be used.
        set_option(pycurl.PROXY, options.proxy)
        set_option(pycurl.NOPROXY, "")
        if options.source_address:
            set_option(pycurl.INTERFACE, f"host!{options.source_address}")
        set_option(pycurl.SSL_VERIFYPEER, int(options.verify_tls))
        set_option(pycurl.SSL_VERIFYHOST, 2 if options.verify_tls else 0)
        trusted = options.ca_file or system_ca_file()
        if options.verify_tls and trusted is not None:
            set_option(pycurl.CAINFO, str(trusted))
        set_option(pycurl.CONNECTTIMEOUT_MS, int(1000 * options.connect_s))
        set_option(pycurl.LOW_SPEED_LIMIT, options.min_rate)
        set_option(pycurl.LOW_SPEED_TIME, options.min_rate_s)
        set_option(pycurl.DNS_CACHE_TIMEOUT, 0)  # addresses are pinned, or the proxy's
        set_option(pycurl.MAXAGE_CONN, options.idle_s)
        if not options.proxy:  # whose name is looked up over sockets that are not told
            set_option(pycurl.SOCKOPTFUNCTION, self._opened)
        set_option(pycurl.HEADERFUNCTION, self.lines.append)
        set_option(pycurl.WRITEFUNCTION, self._write)
        set_option(pycurl.PREREQFUNCTION, self._before_sending)

    def _write(self, data: bytes) -> int | None:
        size = len(data)
        memory = self._memory
        if (self._rate.limited or memory.sum > memory.gate) and not self._may_receive(self, size):
            paused: int = pycurl.WRITEFUNC_PAUSE
            return paused
        room = self.request.max_body_bytes - self.body_bytes
        if size > room:
            self.body.append(data[:room])
            self.body_bytes += room
            memory.sum += room
            self.too_long = True
            return _STOP
        self.body.append(data)
        self.body_bytes += size
        memory.sum += size
        return None

    def _opened(self, descriptor: int, purpose: int) -> int:
        if self.sent:  # a connection for a repetition
            self.refusal = self.refusal or "retry"
            refused: int = pycurl.SOCKOPT_ERROR
            return refused
        return self._sockets.opened(descriptor, purpose)

    def _before_sending(self, address: str, *_: object) -> int:
        allowed: int = pycurl.PREREQFUNC_OK
        refused: int = pycurl.PREREQFUNC_ABORT
        if self.sent:  # a repetition, on another connection that was open
            self.refusal = self.refusal or "retry"
            return refused
        self.sent = self._may_send(self, address)
        return allowed if self.sent else refused
