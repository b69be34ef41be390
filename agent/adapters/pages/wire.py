"""Messages over the pipes between the pool and a worker process.

    to the worker     frames of marshalled values: first what it must know, then lists of pages,
                      whose bodies follow their list as they are, one behind the other
    from the worker   frames of results: numbers, one text of fields, and the record's bytes

Down, everything is made by us, and `marshal` writes and reads a whole batch in one call. Up comes
what a process says that a hostile page may have taken over: it is read as numbers, text and bytes
only, and checked; nothing in it can make this process run code, or believe in another page.
Links that were checked lately are not checked again: most of a page's were on the page before.

Invariant: a page that comes out equals the one that went in; so does the work on it.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Sequence
from struct import Struct
from typing import Any, Final

from agent.pipeline.link_kinds import EMBEDDED, KIND_BITS, LINK_KINDS
from agent.pipeline.messages.pages import ETAG, MODIFIED, Fetched, PageWork, page_work
from shared.archive.capture import Capture, Revisit, RevisitProfile, Truncation
from shared.archive.cdxj import IndexEntry
from shared.archive.encode import EncodedCapture
from shared.crawl_scope.codes import LANGUAGES
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = [
    "FRAME",
    "MAX_FRAME_BYTES",
    "Failed",
    "batch_of",
    "frame_of",
    "pages_in",
    "result_of",
    "results_in",
]

FRAME: Final = Struct("<II")  # bytes that follow, and how many results they are
MAX_FRAME_BYTES: Final = 256 << 20

_RESULT: Final = Struct("<IIiII")  # bytes of text, bytes of data, status, offset, length
_FAILED: Final = 0xFFFFFFFF  # instead of bytes of data: the text says why
_NO_STATUS: Final = -1
_FIELDS: Final = 10

# Each kind as a separate ASCII character; any other value becomes one that is refused.
_PLAIN_KIND, _EMBEDDED_KIND, _NO_KIND = 0x20, 0x50, 0x7F
_KINDS_WRITTEN: Final = bytes(
    (_EMBEDDED_KIND if kind & EMBEDDED else _PLAIN_KIND) + (kind & KIND_BITS)
    if kind & KIND_BITS in LINK_KINDS
    else _NO_KIND
    for kind in range(256)
)
_KINDS_READ: Final = bytes(
    _KINDS_WRITTEN.index(character)
    if character != _NO_KIND and character in _KINDS_WRITTEN
    else _NO_KIND
    for character in range(256)
)

_URLS: Final = re.compile(
    r"(?:https?://(?:\[[0-9a-f:.]+\]|[^/:?#\[\]\s]+)(?::[0-9]{1,5})?/[!-~]*+(?:\n(?=h)|\Z))*"
)

MAX_CHECKED: Final = 1 << 15  # links
MAX_CHECKED_CHARACTERS: Final = 400
"""Of one that is remembered: so all of them are some 5 MB, at the very most 15."""

_checked: set[str] = set()

Value = Any
"""What marshal can write."""


@frozen
class Failed:
    """The work on a page raised: a defect of ours, named as its page's note will name it."""

    reason: str


def frame_of(*parts: bytes, count: int = 0) -> bytes:
    """Return a frame with `parts` one after the other, which are so many results."""
    return b"".join((FRAME.pack(sum(map(len, parts)), count), *parts))


def batch_of(pages: Sequence[tuple[Fetched, str]]) -> list[bytes]:
    """Return the parts of the frame of (page, why it is only archived) for a worker.

    Bodies are separate parts, so that no step need copy them.
    """
    values = marshal.dumps([_values(page, unread) for page, unread in pages])
    bodies = [body for page, _ in pages if (body := page.capture.body)]
    size = len(values) + sum(map(len, bodies))
    return [FRAME.pack(size, len(pages)) + values, *bodies]


def pages_in(payload: memoryview) -> list[tuple[Fetched, str]]:
    """Return the pages of a frame's payload."""
    values = marshal.loads(payload)  # noqa: S302  # ours; reads no further than the list
    at = len(payload) - sum(size for size, *_ in values)
    pages = []
    for size, *value in values:
        pages.append(_page(bytes(payload[at : at + size]), *value))
        at += size
    return pages


def result_of(work: PageWork | Failed) -> tuple[bytes, bytes, bytes]:
    """Return the parts of a result, to be written one after the other."""
    if isinstance(work, Failed):
        text = work.reason.encode("utf-8", "replace")
        return _RESULT.pack(len(text), _FAILED, 0, 0, 0), text, b""
    processed = work.processed
    encoded = processed.encoded
    entry = encoded.entry
    text = "\0".join(
        (
            entry.urlkey,
            entry.surt,
            entry.mime,
            entry.digest,
            processed.note,
            "" if processed.validators is None else "\t".join(processed.validators),
            "\n".join(work.links.urls),
            work.links.kinds.translate(_KINDS_WRITTEN).decode("ascii"),
            "\n".join(processed.outward),
            work.links.language,
        )
    ).encode()
    status = _NO_STATUS if entry.status is None else entry.status
    data = encoded.data
    return _RESULT.pack(len(text), len(data), status, entry.offset, entry.length), text, data


def results_in(payload: memoryview, pages: Sequence[Fetched]) -> list[PageWork | Failed]:
    """Return the work on pages, in their order, from a frame's payload.

    Raises FormatError: this is not what a sound worker writes.
    """
    results: list[PageWork | Failed] = []
    at, size = 0, len(payload)
    for page in pages:
        if at + _RESULT.size > size:
            raise FormatError("agent_errors.page_result_begins", at=at, size_bytes=size)
        text_bytes, data_bytes, status, offset, length = _RESULT.unpack_from(payload, at)
        at += _RESULT.size
        failed = data_bytes == _FAILED
        end = at + text_bytes + (0 if failed else data_bytes)
        if end > size:
            raise FormatError("agent_errors.page_result_ends", at=end, size_bytes=size)
        try:
            text = str(payload[at : at + text_bytes], "utf-8")
        except UnicodeDecodeError as error:
            raise FormatError("agent_errors.page_result_text") from error
        if failed:
            results.append(Failed(text))
        else:
            data = bytes(payload[at + text_bytes : end])
            results.append(_work(page, text, data, status, offset, length))
        at = end
    if at != size:
        raise FormatError("agent_errors.page_results_followed", more_bytes=size - at)
    return results


def _values(page: Fetched, unread: str) -> tuple[Value, ...]:
    capture = page.capture
    revisit = capture.revisit
    return (
        len(capture.body),
        unread,
        (
            *(page.url, page.host, page.address, page.job, page.depth, page.redirects),
            page.is_rules,
            page.link_kind,
            page.asks_language,
        ),
        (
            capture.url,
            capture.fetched_at_ms,
            capture.request,
            capture.response_header,
            capture.ip,
            capture.truncated,
            capture.payload_digest,
        ),
        None
        if revisit is None
        else (revisit.profile, revisit.refers_to_uri, revisit.refers_to_date_ms),
        capture.extra,
    )


def _page(
    body: bytes,
    unread: str,
    page: tuple[str, str, str, int, int, int, bool, int, bool],
    capture: tuple[str, int, bytes, bytes, str | None, Truncation | None, str | None],
    revisit: tuple[RevisitProfile, str, int] | None,
    extra: dict[str, str],
) -> tuple[Fetched, str]:
    refers = None if revisit is None else Revisit(*revisit)
    return Fetched(Capture(*capture[:4], body, *capture[4:], refers, extra), *page), unread


def _work(page: Fetched, text: str, data: bytes, status: int, offset: int, length: int) -> PageWork:
    fields = text.split("\0")
    if len(fields) != _FIELDS or not offset + length == len(data):
        raise FormatError(
            "agent_errors.page_result_fields", fields=len(fields), offset=offset, length=length
        )
    urlkey, surt, mime, digest, note, validators, urls, kinds_text, outward, language = fields
    found, far = _links(urls), _links(outward)
    entry = IndexEntry(
        urlkey,
        surt,
        page.capture.url,
        page.capture.fetched_at_ms,
        mime,
        None if status == _NO_STATUS else status,
        digest,
        offset,
        length,
    )
    encoded, kinds = EncodedCapture(data, entry), _kinds(kinds_text, len(found))
    if language and language not in LANGUAGES:
        raise FormatError("agent_errors.page_result_language")
    valid = _validators(validators)
    return page_work(page, encoded, found, kinds, far, note, valid, language)


def _kinds(text: str, count: int) -> bytes:
    """Return the kinds of so many links, each one that there is."""
    kinds = text.encode("ascii", "replace").translate(_KINDS_READ)
    if len(kinds) not in (0, count) or _NO_KIND in kinds:
        raise FormatError("agent_errors.page_result_kinds")
    return kinds


def _links(text: str) -> tuple[str, ...]:
    """Return links that are canonical URLs, as far as anybody here relies on it."""
    if not text:
        return ()
    urls = tuple(text.split("\n"))
    unknown = set(urls).difference(_checked)
    if unknown:
        if "" in unknown or not _URLS.fullmatch("\n".join(unknown)):
            raise FormatError("agent_errors.page_result_links")
        if len(_checked) + len(unknown) > MAX_CHECKED:
            _checked.clear()  # costs less than to know which of them was of use
        if len(unknown) <= MAX_CHECKED:
            if len(max(unknown, key=len)) > MAX_CHECKED_CHARACTERS:
                unknown = {url for url in unknown if len(url) <= MAX_CHECKED_CHARACTERS}
            _checked.update(unknown)
    return urls


def _validators(text: str) -> tuple[str, str] | None:
    """Return what a later request is made of: nothing that could be more than a field's value."""
    if not text:
        return None
    etag, _, modified = text.partition("\t")
    if (etag and not ETAG.fullmatch(etag)) or (modified and not MODIFIED.fullmatch(modified)):
        raise FormatError("agent_errors.page_result_validators")
    return etag, modified
