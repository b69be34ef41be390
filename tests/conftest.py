"""Rules for the whole suite.

`make test` may skip what a machine lacks, and its last line counts that. `make test-all` sets
PRSM_TESTS=all: there a skipped test is a failed one, so that nothing goes unchecked in silence.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


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
