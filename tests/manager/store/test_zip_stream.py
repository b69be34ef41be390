"""A streamed zip is what other programs take for a zip."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.store.captures import zip_stream
from manager.store.captures.zip_stream import ZipStream
from tests.programs import program

Entries = list[tuple[str, list[bytes], bool]]


def archive(entries: Entries) -> bytes:
    parts: list[bytes] = []
    with ZipStream() as made:
        for name, pieces, streamed in entries:
            if streamed:
                parts += made.streamed(name, pieces)
            else:
                parts.extend(made.whole(name, b"".join(pieces), 1_790_000_000_000))
        parts += made.finish()
    return b"".join(parts)


@given(
    st.lists(
        st.tuples(
            st.text("abcdefgh/äあ", min_size=1, max_size=20),
            st.lists(st.binary(max_size=300), max_size=4),
            st.booleans(),
        ),
        max_size=8,
        unique_by=lambda entry: entry[0],
    )
)
def test_python_reads_it(entries: Entries) -> None:
    """Names and bytes come back, in their order, and all checks hold."""
    with zipfile.ZipFile(io.BytesIO(archive(entries))) as read:
        assert read.testzip() is None
        assert read.namelist() == [name for name, _, _ in entries]
        for name, pieces, _ in entries:
            assert read.read(name) == b"".join(pieces)


def test_many_entries_need_zip64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 65,535 entries, and a directory that went to the disk."""
    monkeypatch.setattr(zip_stream, "MEMORY_BYTES", 1000)
    data = archive([(f"data/{number}", [b"x"], False) for number in range(66_000)])
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        assert len(read.namelist()) == 66_000
        assert read.read("data/65999") == b"x"


def test_offsets_beyond_4_gib() -> None:
    """An entry behind the 32-bit limit has its offset in 64 bits, and so has the directory."""
    with ZipStream() as made:
        first = b"".join(made.streamed("a", [b"a" * 10]))
        made._offset = 5 * 2**32
        second = b"".join(made.whole("b", b"bb"))
        directory = b"".join(made.finish())
    assert (5 * 2**32).to_bytes(8, "little") in directory
    assert b"PK\x06\x06" in directory
    assert first.startswith(b"PK\x03\x04")
    assert second.startswith(b"PK\x03\x04")


def test_unzip_reads_it(tmp_path: Path) -> None:
    """Info-ZIP finds no error."""
    path = tmp_path / "x.zip"
    path.write_bytes(archive([("html/a.zip", [b"abc", b"d" * 70_000], True), ("b", [b""], False)]))
    words = [program("unzip"), "-tq", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
