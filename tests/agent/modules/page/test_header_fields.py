"""Content-Type as the Web Platform Tests have it, and our few differences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.encodings.encoding_labels import codec_of
from agent.modules.page.header_fields import field_values, header_charset, link_targets
from shared.archive.http_block import media_type
from tests.fixtures_dir import fixture_folder

# The standard gives these no type at all. A page is worth more than its typing error, and white
# space is what Python takes for it.
READ_ALL_THE_SAME = {
    *("\x0bx/x", "\x0cx/x", "x/x\x0b", "x/x\x0c"),
    *("bogus/bogus/;", "text/html(;doesnot=matter"),
}
# A field has no line break.
NOT_IN_A_FIELD = {"\n\r\t x/x;x=x\n\r\t "}


def rows() -> list[dict[str, Any]]:
    folder = fixture_folder("mime-types")
    found = json.loads((folder / "mime-types.json").read_text())
    found += json.loads((folder / "generated-mime-types.json").read_text())
    return [row for row in found if isinstance(row, dict)]


def test_types_and_charsets_are_those_of_browsers() -> None:
    """Every row gives the type and encoding of the standard, but for those listed above."""
    different = set()
    checked = 0
    for row in rows():
        header = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\n" % row["input"].encode(
            "latin-1", "replace"
        )
        essence = (row["output"] or "unk").partition(";")[0]
        if media_type(header) != essence:
            different.add(row["input"])
        if "encoding" in row:
            label, encoding = header_charset(row["input"]), row["encoding"]
            wanted = codec_of(encoding) if encoding else None
            assert (codec_of(label) if label else None) == wanted, row
        checked += 1
    assert different == READ_ALL_THE_SAME | NOT_IN_A_FIELD
    assert checked > 900


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", [";", '"', "\\", '="', ";a=", "; charset", " "])
def test_hostile_values_take_one_pass(piece: str) -> None:
    """Length alone does no harm."""
    header_charset("text/html;" + piece * 60_000)


HEADER = st.sampled_from(
    (
        *(
            b"Link",
            b"link ",
            b" LINK",
            b"X-Link",
            b"Link-x",
            b"x",
            b":",
            b": ",
            b" ",
            b"\r\n",
            b"\n",
        ),
        *(b"\r", b"Link: a\r\n", b"\xe9", b"<b>; rel=next", b"\tv\t"),
    )
)


@given(st.lists(HEADER, max_size=15).map(b"".join))
def test_fields_are_found_line_by_line(header: bytes) -> None:
    """Whatever shape a header has, a field is a line with its name before the first colon."""
    expected = [
        value.strip().decode("latin-1")
        for key, colon, value in (line.partition(b":") for line in header.split(b"\n"))
        if colon and key.strip().lower() == b"link"
    ]
    assert field_values(header, "Link") == expected


def test_images_that_a_preload_chooses_from_are_targets() -> None:
    """The field may name no other."""
    value = '</a.png>; rel=preload; imagesrcset="/b.png 1x, /c.png 2x", <>; rel=next'
    assert [target for target, _ in link_targets(value)] == ["/a.png", "/b.png", "/c.png", ""]
