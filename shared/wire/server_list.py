r"""M1 and M2: the server list, bytes to lines and back, streamed.

    ServerList     = gzip(ServerListItem*)
    ServerListItem = URL [HT RefererURL] LF / "#MaxTransfer=" 1*DIGIT LF / "#" *(any but LF) LF

Invariant: N lines in are N lines out, in order, and encoding a decoded list gives it back. What
the lines mean together (which limit holds for which unit) is `shared.wire.orders`. URLs here are
texts as they came: whoever acts on one makes it canonical first.
Source: seed 004, section 5.1.2, (M1) and (M2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from shared.errors import FormatError, LineError
from shared.frozen import frozen
from shared.wire.gzip_stream import compress, decompress, split_lines

__all__ = ["Comment", "ListLine", "MaxTransfer", "UrlLine", "complete_line", "decode", "encode"]

LIST_LINE_LIMIT_BYTES: Final = 16 * 1024  # two URLs at the length that browsers accept, escaped
LIST_LIMIT_BYTES: Final = 2 * 1024**3  # ten million units at 200 bytes
MAX_TRANSFER_DIGITS: Final = 18


@frozen
class UrlLine:
    """A unit or a start page, and the page that links to it where that is known."""

    url: str
    referer: str | None = None


@frozen
class MaxTransfer:
    """Pages at most to fetch of each unit on the lines after it; 0: all of them."""

    pages: int


@frozen
class Comment:
    """Any other line that begins with `#`; `text` is what follows the sign."""

    text: str


ListLine = UrlLine | MaxTransfer | Comment


def encode(lines: Iterable[ListLine]) -> Iterator[bytes]:
    """Yield the gzip body of a list. Raises FormatError for text that would break its line."""
    return compress(map(encode_line, lines))


def encode_line(line: ListLine) -> bytes:
    """Return one line with its LF; raises FormatError where the text cannot stand on a line."""
    match line:
        case UrlLine(url, None):
            return _text(url, "URL", forbidden="\n\t") + b"\n"
        case UrlLine(url, referer):
            return (
                _text(url, "URL", forbidden="\n\t")
                + b"\t"
                + _text(str(referer), "referer", forbidden="\n\t", empty=True)
                + b"\n"
            )
        case MaxTransfer(pages):
            if pages < 0:
                raise FormatError("lists.max_transfer", pages=pages)
            return b"#MaxTransfer=%d\n" % pages
        case Comment(text):
            if _max_transfer(text) is not None:
                raise FormatError("lists.comment_is_directive", text=text)
            return b"#" + text_bytes(text, "comment", forbidden="\n") + b"\n"


def decode(chunks: Iterable[bytes], *, limit_bytes: int = LIST_LIMIT_BYTES) -> Iterator[ListLine]:
    """Yield the lines of a gzip body. Raises FormatError (LineError where there is a line)."""
    plain = decompress(chunks, limit_bytes=limit_bytes)
    return decode_plain(plain)


def decode_plain(chunks: Iterable[bytes]) -> Iterator[ListLine]:
    """Yield the lines of a list that is not compressed, as an operator keeps it in a file."""
    for number, line in split_lines(chunks, limit_bytes=LIST_LINE_LIMIT_BYTES):
        yield decode_line(number, line)


def decode_line(number: int, line: bytes) -> ListLine:
    """Return what one line says; raises LineError with the number given."""
    text = line.decode("utf-8", "surrogateescape")
    if text.startswith("#"):
        pages = _max_transfer(text[1:])
        return Comment(text[1:]) if pages is None else MaxTransfer(pages)
    if not text:
        raise LineError(number, "lists.empty_line")
    url, tab, referer = text.partition("\t")
    if not url:
        raise LineError(number, "lists.tab_first")
    if "\t" in referer:
        raise LineError(number, "lists.two_tabs")
    return UrlLine(url, referer if tab else None)


def complete_line(line: str) -> str:
    """Put `http://` before a line that an operator wrote without a scheme, as the source does."""
    return line if line.startswith(("http://", "https://", "#")) else "http://" + line


def _max_transfer(comment: str) -> int | None:
    name, equals, digits = comment.partition("=")
    good = name == "MaxTransfer" and equals and digits.isascii() and digits.isdigit()
    # `007` is a comment: as a number it would not come back as it went.
    good = good and len(digits) <= MAX_TRANSFER_DIGITS and str(int(digits)) == digits
    return int(digits) if good else None


def _text(text: str, what: str, *, forbidden: str, empty: bool = False) -> bytes:
    if not text and not empty:
        raise FormatError("lists.empty_text", what=what)
    if what == "URL" and text.startswith("#"):
        raise FormatError("lists.reads_as_comment", url=text[:80])
    return text_bytes(text, what, forbidden=forbidden)


def text_bytes(text: str, what: str, *, forbidden: str) -> bytes:
    """Return the bytes of a text on a line; raises FormatError for a character that ends it."""
    for character in forbidden:
        if character in text:
            raise FormatError(
                "lists.forbidden_character", what=what, text=text[:80], character=character
            )
    return text.encode("utf-8", "surrogateescape")
