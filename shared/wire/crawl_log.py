r"""M3: the crawl log, bytes to lines and back, streamed.

    Log     = AGENT "." yyyymmddHHMM LF gzip((LogLine / Comment)*)
    LogLine = DQUOTE URL DQUOTE "," request-bytes "," response-bytes "," elapsed-ms ","
              DQUOTE response-headers DQUOTE LF

Inside quotes stand `\\ \" \r \n \t \xHH`; every other byte outside printable ASCII is written
`\xHH`, so a log is ASCII and one record is one line whatever a site sends. Readers also accept a
space after commas, and apostrophes for quotes, because the print of the source garbles them.
Invariant: N records in are N lines out, and decoding gives them back.
Source: seed 004, section 5.1.2, (M3); sizes include headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from shared.errors import Fault, FormatError, LineError
from shared.frozen import frozen
from shared.wire.gzip_stream import compress, decompress, split_lines
from shared.wire.names import check_agent_name
from shared.wire.server_list import Comment, text_bytes

__all__ = [
    "Comment",
    "LogLine",
    "LogName",
    "check_minute",
    "decode",
    "decode_name",
    "encode",
    "encode_name",
    "request_line",
]

LOG_LINE_LIMIT_BYTES: Final = 512 * 1024  # 64 KB of headers, each byte escaped, and two URLs
LOG_LIMIT_BYTES: Final = 64 * 1024**3
NAME_LINE_LIMIT_BYTES: Final = 300  # 253 for the name, a dot, 12 digits

_LINE: Final = re.compile(
    rb"""(?:"(?P<url>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<url_>[^'\\]*(?:\\.[^'\\]*)*)'),\ ?"""
    rb"""(?P<request>[0-9]{1,18}),\ ?(?P<response>[0-9]{1,18}),\ ?(?P<elapsed>[0-9]{1,18}),\ ?"""
    rb"""(?:"(?P<head>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<head_>[^'\\]*(?:\\.[^'\\]*)*)')""",
    re.DOTALL,
)
_UNESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_LONG: Final = {b"\\": b"\\", b'"': b'"', b"'": b"'", b"r": b"\r", b"n": b"\n", b"t": b"\t"}
_STAMP: Final = re.compile(r"[0-9]{12}")


@frozen
class LogLine:
    """One request: its URL, its cost, and the header block of the answer.

    `headers` is as received, status line first; of a request that got no answer it is empty or
    holds only `X-Crawl-Outcome: reason`. Of a probe our agents put `X-Crawl-Time` behind the first
    line: milliseconds of the look-up (where one was waited for), until the connection stood (where
    it was not open), and until the first byte came. Readers need not know of either.
    """

    url: str
    request_bytes: int
    response_bytes: int
    elapsed_ms: int
    headers: bytes


@frozen
class LogName:
    """The first line: whose log, and the minute it was closed (agent's clock, UTC)."""

    agent: str
    minute: str  # yyyymmddHHMM

    @property
    def closed_ms(self) -> int:
        """Return the beginning of the minute, epoch milliseconds."""
        return round(_moment(self.minute).timestamp() * 1000)


def encode_name(name: LogName) -> bytes:
    """Return the first line with its LF."""
    check_agent_name(name.agent)
    check_minute(name.minute)
    return f"{name.agent}.{name.minute}\n".encode()


def decode_name(line: bytes) -> LogName:
    """Return what a first line (without LF) says; raises LineError."""
    text = line.decode("ascii", "replace").removesuffix("\r")
    agent, _, minute = text.rpartition(".")
    if not _STAMP.fullmatch(minute):
        raise LineError(1, "lists.log_name")
    try:
        check_agent_name(agent)
    except FormatError as error:
        raise LineError(1, error.message) from error
    try:
        check_minute(minute)
    except FormatError as error:
        raise LineError(1, error.message, Fault.TIME) from error
    return LogName(agent, minute)


def check_minute(minute: str) -> str:
    """Return the minute of a log's name; raises FormatError where the calendar has none such."""
    if not _STAMP.fullmatch(minute):
        raise FormatError("lists.log_time", Fault.TIME, minute=minute)
    try:
        _moment(minute)
    except ValueError as error:
        raise FormatError("lists.no_such_minute", Fault.TIME, minute=minute) from error
    return minute


def _moment(minute: str) -> datetime:
    return datetime(
        int(minute[:4]), int(minute[4:6]), int(minute[6:8]), int(minute[8:10]), int(minute[10:]),
        tzinfo=UTC,
    )  # fmt: skip


def encode(lines: Iterable[LogLine | Comment]) -> Iterator[bytes]:
    """Yield the gzip part of a log."""
    return compress(map(encode_line, lines))


def encode_line(line: LogLine | Comment) -> bytes:
    """Return one line with its LF."""
    if isinstance(line, Comment):
        return b"#" + text_bytes(line.text, "comment", forbidden="\n") + b"\n"
    return request_line(
        line.url, line.request_bytes, line.response_bytes, line.elapsed_ms, line.headers
    )


def request_line(
    url: str, request_bytes: int, response_bytes: int, elapsed_ms: int, headers: bytes
) -> bytes:
    """Return the line of one request with its LF; see `LogLine`."""
    if request_bytes < 0 or response_bytes < 0 or elapsed_ms < 0:
        raise FormatError("lists.negative_number", url=url[:80])
    return b'"%b",%d,%d,%d,"%b"\n' % (
        _quoted(url.encode("utf-8", "surrogateescape")),
        request_bytes,
        response_bytes,
        elapsed_ms,
        _quoted(headers),
    )


def decode(
    chunks: Iterable[bytes], *, limit_bytes: int = LOG_LIMIT_BYTES, first_line: int = 1
) -> Iterator[LogLine | Comment]:
    """Yield the lines of the gzip part. Raises FormatError (LineError where there is a line).

    first_line: the number that the first line has for the sender, who may count the name's.
    """
    plain = decompress(chunks, limit_bytes=limit_bytes)
    for number, line in split_lines(plain, limit_bytes=LOG_LINE_LIMIT_BYTES):
        yield decode_line(number + first_line - 1, line)


def decode_line(number: int, line: bytes) -> LogLine | Comment:
    """Return what one line says; raises LineError with the number given."""
    if line.startswith(b"#"):
        return Comment(line[1:].decode("utf-8", "surrogateescape"))
    match = _LINE.fullmatch(line)
    if match is None:
        raise LineError(number, "lists.log_line", line=line[:60].decode("latin-1"))
    groups = match.groupdict()
    url = groups["url"] if groups["url"] is not None else groups["url_"]
    headers = groups["head"] if groups["head"] is not None else groups["head_"]
    return LogLine(
        _unescape(number, url).decode("utf-8", "surrogateescape"),
        int(groups["request"]),
        int(groups["response"]),
        int(groups["elapsed"]),
        _unescape(number, headers),
    )


def _quoted(data: bytes) -> bytes:
    """Return the text between quotes for some bytes."""
    # In such a text Python escapes exactly the bytes that need it, but for the quote.
    return data.decode("latin-1").encode("unicode_escape").replace(b'"', b'\\"')


def _unescape(number: int, quoted: bytes) -> bytes:
    if b"\\" not in quoted:
        return quoted

    def plain(match: re.Match[bytes]) -> bytes:
        """Return the bytes of an escape. Raises LineError."""
        if match[1] is not None:
            return bytes.fromhex(match[1].decode())
        if match[2] not in _LONG:
            escape = ascii(match[2].decode("latin-1"))[1:-1]
            raise LineError(number, "lists.unknown_escape", escape=escape)
        return _LONG[match[2]]

    return _UNESCAPE.sub(plain, quoted)
