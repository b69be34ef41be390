"""Lines of logs have times: by the Date of their answers, or estimates by their place."""

from __future__ import annotations

import pytest

from manager.operations.logs.log_times import LineTime, line_time

SINCE_MS = 1_790_000_000_000  # 2026-09-21 14:13:20 UTC
UNTIL_MS = SINCE_MS + 600_000
DATE = b"HTTP/1.1 200 OK\r\nDate: Mon, 21 Sep 2026 14:15:00 GMT\r\nServer: x\r\n\r\n"


def test_a_date_within_the_time_of_the_log_counts() -> None:
    """Also in other letters, and with the age that a cache adds."""
    assert line_time(DATE, 1, 9, SINCE_MS, UNTIL_MS) == LineTime(SINCE_MS + 100_000, True)
    lower = DATE.replace(b"Date", b"date")
    assert line_time(lower, 1, 9, SINCE_MS, UNTIL_MS) == LineTime(SINCE_MS + 100_000, True)
    cached = DATE.replace(b"Server: x", b"Age: 60")
    assert line_time(cached, 1, 9, SINCE_MS, UNTIL_MS) == LineTime(SINCE_MS + 160_000, True)


@pytest.mark.parametrize(
    "headers",
    [
        b"",
        b"X-Crawl-Outcome: timeout\r\n",
        b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        b"Date: yesterday afternoon\r\n",
        b"Date: Mon, 21 Sep 99999 14:15:00 GMT\r\n",
        b"X-Date: Mon, 21 Sep 2026 14:15:00 GMT\r\n",
        DATE.replace(b"Server: x", b"Age: 999999999"),
    ],
)
def test_else_the_place_in_the_log_gives_an_estimate(headers: bytes) -> None:
    """A clock that is far off, no date, no answer: lines are spread over the time of their log."""
    found = [line_time(headers, line, 10, SINCE_MS, UNTIL_MS) for line in (1, 5, 10)]
    assert [one.is_exact for one in found] == [False] * 3
    assert [one.at_ms for one in found] == [SINCE_MS + 60_000, SINCE_MS + 300_000, UNTIL_MS]


def test_a_report_without_a_time_leaves_the_date_or_nothing() -> None:
    """Nothing is invented."""
    assert line_time(b"", 1, 1, None, None) == LineTime(None)
    assert line_time(DATE, 1, 1, None, None) == LineTime(SINCE_MS + 100_000, True)
    assert line_time(b"", 1, 1, None, UNTIL_MS) == LineTime(UNTIL_MS)
