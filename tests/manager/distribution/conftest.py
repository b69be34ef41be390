"""A manager with captures, and a third party that may take them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manager.operations.people.clients import issue_token, register_client
from tests.manager.archived import hold
from tests.manager.asgi import Caller
from tests.manager.running import LOCAL, Agent, Running, running

HOST = "http://www.example.jp:80/"
OTHER = "http://other.example:80/"


@pytest.fixture
def prsm(tmp_path: Path) -> Iterator[Running]:
    """Return a manager with an empty archive."""
    with running(tmp_path) as opened:
        yield opened


@pytest.fixture
def agent(prsm: Running) -> Agent:
    """Return an agent that holds two hosts."""
    made = prsm.agent()
    hold(prsm, made, HOST, OTHER)
    return made


@pytest.fixture
def library(prsm: Running) -> Caller:
    """Return a third party whose token opens everything."""
    db = prsm.manager.db
    register_client(db, "library", "a@library.example", "research", LOCAL, prsm.clock())
    token = issue_token(db, "library", LOCAL, prsm.clock())
    return Caller(prsm.public, headers={"Authorization": f"Bearer {token.token}"})
