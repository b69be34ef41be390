"""M3, the crawl log."""

from __future__ import annotations

import gzip
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Fault, FormatError, LineError
from shared.wire import crawl_log
from shared.wire.crawl_log import Comment, LogLine, LogName

NUMBERS = st.integers(0, 10**15)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
LOG_LINES = st.builds(LogLine, TEXTS, NUMBERS, NUMBERS, NUMBERS, st.binary(max_size=80))
COMMENTS = st.builds(Comment, TEXTS.filter(lambda text: "\n" not in text))


@given(st.lists(LOG_LINES | COMMENTS))
def test_logs_survive_the_wire(lines: list[LogLine | Comment]) -> None:
    """N records in are N lines out, and the same ones, whatever a site sent."""
    body = b"".join(crawl_log.encode(lines))
    assert gzip.decompress(body).count(b"\n") == len(lines)
    assert list(crawl_log.decode([body])) == lines


@given(LOG_LINES)
def test_a_log_line_is_printable_ascii(line: LogLine) -> None:
    """No control character, no escape sequence reaches a terminal through a log."""
    encoded = crawl_log.encode_line(line)[:-1]
    assert all(0x20 <= byte <= 0x7E for byte in encoded)


@given(st.binary(max_size=80).filter(lambda line: b"\n" not in line))
def test_any_line_is_decoded_or_named(line: bytes) -> None:
    """Reading never fails otherwise than with the line's number."""
    try:
        decoded = crawl_log.decode_line(3, line)
    except LineError as error:
        assert error.line == 3
    else:
        again = crawl_log.encode_line(decoded)
        assert crawl_log.decode_line(3, again[:-1]) == decoded


EXPECTED = LogLine("http://a.jp/", 100, 2000, 30, b'HTTP/1.1 200 OK\r\nX: "y"')


@pytest.mark.parametrize(
    "line",
    [
        r'"http://a.jp/",100,2000,30,"HTTP/1.1 200 OK\r\nX: \"y\""',
        r'"http://a.jp/", 100, 2000, 30, "HTTP/1.1 200 OK\r\nX: \"y\""',
        r"""'http://a.jp/',100,2000,30,'HTTP/1.1 200 OK\r\nX: "y"'""",
        r""""http://a.jp/",100, 2000,30,'HTTP/1.1 200 OK\x0d\x0aX: \"y\"'""",
    ],
)
def test_spellings_of_the_garbled_print(line: str) -> None:
    """A space after commas and apostrophes for quotes are read alike."""
    assert crawl_log.decode_line(1, line.encode()) == EXPECTED


@pytest.mark.parametrize(
    "line",
    [
        "",
        '"http://a",1,2,3,"x',
        '"http://a",1,2,"x"',
        '"http://a",1,2,-3,"x"',
        '"http://a",1,2,3,"x" ',
        '"http://a",1,2,3,"x""',
        "http://a,1,2,3,x",
        '"http://a",1,2,3,"\\q"',
        '"http://a",1,2,3,"\\xz0"',
        '\'http://a",1,2,3,"x"',
    ],
)
def test_wrong_quotes_and_numbers_are_named(line: str) -> None:
    """A malformed line is refused with its number."""
    body = gzip.compress(f'#fine\n{line}\n"a",1,2,3,""\n'.encode())
    with pytest.raises(LineError, match="line 3"):
        list(crawl_log.decode([body], first_line=2))


@given(
    st.from_regex(r"[a-z0-9.-]{1,253}", fullmatch=True),
    st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(9999, 12, 31)),  # noqa: DTZ001
)
def test_names_survive(agent: str, moment: datetime) -> None:
    """The first line carries the agent and the minute, dots in the name or not."""
    name = LogName(agent, moment.strftime("%Y%m%d%H%M"))
    assert crawl_log.decode_name(crawl_log.encode_name(name)[:-1]) == name


@pytest.mark.parametrize(
    "line",
    [b"", b"agent", b"agent.20260101", b"../x.202601010101", b"A.202601010101", b".202601010101"],
)
def test_malformed_names_are_refused(line: bytes) -> None:
    """A first line that names no agent or no minute is line 1's fault."""
    with pytest.raises(LineError, match="line 1"):
        crawl_log.decode_name(line)


@pytest.mark.parametrize(
    "minute",
    [
        *("202613010000", "202600010000", "202601320000", "202601000000", "202602290000"),
        *("202601012400", "202601010060", "000001010000"),
    ],
)
def test_a_minute_that_no_calendar_has_is_refused(minute: str) -> None:
    """Month 13, day 32, hour 24, minute 60 and the 29th of February of most years, read or made."""
    with pytest.raises(LineError, match="not in the calendar") as refused:
        crawl_log.decode_name(f"a.example.{minute}".encode())
    assert (refused.value.line, refused.value.code) == (1, Fault.TIME)
    with pytest.raises(FormatError, match="not in the calendar"):
        crawl_log.encode_name(LogName("a.example", minute))


def test_what_cannot_be_written_is_refused() -> None:
    """The writer refuses negative numbers, broken comments and names."""
    with pytest.raises(FormatError, match="negative"):
        crawl_log.encode_line(LogLine("http://a/", 1, -2, 3, b""))
    with pytest.raises(FormatError, match="ends it"):
        crawl_log.encode_line(Comment("a\nb"))
    with pytest.raises(FormatError, match="12 digits"):
        crawl_log.encode_name(LogName("a", "2026"))
