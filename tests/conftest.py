"""Rules for the whole suite.

`make test` may skip what a machine lacks, and says at its end which package brings it. Where CI is
true, a test that lacks a program has failed. `make test-all` sets PRSM_TESTS=all: there each
skipped test is a failed one, so that nothing goes unchecked in silence.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.programs import NOT_INSTALLED

# The default suite tries the same examples each time, so that who changes something learns what
# that does; `make test-all` tries others each time, four times as many, and finds what nobody
# thought of. How long one takes says how busy the machine is, and fails nothing.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("others", print_blob=True, deadline=None, max_examples=100)
settings.load_profile("others" if os.environ.get("PRSM_TESTS") == "all" else "same")


_config: pytest.Config | None = None
"""Of the process that shows the run; None in the worker processes."""

ALONE = "PRSM_TEST_ALONE"
"""Set where a test that forks has the interpreter for itself."""


def pytest_configure(config: pytest.Config) -> None:
    """Remember whose terminal shows the run."""
    global _config
    if not hasattr(config, "workerinput"):
        _config = config


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of all garbage collections, in this process.

    A full one visits each object of 900 test modules and of the programs: 0.3 s, dozens of times.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


def pytest_unconfigure() -> None:
    """Unfreeze what programs froze in this process; libraries report it as leaks."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each of several workers its share of the tests that start programs, and those first.

    The workers begin with equal parts of the list. In one part, the waiting of these tests would
    take longer than all others together; at the end of it, one worker would do the last of them.
    """
    for item in items:
        if item.get_closest_marker("scenario") and item.get_closest_marker("postgres"):
            item.add_marker("slow")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    modules: dict[str, list[pytest.Item]] = {}
    others: list[pytest.Item] = []
    for item in items:
        if item.get_closest_marker("e2e"):
            modules.setdefault(item.nodeid.split("::")[0], []).append(item)
        else:
            others.append(item)
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, module in enumerate(modules.values()):
        parts[number % workers] += module
    for number, part in enumerate(parts):
        end = len(items) * (number + 1) // workers - len(items) * number // workers
        taken = max(0, end - len(part))
        part.extend(others[:taken])
        del others[:taken]
    items[:] = [item for part in parts for item in part] + others


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything was asked for, or a program is missing in CI."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and (rule := _forbids(report)):
        report.outcome = "failed"
        report.longrepr = f"skipped, but {rule}: {report.longrepr}"
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a failed test at once; the rest of the suite may take minutes more."""
    terminal = _config and _config.pluginmanager.get_plugin("terminalreporter")
    if report.failed and terminal is not None:
        lines = str(report.longrepr).strip().splitlines() or [""]
        terminal.write_line(f"\nFAILED {report.nodeid} ({report.when}): {lines[-1]}", red=True)


def _forbids(report: pytest.TestReport) -> str:
    """Return the rule of this run that forbids a skip, or nothing."""
    if os.environ.get("PRSM_TESTS") == "all":
        return "PRSM_TESTS=all"
    lacks_program = NOT_INSTALLED in str(report.longrepr)
    return "CI=true" if lacks_program and os.environ.get("CI") == "true" else ""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that forks in a new interpreter; it passes where it passes there."""
    if pyfuncitem.get_closest_marker("forks") is None or ALONE in os.environ:
        return None
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", pyfuncitem.nodeid]
    outcome = subprocess.run(
        command,
        cwd=pyfuncitem.config.rootpath,
        env=os.environ | {ALONE: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout[-10_000:]
    return True


def pytest_make_parametrize_id(val: object) -> str | None:
    """Call long or binary bytes just that: every worker must find the same names, and gzip's
    output holds the time, or is a byte longer in one process of a thousand (`gzip_member`)."""
    if isinstance(val, bytes) and not (
        len(val) < 40 and val.isascii() and val.decode().isprintable()
    ):
        return "bytes"
    return None
