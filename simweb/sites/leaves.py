"""Answers of a host's leaves: one function for each kind of page trouble."""

from __future__ import annotations

import re
import struct
import zlib
from functools import lru_cache

from simweb.servers.answer import Answer, Delivery, text_answer
from simweb.servers.content_coding import encode
from simweb.sites.chance import Stream, draw, draw64
from simweb.sites.pages import leaf_html, page_html, trap_html
from simweb.sites.plan import HostPlan, World
from simweb.sites.site import Leaf
from simweb.sites.traps import TRAPS, trap_body, trap_start
from simweb.sites.world_state import Running

__all__ = ["CHAIN_HOPS", "DEEP_HOPS", "LANDINGS", "LeafAnswers", "landing_path", "other_host"]

CHAIN_HOPS, DEEP_HOPS = 4, 20
LANDINGS = ("redirect", "redirect-chain")
LARGE_BYTES, BOMB_BYTES = 25_000_000, 100_000_000

_LANDING = re.compile(r"/landing/([a-z-]+)/(\d{1,9})\.html\Z")
_HOP = re.compile(r"hop=(\d{1,3})\Z")
_REDIRECTS = (301, 302, 303, 307, 308)
_PLAIN = ("duplicate", "noindex", "nofollow", "private", "private-open")
_STATUS = {"not-found": 404, "gone": 410, "error": 500}
_DELIVERIES = {
    "hang": Delivery(hang=True),
    "reset": Delivery(share=0.5, reset=True),
    "cut": Delivery(share=0.5),
    "cut-chunked": Delivery(share=0.8),
    "wrong-length": Delivery(length_error=-100),
    "endless": Delivery(endless=True),
}


def landing_path(kind: str, number: int) -> str:
    """Return where the redirects of a leaf end, for the kinds in LANDINGS."""
    return f"/landing/{kind}/{number}.html"


def other_host(world: World, host: HostPlan, *why: int | str) -> HostPlan | None:
    """Draw a healthy host that is not this one, or None."""
    others = [other for other in world.hosts[:64] if other.healthy and other.index != host.index]
    return others[int(draw(host.key, *why) * len(others))] if others else None


class LeafAnswers:
    """Answers for everything under /t/, /private/ and /landing/."""

    def __init__(self, world: World, running: Running, port: int) -> None:
        self._world, self._running, self._port = world, running, port

    def answer(self, host: HostPlan, path: str, query: str) -> Answer | None:
        """Return the answer of the leaf at a path; None when there is no such leaf."""
        site = self._world.site(host)
        trap = trap_body(host, site.leaf_counts, f"{path}?{query}" if query else path)
        if trap is not None:
            return Answer(200, [content_type(host)], trap, fault="trap")
        leaf = site.leaf_at(path)
        if query and not (leaf and leaf.kind.startswith("redirect") and _HOP.match(query)):
            return None
        if leaf is not None:
            answer = self._of(host, leaf, query)
            answer.fault = "" if leaf.kind.startswith("private") else leaf.kind
            return answer
        match = _LANDING.match(path)
        if match and match[1] in LANDINGS:
            known = int(match[2]) < site.leaf_counts.get(match[1], 0)
            return self._page(host, Leaf(f"landing-{match[1]}", int(match[2]))) if known else None
        return None

    def _of(self, host: HostPlan, leaf: Leaf, query: str) -> Answer:
        kind = leaf.kind
        if kind.startswith("redirect"):
            return self._redirect(host, leaf, query)
        if kind in _STATUS:
            return text_answer(_STATUS[kind])
        if kind in ("busy", "flaky"):
            return self._later(host, leaf)
        if kind == "garbage":
            return Answer(200, [], b"220 not a web server\r\n" * 3, delivery=Delivery(raw=True))
        if kind in TRAPS:
            body = trap_html(host, leaf, leaf.path, trap_start(host, leaf))
            return Answer(200, [content_type(host)], body)
        if kind == "image":
            return Answer(200, [("Content-Type", "image/png")], _png(draw64(host.key, leaf.path)))
        answer = self._page(host, leaf)
        if kind in _PLAIN:
            return answer
        if kind in _DELIVERIES:
            answer.delivery = _DELIVERIES[kind]
            answer.chunked = kind in ("cut-chunked", "endless")
            return answer
        return self._changed(answer, kind)

    def _changed(self, answer: Answer, kind: str) -> Answer:
        """Return a page whose body or headers are made wrong."""
        if kind == "slow":
            answer.delivery = Delivery(drip_s=self._world.options.slow_s)
        elif kind in ("broken-gzip", "cut-gzip", "bomb"):
            packed = _bomb() if kind == "bomb" else bytearray(encode(answer.body, "gzip"))
            if kind == "broken-gzip":
                packed[len(packed) // 2] ^= 0x55
            elif kind == "cut-gzip":
                del packed[len(packed) // 2 :]
            answer.body = bytes(packed)
            answer.headers.append(("Content-Encoding", "gzip"))
        elif kind == "large":
            answer.body += b"<!--" + b"x" * (LARGE_BYTES - len(answer.body) - 7) + b"-->"
        else:  # big-header
            answer.headers += [(f"X-Filler-{number}", "y" * 4_000) for number in range(20)]
        return answer

    def _redirect(self, host: HostPlan, leaf: Leaf, query: str) -> Answer:
        match = _HOP.match(query)
        hop = int(match[1]) if match else 0
        status = _REDIRECTS[(host.key + leaf.number) % len(_REDIRECTS)]
        next_hop = f"{leaf.path}?hop={hop + 1}"
        match leaf.kind:
            case "redirect-loop":
                location = leaf.path if hop else next_hop
            case "redirect-host":
                other = other_host(self._world, host, "redirect", leaf.number)
                location = (other or host).url(self._port)
            case "redirect-chain":
                end = landing_path(leaf.kind, leaf.number)
                location = next_hop if hop < CHAIN_HOPS - 1 else end
            case "redirect-deep":
                location = next_hop if hop < DEEP_HOPS - 1 else "/"
            case _:
                location = landing_path(leaf.kind, leaf.number)
        if leaf.number % 2:
            location = location if location.startswith("http") else host.url(self._port, location)
        return text_answer(status, headers=[("Location", location)])

    def _later(self, host: HostPlan, leaf: Leaf) -> Answer:
        wait_s = self._world.options.retry_after_s
        if leaf.kind == "flaky":
            if self._running.first_time(host, leaf.path):
                return text_answer(503)
        elif self._running.still_busy(host, leaf.path, wait_s):
            answer = text_answer(429, headers=[("Retry-After", str(wait_s))])
            answer.retry_after_s = wait_s
            return answer
        return self._page(host, leaf)

    def _page(self, host: HostPlan, leaf: Leaf) -> Answer:
        if leaf.kind == "duplicate":
            site = self._world.site(host)
            page = leaf.number % site.mainland
            version, _ = self._running.version_of(host, page)
            body = page_html(self._world, host, page, version, self._port)
        else:
            version, _ = self._running.version_of(host, leaf.path)
            body = leaf_html(host, leaf, version)
        return Answer(200, [content_type(host)], body)


def content_type(host: HostPlan) -> tuple[str, str]:
    """Return the Content-Type of a host's pages; half of the hosts say the charset there."""
    if host.charset.endswith("-unlabelled") or draw(host.key, "charset-header") < 0.5:
        return "Content-Type", "text/html"
    return "Content-Type", f"text/html; charset={host.charset}"


def _png(key: int) -> bytes:
    """Return a valid 16 x 16 grey PNG of drawn pixels."""
    stream = Stream(key)
    rows = b"".join(b"\0" + stream.bits().to_bytes(8, "big") * 2 for _ in range(16))

    def chunk(name: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0)
    image = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + image


@lru_cache(maxsize=1)
def _bomb() -> bytearray:
    """Return one gzip member of BOMB_BYTES zeros, quickly: one flushed block, repeated."""
    block = bytes(1_000_000)
    count = BOMB_BYTES // len(block)
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.flush()
    crc = 0
    for _ in range(count):
        crc = zlib.crc32(block, crc)
    header = b"\x1f\x8b\x08\0\0\0\0\0\2\xff"
    tail = struct.pack("<II", crc, BOMB_BYTES)
    return bytearray(header + packed * count + end + tail)
