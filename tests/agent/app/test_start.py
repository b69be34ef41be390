"""What an agent imports before it crawls."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

# By what needs them: collection, the commands for people, the parser, tests of others.
HEAVY = {
    *("cryptography", "http.server", "multiprocessing", "agent.collection.process"),
    *("aiodns", "pycares", "pydantic"),
    *("rich", "pygments", "httpx._main", "fastapi", "sqlalchemy", "manager"),
    *("selectolax", "chardetng_py", "agent.modules.page.work", "agent.modules.page.html.elements"),
    *("fastwarc", "warcio", "duckdb", "pyarrow", "scipy"),
}
RUN = "import agent.cli.run, agent.app.startup.agent_run"
WORKER = "import agent.app.startup.page_worker"
NOT_FOR_WORKERS = HEAVY - {
    *("selectolax", "agent.modules.page.work", "agent.modules.page.html.elements"),
} | {"asyncio", "httpx", "pydantic", "numpy", "pycurl", "click", "agent.link", "subprocess"}
NOT_BEFORE_THE_FORK = HEAVY | {"asyncio", "httpx", "pycurl", "numpy", "agent.link"}
NOT_TO_LOOK = NOT_BEFORE_THE_FORK | {"agent.pipeline", "agent.adapters", "agent.modules", "re2"}


def _said(program: str, told: str) -> Any:
    words = f"import sys, json; {program}; print(json.dumps({told}))"
    outcome = subprocess.run(
        [sys.executable, "-c", words], capture_output=True, text=True, check=True
    )
    return json.loads(outcome.stdout)


def _imported(program: str) -> set[str]:
    return set(_said(program, "[name for name in sys.modules if sys.modules[name]]"))


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        (RUN, HEAVY),
        (WORKER, NOT_FOR_WORKERS),
        ("import agent.cli.run, agent.app.startup.page_worker_fork_server", NOT_BEFORE_THE_FORK),
        ("import agent.cli.run", NOT_TO_LOOK),
    ],
    ids=["prs run", "a page worker", "before the fork", "to see that an agent is well"],
)
def test_nothing_is_imported_that_a_crawl_does_not_need(program: str, heavy: set[str]) -> None:
    """Most of a short run is imports, and a worker holds what was imported before it was forked."""
    assert _imported(program) & heavy == set()


def test_numpy_comes_without_its_documentation() -> None:
    """And works: the texts are a fifth of its import."""
    told = "[(numpy.zeros.__doc__ or '')[:20], (numpy.arange(4) @ numpy.arange(4)).item()]"
    assert _said("import numpy", told)[0]
    assert _said(f"{RUN}; import numpy", told) == ["", 14]
