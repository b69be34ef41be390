"""Whether a page is what it was, and what the next request for it may be made conditional on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.modules.limits import PageLimits
from agent.modules.page.validators import settled, validators_of
from agent.modules.page.work import work_on
from agent.pipeline.messages.pages import Fetched
from shared.archive.capture import IDENTICAL_PAYLOAD, NOT_MODIFIED, Capture, Revisit
from shared.archive.encode import payload_digest

URL = "http://a.example/x"
DATE = "Sat, 21 Nov 2026 10:00:00 GMT"
BODY = b'<a href="/y">y</a>'


def capture(fields: str = "Content-Type: image/png\r\n", body: bytes = BODY) -> Capture:
    header = f"HTTP/1.1 200 OK\r\n{fields}\r\n".encode("latin-1")
    return Capture(URL, 5_000, b"", header, body)


def asked(digest_of: bytes = BODY) -> Capture:
    revisit = Revisit(IDENTICAL_PAYLOAD, URL, 1_000)
    page = capture("Content-Type: text/html\r\n")
    return replace(page, payload_digest=payload_digest(digest_of), revisit=revisit)


@pytest.mark.parametrize(
    ("fields", "validators"),
    [
        (f'ETag: "a"\r\nLast-Modified: {DATE}\r\n', ('"a"', DATE)),
        ('etag: W/"a b"\r\n', ("", "")),
        ('ETag: W/"a-b"\r\n', ('W/"a-b"', "")),
        ('ETag: "a"\r\nETag: "b"\r\n', ("", "")),
        ("ETag: a\r\n", ("", "")),
        (f'ETag: "{"a" * 300}"\r\n', ("", "")),
        ('ETag: "a\xe9"\r\n', ("", "")),
        ("Last-Modified: yesterday\r\n", ("", "")),
        (f"Last-Modified: {DATE}\r\n", ("", DATE)),
        ("", ("", "")),
    ],
)
def test_validators_have_their_form(fields: str, validators: tuple[str, str]) -> None:
    """What is not one field of the standard's form is not sent back."""
    assert validators_of(capture(f"Content-Type: image/png\r\n{fields}")) == validators


def test_what_may_hold_links_is_fetched_whole() -> None:
    """Its body must come, or the crawl would not find what it leads to."""
    assert validators_of(capture('Content-Type: text/html\r\nETag: "a"\r\n')) == ("", "")
    assert validators_of(capture('ETag: "a"\r\n')) == ("", "")


@pytest.mark.parametrize(
    ("fields", "body", "etag"),
    [
        ("application/octet-stream", b"\0\1\2", '"a"'),
        ("binary/octet-stream", b"\x89PNG", '"a"'),
        ("binary/octet-stream", b"<urlset></urlset>", ""),
        ("binary/octet-stream", b"http://a.example/1\n", ""),
        ("application/octet-stream", b"\x1f\x8b\x08", ""),
        ("application/octet-stream\r\nContent-Encoding: deflate", b"\x78\x9c", ""),
        ("text/plain", b"\0\1\2", ""),
    ],
)
def test_a_file_of_no_type_is_asked_for_conditionally(fields: str, body: bytes, etag: str) -> None:
    """While it is what it was it holds no links; a list, or what may be one, is fetched whole."""
    file = capture(f'Content-Type: {fields}\r\nETag: "a"\r\n', body)
    assert validators_of(file) == (etag, "")


def test_nothing_refers_to_what_is_not_whole() -> None:
    """Errors, cut bodies, empty ones and revisits are no originals."""
    page = capture('Content-Type: image/png\r\nETag: "a"\r\n')
    assert validators_of(replace(page, truncated="length")) is None
    assert validators_of(replace(page, body=b"")) is None
    assert validators_of(replace(page, response_header=b"HTTP/1.1 404 X\r\n\r\n")) is None
    assert validators_of(replace(page, body=b"", revisit=asked().revisit)) is None


def test_the_same_body_becomes_a_revisit() -> None:
    """Of its own capture, without the body; another body is stored whole."""
    same = settled(asked())
    assert (same.body, same.revisit, same.payload_digest) == (
        b"",
        asked().revisit,
        payload_digest(BODY),
    )
    other = settled(asked(b"something else"))
    assert (other.body, other.revisit, other.payload_digest) == (BODY, None, None)
    plain = capture()
    assert settled(plain) is plain
    unmodified = replace(asked(), body=b"", revisit=Revisit(NOT_MODIFIED, URL, 1_000))
    assert settled(unmodified) is unmodified


def test_the_links_of_an_unchanged_page_are_found() -> None:
    """A revisit has no body, but the page did."""
    page = Fetched(asked(), URL, "http://a.example:80/", "192.0.2.1", 1, 0, 0)
    work = work_on(page, PageLimits("prs"))
    assert work.links.urls == ("http://a.example/y",)
    assert work.processed.encoded.entry.mime == "warc/revisit"
    assert work.processed.encoded.entry.digest == payload_digest(BODY)
    assert work.processed.validators is None
    changed = replace(page, capture=asked(b"something else"))
    assert work_on(changed, PageLimits("prs")).processed.validators == ("", "")


@pytest.mark.parametrize(
    ("body", "validators"),
    [(b"p{}", ('"e"', "")), (b"p{background:url(x)}", ("", "")), (b"@import 'x';", ("", ""))],
)
def test_a_style_sheet_is_asked_for_by_its_validators_if_it_leads_nowhere(
    body: bytes, validators: tuple[str, str]
) -> None:
    """What it leads to would be lost with its body."""
    header = b'HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nETag: "e"\r\n\r\n'
    capture = Capture(
        url="http://a.example/s.css",
        fetched_at_ms=0,
        request=b"GET / HTTP/1.1\r\n\r\n",
        response_header=header,
        body=body,
        ip=None,
    )
    page = Fetched(capture, capture.url, "http://a.example:80/", "", 1, 1, 0)
    assert work_on(page, PageLimits("prs")).processed.validators == validators
