"""One place knows whether a request may be sent, and says why not in the order that helps most."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.app.manager_link.fetch_permission import Permission
from agent.control.drain import Holds
from agent.pipeline.permit import PermitGate
from shared.messages import Message
from shared.windows import Windows
from tests.agent.link.fake_clock import FakeClock

NIGHT = ((2 * 60, 8 * 60),)


class Site:
    """A permission with its clock and gate."""

    def __init__(self) -> None:
        self.clock = FakeClock(now_s=0.0)
        self.gate = PermitGate(self.clock, 10.0)
        self.permission = Permission(self.gate, Windows(UTC, NIGHT, NIGHT), self.clock)

    def at(self, text: str) -> None:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        self.clock.epoch_0_ms = round(moment.timestamp() * 1000 - self.clock.boottime_s() * 1000)


@pytest.fixture
def site() -> Site:
    site = Site()
    site.at("2026-11-20 03:00")
    site.gate.grant(1, 3600.0, 0.0)
    return site


def test_a_permit_within_the_hours(site: Site) -> None:
    """Permit and hours are enough; the permit's end is the end."""
    assert (site.permission.may_send(), site.permission.may_start()) == (True, True)
    assert site.permission.reason is None
    site.clock.sleep(3590.0)
    assert not site.permission.may_send()
    assert site.permission.reason == Message("agent.no_permit", why=Message("agent.no_sync_yet"))


def test_the_hours_end_to_the_second(site: Site) -> None:
    """The last moment of the window is inside, the next is not."""
    site.gate.grant(1, 10**6, 0.0)
    site.clock.advance(5 * 3600 - 1)
    assert site.permission.may_send()
    site.clock.advance(1)
    assert not site.permission.may_send()
    assert str(site.permission.reason) == ("outside the hours of this site; they begin Sat 02:00")


def test_a_clock_that_was_set_back_is_noticed(site: Site) -> None:
    """Hours follow the wall clock, wherever it is set to."""
    site.gate.grant(1, 10**6, 0.0)
    assert site.permission.window_open
    site.at("2026-11-19 12:00")
    assert not site.permission.window_open
    site.at("2026-11-19 04:00")
    assert site.permission.window_open


def test_holds_and_room(site: Site) -> None:
    """A hold stops requests; a lack of room only new ones; the hold is said first."""
    permission = site.permission
    permission.disk = Message("agent.disk_full", why="no space")
    permission.outbox = Message.of_text("reports wait")
    assert (permission.may_send(), permission.may_start()) == (True, False)
    assert permission.reason == permission.disk
    permission.holds = Holds().pause("site")
    assert not permission.may_send()
    assert "prs pause" in str(permission.reason)
    permission.holds, permission.disk = Holds(), None
    assert permission.reason == permission.outbox
