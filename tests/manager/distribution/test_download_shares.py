"""A token has so many downloads under way, and the next is told to come again."""

from __future__ import annotations

from pathlib import Path

import pytest

from manager.distribution import Downloads, Usage
from manager.errors import SlowDownError
from manager.operations.people.clients import (
    Client,
    authenticate_client,
    issue_token,
    register_client,
)
from tests.manager.running import LOCAL, Running, running


def token(prsm: Running, name: str) -> Client:
    """Return a third party as its token shows it."""
    db, now_ms = prsm.manager.db, prsm.clock()
    register_client(db, name, "a@library.example", "research", LOCAL, now_ms)
    return authenticate_client(db, issue_token(db, name, LOCAL, now_ms).token, now_ms)


def test_one_token_leaves_connections_to_others(tmp_path: Path) -> None:
    """Of another token nothing is refused; when one has ended, the next may begin."""
    with running(tmp_path) as prsm:
        db = prsm.manager.db
        downloads = Downloads(db, Usage(db, prsm.clock), prsm.clock, of_a_token=2)
        greedy, other = token(prsm, "greedy"), token(prsm, "other")
        downloads.check_share(greedy)
        with downloads.begin(greedy, "a", 10, 0), downloads.begin(greedy, "b", 10, 0):
            with pytest.raises(
                SlowDownError, match=r"the limit is 2 \(archive.downloads_per_token"
            ):
                downloads.check_share(greedy)
            downloads.check_share(other)
        downloads.check_share(greedy)


def test_the_setting_holds(tmp_path: Path) -> None:
    """The manager's own downloads go by it."""
    with running(tmp_path, "archive.downloads_per_token=1") as prsm:
        downloads, one = prsm.manager.archive.downloads, token(prsm, "library")
        with downloads.begin(one, "a", 10, 0), pytest.raises(SlowDownError):
            downloads.check_share(one)
