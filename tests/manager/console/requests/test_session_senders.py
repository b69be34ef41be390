"""A page takes a thread of its person's share, once its session was looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from manager.console.requests import access
from manager.console.requests.session_senders import KEPT, SessionSenders
from manager.operations.people.users import add_user
from manager.operations.request_senders import sender, work_for
from tests.manager.console.browser import Browser
from tests.manager.console.filled import PASSWORD
from tests.manager.running import LOCAL, Running, running


@pytest.fixture
def prsm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Return a manager with two people."""
    with running(tmp_path_factory.mktemp("senders")) as opened:
        for name in ("anna", "ben"):
            add_user(opened.manager.db, name, PASSWORD, "admin", LOCAL, opened.clock())
        yield opened


def test_people_behind_one_address_have_shares_of_their_own(
    prsm: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strangers have their address's together, whatever cookie they make up."""
    seen: list[str] = []
    found = access._find_user

    def noted(visit: Any) -> None:
        seen.append(sender())
        found(visit)

    monkeypatch.setattr(access, "_find_user", noted)
    for name in ("anna", "ben"):
        browser = Browser(prsm.public)
        browser.log_in(name)
        browser.get("/console/hosts")
        seen.clear()
        browser.get("/console/hosts")
        assert seen == [f"user {name}"]
    seen.clear()
    prsm.anybody.get("/console/hosts", headers={"Cookie": "prsm=made-up"})
    prsm.anybody.get("/console/hosts")
    assert seen == ["address 127.0.0.1"] * 2


def test_so_many_are_remembered() -> None:
    """The oldest are forgotten, and are their address's for one page."""
    senders = SessionSenders()
    for number in range(KEPT + 1):
        senders.note(f"token {number}", f"user{number}")
    work_for("address 192.0.2.1")
    senders.begin("token 0")
    assert sender() == "address 192.0.2.1"
    senders.begin(f"token {KEPT}")
    assert sender() == f"user user{KEPT}"
    work_for("")
