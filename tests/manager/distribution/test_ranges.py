"""Ranges and conditions are understood as RFC 9110 says."""

from __future__ import annotations

import pytest

from manager.distribution.ranges import Asked, asked_bytes, http_date

ETAG, CHANGED = '"abc"', http_date(1_790_000_000_000)


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({}, Asked(200, 0, 100)),
        ({"range": "bytes=0-9"}, Asked(206, 0, 10)),
        ({"range": "bytes=90-"}, Asked(206, 90, 100)),
        ({"range": "bytes=90-500"}, Asked(206, 90, 100)),
        ({"range": "bytes=-10"}, Asked(206, 90, 100)),
        ({"range": "bytes=-500"}, Asked(206, 0, 100)),
        ({"range": "bytes=100-"}, Asked(416, 0, 0)),
        ({"range": "bytes=-0"}, Asked(416, 0, 0)),
        ({"range": "bytes=9-3"}, Asked(200, 0, 100)),
        ({"range": "bytes=0-1,5-6"}, Asked(200, 0, 100)),
        ({"range": "items=0-1"}, Asked(200, 0, 100)),
        ({"range": "bytes=-"}, Asked(200, 0, 100)),
        ({"range": "bytes=" + "9" * 30 + "-"}, Asked(200, 0, 100)),
        ({"range": "bytes=50-", "if-range": ETAG}, Asked(206, 50, 100)),
        ({"range": "bytes=50-", "if-range": CHANGED}, Asked(206, 50, 100)),
        ({"range": "bytes=50-", "if-range": '"old"'}, Asked(200, 0, 100)),
        ({"if-none-match": '"x", W/"abc"'}, Asked(304, 0, 0)),
        ({"if-none-match": '"x"'}, Asked(200, 0, 100)),
    ],
)
def test_what_is_asked_for(fields: dict[str, str], asked: Asked) -> None:
    """Status and bytes of the answer for a file of 100 bytes."""
    assert asked_bytes(fields, 100, ETAG, CHANGED) == asked
