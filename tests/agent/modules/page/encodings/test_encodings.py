"""Encodings of pages against the indexes and the rules of the Encoding Standard."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.modules.page.encodings import decoded, encoded
from agent.modules.page.encodings.encoding_labels import codec_of
from tests.agent.modules.page.encodings.standard import (
    STEPS,
    Decoder,
    encode,
    index,
    ranged,
    reference,
)
from tests.fixtures_dir import fixture_folder

TWO_BYTE = ("big5hkscs", "cp949", "cp932", "euc_jp", "gb18030", "gbk")
SINGLE = {
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
NEVER_WRITTEN_IN = ("utf-8", "utf-16-le", "utf-16-be", "replacement")


def test_all_labels_and_no_other_are_known() -> None:
    """Each label of the standard names its encoding, in any case and with space around it."""
    encodings = json.loads((fixture_folder("encoding-indexes") / "encodings.json").read_text())
    codecs: dict[str, str] = {}
    labels = 0
    for section in encodings:
        for one in section["encodings"]:
            found = {codec_of(label) for label in one["labels"]}
            found |= {codec_of(f"\t{label.upper()}\n ") for label in one["labels"]}
            assert len(found) == 1, one
            (codec,) = found
            assert codec is not None
            name = one["name"].removesuffix("-I")
            assert codecs.setdefault(codec, name) == name
            labels += len(one["labels"])
    assert labels > 210
    for label in ("latin-1", "utf-7", "utf_8", "sjis-2004", "euc_jp", "hz", "\xa0utf-8", ""):
        assert codec_of(label) is None


@pytest.mark.parametrize(("name", "codec"), SINGLE.items())
def test_each_byte_of_a_single_byte_encoding_has_its_character(name: str, codec: str) -> None:
    """In both directions; a byte that the index lacks is malformed."""
    characters = index(name)
    for byte in range(0x80, 0x100):
        one = characters.get(byte - 0x80, "\ufffd")
        assert decoded(bytes((byte,)), codec) == one
        if one != "\ufffd":
            assert encoded(one, codec) == bytes((byte,))
    assert encoded("日", codec) == reference("日")


@pytest.mark.parametrize(
    ("codec", "octets", "text"),
    [
        ("cp1253", b"\x81\xaa\xd2\xff\x9f", "\x81\ufffd\ufffd\ufffd\x9f"),
        ("cp1255", b"\xca\xd9\x8a", "\u05ba\ufffd\x8a"),
        ("cp1257", b"\xa1\xa5\x81\xe0", "\ufffd\ufffd\x81ą"),
        ("cp1258", b"\xd2\x8a", "\u0309\x8a"),
        ("iso8859-8", b"\xa1\xe0\xfd", "\ufffdא\u200e"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"<a href=x>", "\ufffd"),
        ("replacement", b"", ""),
    ],
)
def test_other_encodings_follow_the_same_rules(codec: str, octets: bytes, text: str) -> None:
    """A control stands for a byte below 0xA0 that the vendor left out, U+FFFD for others."""
    assert decoded(octets, codec) == text


@pytest.mark.parametrize("codec", TWO_BYTE)
def test_all_sequences_of_two_bytes_are_read_by_the_standard(codec: str) -> None:
    """Each pair, alone, before ASCII and before another character: every pointer of the index."""
    for lead in range(0x80, 0x100):
        for trail in range(0x100):
            octets = bytes((lead, trail))
            assert decoded(octets, codec) == Decoder(codec).read(octets), octets
            octets += b"a"
            assert decoded(octets, codec) == Decoder(codec).read(octets), octets


def test_every_pointer_of_jis_x_0212_is_read() -> None:
    """EUC-JP has them behind 0x8F, and never writes them."""
    for pointer, one in index("jis0212").items():
        row, cell = divmod(pointer, 94)
        assert decoded(bytes((0x8F, row + 0xA1, cell + 0xA1)), "euc_jp") == one
    assert encoded("丂", "euc_jp") == reference("丂")


@pytest.mark.parametrize("codec", ["gb18030", "gbk"])
def test_sequences_of_four_bytes_are_read_by_the_ranges(codec: str) -> None:
    """At both ends of each range, and beyond."""
    starts = sorted(index("gb18030-ranges"))
    places = {at + step for at in (*starts, 7457, 39419, 1237575) for step in (-1, 0, 1)}
    for pointer in sorted(place for place in places if 0 <= place < 126 * 10 * 126 * 10):
        rest, fourth = divmod(pointer, 10)
        rest, third = divmod(rest, 126)
        first, second = divmod(rest, 10)
        octets = bytes((first + 0x81, second + 0x30, third + 0x81, fourth + 0x30))
        assert decoded(octets + b"x", codec) == (ranged(pointer) or "\ufffd") + "x", pointer


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        *(("jis0208", codec) for codec in ("euc_jp", "cp932", "iso2022_jp")),
        *(("big5", "big5hkscs"), ("euc-kr", "cp949"), ("gb18030", "gb18030"), ("gb18030", "gbk")),
        *(("iso-2022-jp-katakana", "iso2022_jp"), ("jis0212", "euc_jp")),
    ],
)
def test_every_character_of_an_index_is_written_as_the_standard_writes_it(
    name: str, codec: str
) -> None:
    """One by one: of several sequences the right one, or a reference where there is none."""
    step = 1 if codec not in ("big5hkscs", "cp932") else 3  # the reference searches its index
    for one in sorted(set(index(name).values()))[::step]:
        assert encoded(one, codec) == encode(one, codec), one


def test_half_width_katakana_become_full_width_in_iso_2022_jp() -> None:
    """It can read them, and writes none."""
    for place, one in index("iso-2022-jp-katakana").items():
        assert encoded(chr(0xFF61 + place), "iso2022_jp") == encoded(one, "iso2022_jp")
        assert decoded(b"\x1b(I" + bytes((0x21 + place,)), "iso2022_jp") == chr(0xFF61 + place)


SEQUENCES = st.sampled_from(
    (
        *(b"\x1b$B", b"\x1b$@", b"\x1b(B", b"\x1b(J", b"\x1b(I", b"\x1b", b"\x1b$", b"\x1b("),
        *(b"\x8f\xa2\xb7", b"\x8f\xa2\xb7", b"\x8f", b"\x8e\xb1", b"\x81\x35\xf4\x37", b"\x81\x30"),
        *(b"\xa1\xc1", b"\x88\x62", b"\xa6\xd9", b"\xff", b"\x80", b"\xa0", b"\xfd", b"-!", b"\\~"),
        *(b"\xa1\xa4", b"\x85\x40", b"\x0e", b"abc", b"<a>", b"\x91\xfc", b"\xfc\x4b", b"\x84\x31"),
    )
)


@given(
    st.lists(SEQUENCES | st.binary(max_size=4), max_size=12).map(b"".join),
    st.sampled_from(sorted(STEPS)),
)
def test_any_bytes_are_read_by_the_standard(body: bytes, codec: str) -> None:
    """Malformed ones too: which bytes are lost, and which are read again."""
    assert decoded(body, codec) == Decoder(codec).read(body)


CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(
    "①～〜−￢¬¥‾\\~€資料ｱﾞｰ\ue5e5\ue7c7\ue78d\ue81e\x0e\x1b\x80髙﨑十卅Ê\u0304\U00020000"
)


@given(st.text(CHARACTERS, max_size=12), st.sampled_from(sorted(STEPS)))
def test_any_text_is_written_by_the_standard(text: str, codec: str) -> None:
    """Escapes of ISO-2022-JP, four bytes of gb18030, and references for all that is lacking."""
    assert encoded(text, codec) == encode(text, codec)


@pytest.mark.parametrize("codec", NEVER_WRITTEN_IN)
def test_pages_without_an_encoding_of_their_own_write_utf8(codec: str) -> None:
    """No query is sent in UTF-16."""
    assert encoded("é日", codec) == "é日".encode()
