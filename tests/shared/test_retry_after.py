"""How long a server asks to be left alone."""

from __future__ import annotations

import pytest

from shared.retry_after import LONGEST_S, retry_after_s

NOW_S = 1_790_000_000.0
DATE = "Mon, 21 Sep 2026 14:13:20 GMT"  # the same moment


@pytest.mark.parametrize(
    ("values", "wait_s"),
    [
        *((["120"], 120.0), (["299.997"], 300.0), ([".5"], 1.0), (["0"], 0.0)),
        *((["30 s"], 30.0), (["30 seconds"], 30.0), (['"30"'], 30.0), (["+30"], 30.0)),
        *((["30; comment"], 30.0), (["60, 120"], 120.0), (["5", "10"], 10.0)),
        *((["99999999999999999999"], LONGEST_S), (["Mon, 21 Sep 2026 14:14:20 GMT"], 60.0)),
        *((["Mon, 21 Sep 2026 14:12:20 GMT"], 0.0), (["Mon, 21 Sep 2026 14:14:20 GMT", "5"], 60.0)),
    ],
)
def test_what_a_server_asks_for(values: list[str], wait_s: float) -> None:
    """Seconds, dates, and what servers send beside the grammar."""
    assert retry_after_s(values, None, NOW_S) == wait_s


@pytest.mark.parametrize(
    "value",
    ["", "-5", "soon", "1e3", "PT5S", "1h", "2099-10-21T07:28:00Z", "5,x", "," * 60, "1" * 65],
)
def test_what_asks_for_nothing(value: str) -> None:
    """Other texts are no time."""
    assert retry_after_s([value], None, NOW_S) is None


def test_a_date_is_meant_by_the_clock_of_the_server() -> None:
    """However wrong that is; without a readable Date ours counts."""
    ahead, later = "Mon, 21 Sep 2036 14:13:20 GMT", "Mon, 21 Sep 2036 14:14:20 GMT"
    assert retry_after_s([later], ahead, NOW_S) == 60.0
    assert retry_after_s(["Mon, 21 Sep 2026 14:14:20 GMT"], "nonsense", NOW_S) == 60.0
    assert retry_after_s(["Mon, 21 Sep 2026 14:14:20 GMT"], DATE, NOW_S + 9999) == 60.0
