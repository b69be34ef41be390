"""The ledgers that must keep the contract: add a case to `CASES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agent.adapters.installation import TINY, SqliteCase
from tests.contracts.ledger.case import FakeCase, LedgerCase

CASES: dict[str, Callable[[Path], LedgerCase]] = {
    "memory": lambda folder: FakeCase(),
    "sqlite": SqliteCase,
    "sqlite, tiny": lambda folder: SqliteCase(folder, TINY),
}


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LedgerCase]:
    """One empty installation."""
    made = CASES[request.param](tmp_path)
    yield made
    made.end()
