"""Lines that are read by the thousand are what each would be by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manager.assignment.right_history import RightPeriod
from manager.intake.body_decoding import DecodingLimits
from manager.intake.logs import log_columns, log_reader
from manager.intake.logs.log_columns import PlainLines, split_block
from manager.intake.logs.log_job import LogJob
from manager.intake.logs.log_parser import parse_log
from manager.intake.logs.log_sections import Section
from manager.operations.logs.log_summary import ParsedLog
from shared.errors import FormatError, LimitError
from shared.messages import Message
from shared.urls import canonical, host_of
from shared.wire.crawl_log import Comment, LogLine, decode_line, encode, encode_line
from shared.wire.gzip_stream import decompress
from tests.examples import examples

HELD = (
    RightPeriod("http://a.example:80/", 0, None, 7, "crawl"),
    RightPeriod("http://a.example:80/x/", 0, 1500, 8, "probe"),
    RightPeriod("https://b.example:8443/~k/", 0, None, 9, "crawl"),
    RightPeriod("http://c.example:80/", 90_000_000, None, 7, "refetch"),
)
PLAIN = LogLine(
    "http://a.example/page.html?q=1", 200, 5000, 20, b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"
)


def one_by_one(block: bytes, known: dict[bytes, str | None]) -> Iterator[tuple[int, bytes]]:
    yield from enumerate(block[:-1].split(b"\n"))


def outcome(folder: Path, gzipped: bytes) -> tuple[ParsedLog | Message, list[dict[str, Any]]]:
    """Return what a log says, and its rows."""
    body, target = folder / "x.body", folder / "x.parquet"
    body.write_bytes(b"a.example.202611211000\n" + gzipped)
    times = Section(since_ms=1000, until_ms=2000)
    limits = DecodingLimits(10**8, 1e9, 10**12, "limits.log_lines")
    job = LogJob(body, target, times, HELD, 6, "probe", limits, 10**8, cpu_s=100)
    said: ParsedLog | Message
    try:
        said = parse_log(job)
    except (FormatError, LimitError) as error:
        said = error.message
    rows = pq.read_table(target).to_pylist() if isinstance(said, ParsedLog) else []
    target.unlink(missing_ok=True)
    return said, rows


def both(folder: Path, gzipped: bytes) -> tuple[ParsedLog | Message, list[dict[str, Any]]]:
    """Read a log both ways; return what it says."""
    together = outcome(folder, gzipped)
    with mock.patch.object(log_reader, "split_block", one_by_one):
        assert outcome(folder, gzipped) == together
    return together


authorities = st.sampled_from(
    ["http://a.example", "http://A.example", "https://b.example:8443", "http://c.example:80",
     "http://[::1]", "http://1.2.3.4", "http://0x7f.1", "HTTP://a.example", "https:/a.example",
     "http://a_b.example", "http://xn--p1ai", "http://a.example.", "http://a:0443"]
)  # fmt: skip
paths = st.text("abzAZ019/-._~%?=&+,:;@!$'()*|^`{}[]\\ \"#é", max_size=20)
urls = st.one_of(
    st.just(PLAIN.url),
    st.builds(lambda authority, path: f"{authority}/{path}", authorities, paths),
    st.builds(lambda authority, path: authority + path, authorities, paths),
    st.from_regex(r"http://a\.example/x(%[0-9A-Fa-f]{2}|%[0-9A-G]|[./]){1,4}", fullmatch=True),
)
heads = st.one_of(
    st.just(PLAIN.headers),
    st.binary(max_size=30),
    st.sampled_from([b"", b"HTTP/2 301", b"HTTP/1.1 99", b"HTTP/1.0 4", b"HTTP/1.1 600 x",
                     b'HTTP/1.1 200 OK\r\nETag: "x\\y\\\\"\r\n', b"\x02\x03\x04\x05", b"HTTP/9 5",
                     b"\\" * 3, b'\\"\\\\""\r\t\n\\n', b"HTTP/1.1 200\\r\n", b"'\\'"]),
)  # fmt: skip
numbers = st.one_of(st.integers(0, 10**6), st.integers(0, 10**13))
lines = st.builds(LogLine, urls, numbers, numbers, numbers, heads)
comments = st.sampled_from(
    [Comment("Round=8"), Comment("MaxTransfer=50"), Comment("Refetch=1"), Comment("Since=1800"),
     Comment("MaxTransfer=0"), Comment('"'), Comment("")]
)  # fmt: skip


def meaning(number: int, line: bytes) -> tuple[object, ...]:
    """Return what a line means, read by itself; raises what it raises."""
    entry = decode_line(number, line)
    assert isinstance(entry, LogLine)
    url = canonical(entry.url)
    status = re.match(rb"HTTP/[0-9](?:\.[0-9])? ([1-5][0-9]{2})", entry.headers)
    return (
        url,
        url[url.index("/", 8) :],
        host_of(url),
        int(status[1]) if status else 0,
        (entry.request_bytes, entry.response_bytes, entry.elapsed_ms),
        entry.headers,
    )


def check_block(block: bytes) -> int:
    """Compare what a block is read as with its lines one by one; return how many were plain."""
    texts = block[:-1].split(b"\n")
    place = plain = 0
    for part in split_block(block, {}):
        if isinstance(part, PlainLines):
            assert part.first == place
            for at in range(len(part)):
                assert meaning(place + at, texts[place + at]) == (
                    part.urls[at].as_py(),
                    part.paths[at].as_py(),
                    part.hosts[part.codes[at]],
                    part.status[at],
                    (part.requested[at], part.responded[at], part.elapsed[at]),
                    part.headers[at].as_py(),
                )
            place, plain = place + len(part), plain + len(part)
        else:
            assert part == (place, texts[place])
            place += 1
    assert place == len(texts)
    return plain


@settings(max_examples=examples(300), deadline=None)
@given(
    odd=st.lists(st.tuples(st.one_of(lines, comments), st.integers(0, 60)), max_size=6),
    texts=st.lists(urls, min_size=3, max_size=3),
)
def test_thousands_are_as_one(odd: list[tuple[LogLine | Comment, int]], texts: list[str]) -> None:
    """Whatever stands among plain lines, URL, host, path, status, numbers and headers are same."""
    log: list[LogLine | Comment] = [PLAIN] * 120
    for at, text in enumerate(texts):
        log[at * 40] = LogLine(text, 1, 2, 3, PLAIN.headers)
    for line, place in odd:
        log.insert(place, line)
    check_block(b"".join(map(encode_line, log)))


@settings(max_examples=examples(300), deadline=None)
@given(
    place=st.integers(0, 4),
    junk=st.sampled_from([b'"', b"\\", b",", b"\n", b"\r", b"x", b"-", b" ", b"#", b"\xff", b"'"]),
    at=st.integers(0, 80),
)
def test_a_spoilt_line_is_not_plain(place: int, junk: bytes, at: int) -> None:
    """With a byte too many a line is either right still, or left to who refuses it."""
    good = b'"http://a.example/p",200,5000,20,"HTTP/1.1 200 OK\\r\\nETag: \\"a\\"\\r\\n\\r\\n"\n'
    spoilt = good[:at] + junk + good[at:]
    check_block(good * (30 + place) + spoilt + good * 30)


def test_hosts_that_are_written_otherwise(tmp_path: Path) -> None:
    """As plain agents may write them: read together all the same, each URL in canonical form."""
    urls = [
        "http://A.example:80/x",
        "http://a.example/x?q",
        "http://0x7f.1/",
        "https://B.example:443/%25",
    ]
    log = [LogLine(urls[at % len(urls)], 1, 2, 3, PLAIN.headers) for at in range(400)]
    assert check_block(b"".join(map(encode_line, log))) == 400
    both(tmp_path, b"".join(encode(log)))


def test_a_host_that_is_none_is_named_by_its_line(tmp_path: Path) -> None:
    """What stands before a path and is no host: the log is refused for the first such line."""
    wrong = LogLine("http://a b.example/", 1, 2, 3, b"")
    none = LogLine("http://[::1/", 1, 2, 3, b"")
    for bad in (wrong, none):
        said, _ = both(tmp_path, b"".join(encode([*[PLAIN] * 50, bad, *[PLAIN] * 50])))
        assert isinstance(said, Message)
        assert str(said).startswith("line 52:")


def test_a_query_before_the_path_is_no_host() -> None:
    """Its slash is not where a path begins, so such lines are read by themselves."""
    for url in ("http://a.example?x/y", "http://a.example#x/y"):
        line = encode_line(LogLine(url, 1, 2, 3, b""))
        assert check_block(encode_line(PLAIN) * 99 + line) == 99


def test_where_no_code_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is read by itself; what comes out is the same, as the other tests say."""
    monkeypatch.setattr(log_columns, "_function", lambda: None)
    assert check_block(encode_line(PLAIN) * 100) == 0


def test_lines_of_any_length() -> None:
    """A line that is too long to be plain, short ones, and nothing at all."""
    long = encode_line(LogLine("http://a.example/", 1, 2, 3, b"x" * 140_000))
    assert check_block(encode_line(PLAIN) * 99 + long + b"\n" + encode_line(PLAIN) * 99) == 198
    assert check_block(b"\n") == 0


def test_more_hosts_than_there_is_room_for() -> None:
    """Half of 65,536 places for hosts: a block with more of them is read line by line."""
    for hosts, plain in ((32_000, 32_000), (33_000, 0)):
        block = b"".join(
            b'"http://h%d.example/",1,2,3,"HTTP/1.1 200"\n' % number for number in range(hosts)
        )
        read = [part for part in split_block(block, {}) if isinstance(part, PlainLines)]
        assert sum(map(len, read)) == plain


def test_plain_lines_are_not_read_one_by_one(tmp_path: Path) -> None:
    """Only comments and rare escapes are; and a log says the same either way."""
    made: list[LogLine | Comment] = [
        Comment("Round=8"),
        *[PLAIN] * 200,
        LogLine("http://a.example/%E3%81%82", 1, 2, 3, b"\0"),
    ]
    block = b"".join(encode([*made, *[PLAIN] * 200]))
    said, rows = both(tmp_path, block)
    assert isinstance(said, ParsedLog)
    assert (said.lines, said.quarantined, len(rows)) == (401, 0, 401)
    kinds = [
        len(part) if isinstance(part, PlainLines) else 1
        for part in split_block(b"".join(decompress([block], limit_bytes=10**7)), {})
    ]
    assert kinds == [1, 200, 1, 200]


def test_sums_name_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sums become too large the first line that is too much is named."""
    monkeypatch.setattr(log_reader, "SUM_LIMIT", 50_000)
    said, _ = both(tmp_path, b"".join(encode([PLAIN] * 30)))
    assert isinstance(said, Message)
    assert str(said).startswith("line 12:")
