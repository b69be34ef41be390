"""Only bytes that continue the file are taken for it."""

from __future__ import annotations

import pytest

from client.errors import CutError
from client.ranges import read_rest, rest_fields


def test_what_is_asked() -> None:
    """The whole at first; then what is missing, if the file is still the same."""
    assert rest_fields(0, '"x"') == {"Accept-Encoding": "identity"}
    assert rest_fields(5, '"x"')["Range"] == "bytes=5-"
    assert rest_fields(5, '"x"')["If-Range"] == '"x"'
    assert "If-Range" not in rest_fields(5, 'W/"x"')  # RFC 9110: a weak one never matches
    assert "If-Range" not in rest_fields(5, "")


@pytest.mark.parametrize(
    ("status", "fields", "start"),
    [
        (200, {"content-length": "100"}, 0),
        (200, {}, 0),
        (206, {"content-range": "bytes 10-99/100"}, 10),
        (206, {"content-range": "bytes 10-99/*"}, 10),
        (206, {"content-range": "bytes 10-20/100"}, 10),
        (206, {"content-range": "bytes 10-99/100", "content-encoding": "identity"}, 10),
    ],
)
def test_what_continues(status: int, fields: dict[str, str], start: int) -> None:
    """The whole file again, or bytes from where it was asked."""
    assert read_rest(status, fields, 10, 100) == start


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (200, {"content-length": "7"}),  # a proxy's own page
        (200, {"content-length": "100", "content-encoding": "gzip"}),
        (206, {}),
        (206, {"content-range": "bytes 0-99/100"}),
        (206, {"content-range": "bytes 11-99/100"}),
        (206, {"content-range": "bytes 10-100/101"}),
        (206, {"content-range": "bytes 10-99/200"}),
        (206, {"content-range": "lines 10-99/100"}),
        (206, {"content-range": "bytes 10-" + "9" * 30 + "/100"}),
        (204, {}),
    ],
)
def test_what_does_not(status: int, fields: dict[str, str]) -> None:
    """Another file's length, another place, an encoding, no place at all."""
    with pytest.raises(CutError):
        read_rest(status, fields, 10, 100)
