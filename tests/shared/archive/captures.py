"""Captures to test with: plain samples, and hypothesis strategies for hostile ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from shared.archive.capture import Capture, Revisit, RevisitProfile, Truncation
from shared.archive.encode import SegmentInfo, payload_digest

NOON_MS = 1_767_268_800_123
INFO = SegmentInfo("prsm/0.1", "Operator <op@example.org>", "http://robot.example.org/ bot@x.org")

REQUEST = b"GET /page HTTP/1.1\r\nHost: www.example.jp\r\nUser-Agent: prs/0.1\r\n\r\n"
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n"


def sample(number: int = 0, body: bytes = b"<html>hello</html>", header: bytes = HEADER) -> Capture:
    """Return a plain capture; another number is another page a second later."""
    return Capture(
        url=f"http://www.example.jp/page/{number}",
        fetched_at_ms=NOON_MS + number * 1000,
        request=REQUEST,
        response_header=header,
        body=body,
        ip="192.0.2.1",
    )


def revisit_of(capture: Capture, profile: RevisitProfile = "identical-payload-digest") -> Capture:
    """Return a later capture that found the same page."""
    return replace(
        capture,
        fetched_at_ms=capture.fetched_at_ms + 86_400_000,
        body=b"",
        payload_digest=payload_digest(capture.body),
        revisit=Revisit(profile, capture.url, capture.fetched_at_ms),
    )


def as_read(capture: Capture, digest: str) -> Capture:
    """Return what a reader gives for a written capture: the same, with its digest."""
    return replace(capture, payload_digest=digest or None)


_token = st.text("abcXYZ019-_.~", min_size=1, max_size=12)
_name = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=20)
_urls = st.builds(
    "{}://{}.example{}/{}".format,
    st.sampled_from(["http", "https"]),
    _name,
    st.sampled_from(["", ":8080"]),
    st.text("abcXYZ/?&=%20~._-()", max_size=40),
)
_times = st.integers(0, 253_402_300_799_999)

_plain_value = st.binary(max_size=30).map(
    lambda value: bytes(byte for byte in value if byte == 9 or 32 <= byte != 127)
)
_field_names = st.one_of(
    st.sampled_from(
        [
            b"Content-Length",
            b"content-length",
            b"Transfer-Encoding",
            b"TRANSFER-encoding",
            b"Content-Type",
            b"X-Crawl-Transfer-Encoding",
            b"X-Crawl-Content-Length",
            b"X-Crawl-Status-Line",
            b"X-Crawl-Header",
        ]
    ),
    _token.map(str.encode),
)
_field_values = st.one_of(
    _plain_value,
    st.sampled_from([b"chunked", b" chunked", b"0", b"7", b" 12 ", b"text/html"]),
)
_fields = st.builds(b"%b:%b\r\n".__mod__, st.tuples(_field_names, _field_values))
_status_lines = st.sampled_from(
    [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 404 \r\n", b"HTTP/2 200 \r\n", b"HTTP/1.1 304 x\r\n"]
)
plain_headers = st.builds(
    lambda status, fields: status + b"".join(fields) + b"\r\n",
    _status_lines,
    st.lists(_fields, max_size=6),
)

_hostile_lines = st.one_of(
    _fields,
    st.binary(max_size=20),
    st.sampled_from([b" ", b"\t", b"\x0b", b"\x85", b" folded", b"garbage", b"\r", b"a\0b: c"]),
)
_line_ends = st.sampled_from([b"\n", b"\r\n"])
_odd_status_lines = st.sampled_from([b"HTTP/1.1 200 OK\n", b"HTTP/1.1\r\n", b"ICY 200\n"])


def _line(text: bytes, end: bytes) -> bytes:
    line = text.replace(b"\n", b"") + end
    return b"-\n" if line in (b"\n", b"\r\n") else line


hostile_headers = st.builds(
    lambda status, lines, end: status + b"".join(lines) + end,
    st.one_of(_status_lines, _odd_status_lines),
    st.lists(st.builds(_line, _hostile_lines, _line_ends), max_size=5),
    _line_ends,
)
headers = st.one_of(plain_headers, hostile_headers)
_bodies = st.builds(
    lambda body, times: body * times, st.binary(max_size=100), st.sampled_from([1, 1, 1, 1500])
)

_digests = st.binary(max_size=8).map(payload_digest)
_truncations: st.SearchStrategy[Truncation | None] = st.sampled_from(
    [None, "length", "time", "disconnect", "unspecified"]
)
_profiles: st.SearchStrategy[RevisitProfile] = st.sampled_from(
    ["identical-payload-digest", "server-not-modified"]
)
_ips = st.one_of(st.none(), st.ip_addresses().map(lambda address: address.compressed))
_extra = st.dictionaries(
    st.sampled_from(["X-Robots", "WARC-Protocol", "Noindex"]),
    st.text(min_size=1, max_size=20).filter(
        lambda text: text.isprintable() and text == text.strip() and text.isprintable()
    ),
)
_requests = st.sampled_from([b"", REQUEST])

responses = st.builds(
    Capture,
    url=_urls,
    fetched_at_ms=_times,
    request=_requests,
    response_header=headers,
    body=_bodies,
    ip=_ips,
    truncated=_truncations,
    extra=_extra,
)
revisits = st.builds(
    Capture,
    url=_urls,
    fetched_at_ms=_times,
    request=_requests,
    response_header=headers,
    ip=_ips,
    payload_digest=_digests,
    revisit=st.builds(Revisit, _profiles, _urls, _times),
    extra=_extra,
)
captures = st.one_of(responses, revisits)
