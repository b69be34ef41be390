"""Rules for the whole suite.

`make test` may skip what a machine lacks, and its last line counts that. `make test-all` sets
PRSM_TESTS=all: there a skipped test is a failed one, so that nothing goes unchecked in silence.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import settings

# The default suite tries the same examples each time, so that who changes something learns what
# that does; `make test-all` tries others each time, and finds what nobody thought of. How long one
# takes says how busy the machine is, and fails nothing.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("others", print_blob=True, deadline=None)
settings.load_profile("others" if os.environ.get("PRSM_TESTS") == "all" else "same")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything was asked for."""
    report = yield
    if report.skipped and os.environ.get("PRSM_TESTS") == "all" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but PRSM_TESTS=all: {report.longrepr}"
    return report


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name long or binary bytes by their length: gzip holds the time, and a name must not."""
    if isinstance(val, bytes) and not (
        len(val) < 40 and val.isascii() and val.decode().isprintable()
    ):
        return f"{len(val)}bytes"
    return None
