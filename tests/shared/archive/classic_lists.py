"""Readers of the source's lists, as a third party would write them."""

from __future__ import annotations

import struct
from typing import BinaryIO

from shared.archive.classic import ENTRY_BYTES, TransferDate

__all__ = ["read_dates", "read_links", "read_paths"]


def read_links(file: BinaryIO) -> list[tuple[str, str]]:
    """Return (target, source) of the lines of extserver.list."""
    lines = (line.partition("\t") for line in _lines(file))
    return [(target, source) for target, _, source in lines]


def read_paths(file: BinaryIO) -> list[str]:
    """Return the lines of transferredurl.list."""
    return _lines(file)


def read_dates(file: BinaryIO) -> list[TransferDate]:
    """Return the entries of transferredurldate.list."""
    data = file.read()
    assert len(data) % ENTRY_BYTES == 0
    return [TransferDate(*entry) for entry in struct.iter_unpack(">qqq", data)]


def _lines(file: BinaryIO) -> list[str]:
    text = file.read().decode("ascii")
    assert text == "" or text.endswith("\n")
    return text.splitlines()
