"""From an answer to bytes with times: framing, pace, and the ways a delivery goes wrong.

A pure function of its arguments, so that what a client will see can be asserted without a clock.
"""

from __future__ import annotations

from collections.abc import Iterator

from simweb.servers.answer import Answer, head_bytes
from simweb.sites.distance import Pace

__all__ = ["framed", "wire_pieces"]

_CHUNK_BYTES = 8_192
_DRIP_PIECES = 20
_ENDLESS_CHUNK = b"4000\r\n" + b"<p>and so on</p>\n".ljust(0x4000) + b"\r\n"
_ENDLESS_LEAST_S = 0.02


def wire_pieces(
    answer: Answer, pace: Pace, date: str, *, is_head: bool, keep_alive: bool, http_1_0: bool
) -> Iterator[tuple[float, bytes]]:
    """Yield (seconds after the request, bytes) until all is sent; never for an endless answer.

    The last piece leaves after delay + size / bandwidth. A delivery that hangs yields nothing.
    """
    delivery = answer.delivery
    if delivery.hang or (delivery.reset and not delivery.share):
        return
    if delivery.raw:
        yield pace.delay_s, answer.body
        return
    head = head_bytes(answer, date, keep_alive, http_1_0)
    if is_head or answer.status == 304:
        yield from _paced(head, pace)
        return
    body = answer.body[: int(len(answer.body) * delivery.share)]
    whole = delivery.share == 1 and not delivery.endless
    if answer.chunked and not http_1_0:
        body = framed(body, whole)
    if delivery.drip_s:
        yield from _dripped(head, body, pace.delay_s, delivery.drip_s)
        return
    yield from _paced(head + body, pace)
    if delivery.endless:
        step = max(_ENDLESS_LEAST_S, len(_ENDLESS_CHUNK) / pace.bytes_per_s)
        at = pace.transfer_s(len(head) + len(body))
        chunk = _ENDLESS_CHUNK[6:-2] if http_1_0 else _ENDLESS_CHUNK
        while True:
            at += step
            yield at, chunk


def framed(body: bytes, whole: bool) -> bytes:
    """Return a body in the chunked coding (RFC 9112, 7.1), without its end unless whole."""
    parts = []
    for start in range(0, len(body), _CHUNK_BYTES):
        chunk = body[start : start + _CHUNK_BYTES]
        parts += [b"%x\r\n" % len(chunk), chunk, b"\r\n"]
    if whole:
        parts.append(b"0\r\n\r\n")
    return b"".join(parts)


def _paced(data: bytes, pace: Pace) -> Iterator[tuple[float, bytes]]:
    start = 0
    for at_s, size in pace.schedule(len(data)):
        yield at_s, data if size == len(data) else data[start : start + size]
        start += size


def _dripped(
    head: bytes, body: bytes, delay_s: float, drip_s: float
) -> Iterator[tuple[float, bytes]]:
    """The head at once, then the body in equal pieces over `drip_s`."""
    yield delay_s, head
    step = max(1, -(-len(body) // _DRIP_PIECES))
    count = -(-len(body) // step)
    for number in range(count):
        at_s = delay_s + drip_s * (number + 1) / count
        yield at_s, body[number * step : (number + 1) * step]
