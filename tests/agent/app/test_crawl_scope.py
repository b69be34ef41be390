"""What an agent does with the scope of the crawl that its manager says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.app.manager_link import kept_scope as kept
from agent.app.manager_link.kept_scope import kept_scope
from agent.app.manager_link.manager_actions import ManagerActions
from agent.app.manager_link.manager_settings import ManagerSettings
from agent.app.runtime import Runtime
from agent.link.actions import ApplyScope, ForgetReported, ShowMessage, View
from agent.settings import Home
from shared.archive.errors import DiskFullError
from shared.crawl_scope.evaluation import EVERYTHING, ScopeRules
from shared.crawl_scope.rules import LINES_MOST
from shared.wire.sync import CrawlScope, SyncAnswer
from tests.agent.fakes import FakeClock
from tests.agent.link.pollers import make_poller

TWO = CrawlScope(version=2, text="include *.jp\nexclude *\n")
TOO_LONG = CrawlScope(version=3, text="include *\n" * (LINES_MOST + 1))


class Site:
    """An agent's settings with a home, and what its crawl was told."""

    def __init__(self, folder: Path) -> None:
        """Take up the scope as a process does that begins."""
        self.lines: list[str] = []
        nothing: Any = None
        self.home = Home(folder)
        self.version, self.rules = kept_scope(self.home)
        self.runtime = Runtime(self.home, FakeClock(), nothing, self.lines.append)
        session: Any = SimpleNamespace(use_scope_rules=self.use)
        self.settings = ManagerSettings(
            self.runtime, nothing, nothing, nothing, nothing, session, nothing
        )

    def use(self, version: int, rules: ScopeRules) -> None:
        """Note the rules."""
        self.version, self.rules = version, rules

    def allows(self, url: str) -> bool:
        """Return whether a URL is inside."""
        return self.rules.decide(url).is_inside


def full(*_: object) -> None:
    raise DiskFullError("disk.full")


def test_a_scope_holds_over_restarts(tmp_path: Path) -> None:
    """The process that follows begins with it."""
    site = Site(tmp_path)
    assert (site.version, site.rules) == (0, EVERYTHING)
    site.settings.apply_scope(TWO)
    for one in (site, Site(tmp_path)):
        assert one.version == 2
        assert (one.allows("http://a.jp/"), one.allows("http://a.com/")) == (True, False)


def test_a_scope_without_room_on_the_disk_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync after says the version in force, so that the manager sends it once more."""
    site, poller = Site(tmp_path), make_poller("a.example")
    for sequence, room in enumerate([False, False, True, True], start=1):
        with monkeypatch.context() as patch:
            if not room:
                patch.setattr(kept, "write_whole", full)
            view = View("working", 0, scope_held=site.version)
            assert poller.request(sequence, view, sequence * 100.0).scope_held == site.version
            scope = TWO if site.version != 2 else None
            answer = SyncAnswer(server_time_ms=0, next_poll_s=60.0, round=1, generation=0,
                                scope=scope)  # fmt: skip
            for action in poller.answered(sequence, answer, sequence * 100.0 + 1):
                if isinstance(action, ApplyScope):
                    site.settings.apply_scope(action.scope)
        assert site.version == (2 if room else 0)
    assert len(site.lines) == 2, "one line for each news, not for each sync"


def test_a_scope_of_a_newer_manager_keeps_the_earlier_one(tmp_path: Path) -> None:
    """It is beyond the limit of this release: the earlier one holds, also after a restart."""
    site = Site(tmp_path)
    site.settings.apply_scope(TWO)
    site.settings.apply_scope(TOO_LONG)
    for one in (site, Site(tmp_path)):
        assert (one.version, one.allows("http://a.com/")) == (2, False)
    assert "version 3 cannot be used" in site.lines[-1]


@pytest.mark.parametrize("text", [b"", b"{", b'{"version": 7, "text": 7}', None])
def test_an_agent_starts_whatever_lies_in_place_of_its_scope(
    tmp_path: Path, text: bytes | None
) -> None:
    """As after a release that took more: the manager's next answer brings the scope of now."""
    site = Site(tmp_path)
    if text is None:
        kept.write_scope(site.home, TOO_LONG)
    else:
        site.home.scope.write_bytes(text)
    assert kept_scope(site.home) == (0, EVERYTHING)


def test_a_full_disk_keeps_nothing_else_of_an_answer_from_being_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes behind is done, and the caller learns that there was no room."""
    site = Site(tmp_path)
    nothing: Any = None
    actions = ManagerActions(
        site.runtime, nothing, nothing, nothing, site.settings, nothing, nothing
    )
    monkeypatch.setattr(actions, "forget_reported", full)
    with pytest.raises(DiskFullError):
        asyncio.run(
            actions.carry_out([ForgetReported((), ()), ApplyScope(TWO), ShowMessage("hello")])
        )
    assert (site.version, actions.message) == (2, "hello")
