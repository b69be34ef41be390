"""Content encodings: taken off, counted, and kept as far as they are sound."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from shared.archive.content_coding import UNDERSTOOD, Decoded, decode_content, decoded_body
from tests.fixtures_dir import fixture_folder

LIMIT = 1_000_000


def sample(name: str) -> bytes:
    return (fixture_folder("compressed-bodies") / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "encodings"),
    [
        ("html-gzip.bin", "gzip"),
        ("html-gzip.bin", "x-gzip"),
        ("html-rawdeflate.bin", "deflate"),
        ("html-zlibdeflate.bin", "deflate"),
        ("html-gzip.bin", "deflate"),  # what a few servers call it
        ("html-gzip.bin", '"gzip"'),
        ("html-gzip.bin", "gzip;q=1.0"),
        ("html-br.bin", "br"),
        ("html-zstd-static-content-size.bin", "zstd"),
        ("html-zstd-static-no-content-size.bin", "zstd"),
        ("html-zstd-streaming-no-content-size.bin", "zstd"),
        ("html-gzip-deflate.bin", "gzip, deflate"),
        ("html-gzip-deflate-gzip.bin", " GZIP,deflate , identity, gzip"),
    ],
)
def test_takes_encodings_off(name: str, encodings: str) -> None:
    """Each way of writing the encodings leads to the page."""
    decoded = decode_content(sample(name), encodings, LIMIT)
    assert decoded.note == ""
    assert decoded.body.lstrip()[:5].lower() in (b"<!doc", b"<html")
    assert decoded.body.rstrip().endswith(b"</html>")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_stops_at_the_limit(encoding: str) -> None:
    """A small body that would become a large one is cut at the limit, and says so."""
    decoded = decode_content(sample(f"bomb-{encoding}.bin"), encoding, LIMIT)
    assert len(decoded.body) == LIMIT
    assert "more than 1000000 bytes" in decoded.note


def test_keeps_what_came_before_the_end_was_lost() -> None:
    """A cut gzip stream gives all that it holds, and a note."""
    decoded = decode_content(sample("unexpected-eof.gz"), "gzip", LIMIT)
    # The sample of the outcome was written as UTF-8, each byte as a character.
    assert decoded.body.decode("latin-1").encode() == sample("unexpected-eof-output.txt")
    assert "ends early" in decoded.note


@pytest.mark.parametrize(
    ("name", "end"),
    [("truncated-crc-error.gz", b"</html"), ("truncated-crc-error-short.gz", b"</html>")],
)
def test_a_torn_end_costs_what_is_missing_and_a_note(name: str, end: bytes) -> None:
    """Without its checksum and last bits a page is there to the last whole byte."""
    decoded = decode_content(sample(name), "gzip", LIMIT)
    assert decoded.body.rstrip().endswith(end)
    assert decoded.note.startswith("decode-error")


@given(st.binary(min_size=200, max_size=3000), st.data())
def test_damage_loses_only_what_is_behind_it(plain: bytes, data: st.DataObject) -> None:
    """Of a stream cut anywhere a prefix of the page comes out."""
    encoding, packed = data.draw(
        st.sampled_from(
            [
                ("gzip", gzip.compress(plain)),
                ("deflate", zlib.compress(plain)),
                ("br", brotli.compress(plain)),
                ("zstd", zstd.compress(plain)),
            ]
        )
    )
    cut = data.draw(st.integers(1, len(packed) - 1))
    decoded = decode_content(packed[:cut], encoding, LIMIT)
    assert plain.startswith(decoded.body)
    assert decoded.note


@given(
    st.binary(max_size=500),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip,br,deflate,zstd"]),
)
def test_any_bytes_are_a_body(body: bytes, encodings: str) -> None:
    """Nothing a server sends raises or grows beyond the limit."""
    assert len(decode_content(body, encodings, 1000).body) <= 1000


@given(st.binary(max_size=300), st.integers(0, 400))
def test_the_limit_is_exact(plain: bytes, limit: int) -> None:
    """A page of exactly the limit is whole; one byte more is cut."""
    for encoding, packed in (
        ("gzip", gzip.compress(plain)),
        ("deflate", zlib.compress(plain)),
        ("br", brotli.compress(plain)),
        ("zstd", zstd.compress(plain)),
    ):
        decoded = decode_content(packed, encoding, limit)
        assert decoded.body == plain[:limit]
        assert bool(decoded.note) == (len(plain) > limit)


def test_members_follow_one_another_and_garbage_is_ignored() -> None:
    """Several gzip members are one page; bytes behind the last are none of it."""
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + b"\n\n"
    assert decode_content(packed, "gzip", LIMIT).body == b"one two"
    assert decode_content(packed, "gzip", LIMIT).note == ""


@pytest.mark.parametrize(
    "encodings",
    [
        *("none", "utf-8", "text/html", "identity, none", " , ,", "compress", "UTF-8;q=1", "lzma"),
        *("null", "8bit", "gzip;q=1", "aws-chunked"),
    ],
)
def test_a_name_that_is_no_encoding_means_nothing(encodings: str) -> None:
    """The body is read as it came, as browsers read it."""
    decoded = decode_content(b"<p>page", encodings, LIMIT)
    assert (decoded.body, decoded.note) == (b"<p>page", "")


@pytest.mark.parametrize(
    "encodings", ["gzip", " GZip ", "x-gzip", "X-GZIP,", "none, gzip", "gzip,none"]
)
def test_encodings_are_known_in_any_spelling(encodings: str) -> None:
    """Case, space, empty entries and unknown neighbours change nothing."""
    assert decode_content(gzip.compress(b"<p>page"), encodings, LIMIT).body == b"<p>page"


def test_an_unknown_encoding_is_named_in_one_line() -> None:
    """Whatever bytes its name has."""
    unknown = decode_content(b"raw", "zst\u0085d " + "x" * 99, LIMIT).unknown
    assert unknown.startswith("zst")
    assert unknown.isprintable()


def test_all_fields_of_an_encoding_count() -> None:
    """Two fields are one list."""
    header = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: deflate\r\n\r\n"
    assert decoded_body(header, zlib.compress(gzip.compress(b"<p>page"))) == b"<p>page"


def test_too_many_encodings_are_left_on() -> None:
    """A chain of encodings has a limit."""
    assert "6 encodings" in decode_content(b"x", ",".join(["gzip"] * 6), LIMIT).note


def test_takes_off_what_may_be_asked_for() -> None:
    """What the settings let a partner ask for is understood."""
    for encoding in UNDERSTOOD:
        assert "unknown" not in decode_content(b"x", encoding, LIMIT).note


def test_zstd_frames_follow_one_another() -> None:
    """Several frames are one page, as several gzip members are."""
    assert decode_content(zstd.compress(b"a") + zstd.compress(b"b"), "zstd", LIMIT).body == b"ab"


def test_a_zstd_frame_may_not_ask_for_gigabytes() -> None:
    """A window beyond what HTTP allows is refused before memory is taken for it."""
    greedy: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    frame = zstd.ZstdCompressor(options=greedy)
    packed = frame.compress(b"x" * 100, mode=frame.FLUSH_BLOCK) + frame.flush()
    decoded = decode_content(packed, "zstd", LIMIT)
    assert decoded.body == b""
    assert decoded.note.startswith("decode-error: zstd")


def test_feeds_and_archives_of_others_are_bodies() -> None:
    """Every sample of the set is taken off or kept as it came, whatever it is announced as."""
    samples = sorted(fixture_folder("compressed-bodies").glob("*.*"))
    assert len(samples) >= 20
    for path in samples:
        for encoding in ("", "gzip", "deflate", "br", "zstd", "bzip2"):
            assert len(decode_content(path.read_bytes(), encoding, LIMIT).body) <= LIMIT


def _header(encodings: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Encoding: {encodings}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("name", "encodings"),
    [
        ("html-gzip.bin", "deflate"),  # what a few servers call it
        ("html-gzip.bin", '"gzip"'),
        ("html-gzip.bin", "gzip;q=1.0"),
        ("html-br.bin", "br"),
        ("html-zstd-streaming-no-content-size.bin", "zstd"),
        ("html-gzip-deflate.bin", "gzip, deflate"),
    ],
)
def test_an_export_has_the_page(name: str, encodings: str) -> None:
    """What an export is made of is the page without its encodings."""
    body = decoded_body(_header(encodings), sample(name))
    assert body.rstrip().endswith(b"</html>")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_exported_as_it_is_stored(encoding: str) -> None:
    """What would become too long, is no such stream, or has an unknown encoding loses nothing."""
    bomb = sample(f"bomb-{encoding}.bin")
    assert decoded_body(_header(encoding), bomb, LIMIT) is bomb
    plain = b"Not what its header says."
    assert decoded_body(_header(encoding), plain) is plain
    assert decoded_body(_header(f"{encoding}, lzma"), bomb) is bomb
    assert decoded_body(_header(", ".join([encoding] * 9)), bomb) is bomb


def test_a_cut_body_gives_what_can_be_read() -> None:
    """As an archive has it that was told to stop in the middle."""
    cut = sample("unexpected-eof.gz")
    assert len(decoded_body(_header("gzip"), cut)) > len(cut)


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("body", [b"<!DOCTYPE html><p>403 Forbidden", b"User-agent: *\nDisallow:"])
def test_text_that_has_no_encoding_is_taken_as_it_is(encoding: str, body: bytes) -> None:
    """A server's own pages of errors are often not packed, though the header says so."""
    assert decode_content(body, encoding, LIMIT) == Decoded(body, absent=encoding)


def test_an_encoding_below_an_absent_one_is_taken_off() -> None:
    """`gzip, gzip` of what was packed once."""
    decoded = decode_content(gzip.compress(b"once"), "gzip, gzip", LIMIT)
    assert (decoded.body, decoded.note, decoded.absent) == (b"once", "", "gzip")
