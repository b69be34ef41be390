"""A running agent takes up what is changed in its prs.toml."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.agent.app.scene import Scene, scene

pytestmark = pytest.mark.e2e

OLD_NAMES = {
    "network.resolver": "dns.servers",
    "network.allowed_ranges": "dns.allowed_networks",
    "manager.backoff_max_s": "manager.max_backoff_s",
    "politeness.fast_interval_s": "politeness.fast_host_interval_s",
    "politeness.times_last": "politeness.delay_factor",
    "limits.retry_s": "limits.retry_delay_s",
    "links.off": "links.disabled_kinds",
    "reports.every_s": "reports.log_interval_s",
}
"""The settings of a scene as version 0.1 named them."""


def change(it: Scene, before: str, after: str) -> None:
    file = it.home / "prs.toml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def old_names(text: str, dns_port: int) -> str:
    """Return the prs.toml of a scene as version 0.1 wrote it."""
    new = f'[dns]\nservers = ["127.0.0.1:{dns_port}"]\nallowed_networks = ["127.0.0.0/8"]\n'
    old = f'resolver = ["127.0.0.1:{dns_port}"]\nallowed_ranges = ["127.0.0.0/8"]\n'
    assert new in text
    text = text.replace(new, "").replace("[network]\n", f"[network]\n{old}")
    for before, now in list(OLD_NAMES.items())[2:]:
        line = f"\n{now.partition('.')[2]} = "
        assert line in text
        text = text.replace(line, f"\n{before.partition('.')[2]} = ")
    return text


@pytest.mark.slow
def test_hours_and_interval_change_while_it_runs(tmp_path: Path) -> None:
    """Closed hours stop it, open ones let it go on; what must wait for the next start is said."""
    away = '["00:00-01:00"]' if 2 < datetime.now(UTC).hour < 22 else '["12:00-13:00"]'
    closed = f'[windows]\nzone = "UTC"\nweekday = {away}\nweekend = {away}\n\n'
    hours = "windows.weekday, windows.weekend, windows.zone hold from now on"
    with scene(tmp_path, hosts=3, pages_mean=60, interval_s=0.3) as it:
        it.give_all()
        it.agent.start()
        it.until("requests", lambda: len(it.requests()) > 3)
        change(it, "[disk]", f"{closed}[pages]\nworkers = 1\n\n[disk]")
        it.until("the hours", lambda: hours in it.said())
        assert "pages.workers holds from the next start on" in it.said()
        it.until("a pause", lambda: "not fetching: outside the hours of this site" in it.said())
        assert it.quiet_for(1.5)
        change(it, closed, "")
        change(it, "interval_s = 0.3", "interval_s = 0.05")
        seen = len(it.requests())
        it.until("requests again", lambda: len(it.requests()) > seen)
        assert "politeness.interval_s, politeness.fast_host_interval_s" in it.said()


@pytest.mark.slow
def test_reopened_hours_bring_a_permit_at_once(tmp_path: Path) -> None:
    """An agent that sleeps calls once an hour; hours that a setting opens do not wait for that."""
    away = '["00:00-01:00"]' if 2 < datetime.now(UTC).hour < 22 else '["12:00-13:00"]'
    closed = f'[windows]\nzone = "UTC"\nweekday = {away}\nweekend = {away}\n\n'
    with scene(tmp_path, hosts=3, pages_mean=60, interval_s=0.3) as it:
        it.manager.permit_s = 10.0
        it.give_all()
        it.agent.start()
        it.until("requests", lambda: len(it.requests()) > 3)
        change(it, "[disk]", f"{closed}[disk]")
        it.until("sleep", lambda: it.manager.syncs[-1].state == "asleep")
        it.until("no permit", lambda: it.status()["status"]["permit_remaining_s"] <= 0)
        calls, seen = len(it.manager.syncs), len(it.requests())
        change(it, closed, "")
        it.until("a call", lambda: len(it.manager.syncs) > calls)
        it.until("requests again", lambda: len(it.requests()) > seen)


def test_a_file_that_is_wrong_changes_nothing(tmp_path: Path) -> None:
    """It is said what is wrong, and the crawl goes on as before; SIGHUP has it read at once."""
    with scene(tmp_path, hosts=3, pages_mean=60, interval_s=0.3) as it:
        it.give_all()
        it.agent.start()
        it.until("requests", lambda: len(it.requests()) > 3)
        change(it, "interval_s = 0.3", "interval_s = -1")
        it.until("a complaint", lambda: "is not applied: politeness.interval_s = -1" in it.said())
        seen = len(it.requests())
        it.until("more requests", lambda: len(it.requests()) > seen)
        change(it, 'contact = "test@example.org"', 'contact = ""')
        change(it, "interval_s = -1", "interval_s = 0.3")
        it.agent.program.send(signal.SIGHUP)
        it.until("another", lambda: "is not applied: robot.contact" in it.said())
        change(it, 'contact = ""', 'contact = "test@example.org"')
        it.agent.program.send(signal.SIGHUP)
        it.until("good news", lambda: "was read again: no setting differs" in it.said())
        assert it.agent.program.running


def test_an_updated_agent_starts_with_the_settings_of_the_version_before(tmp_path: Path) -> None:
    """Old names hold as before; `prs status` and each sync say which, until the file changes."""
    with scene(tmp_path, hosts=2) as it:
        path = it.home / "prs.toml"
        text = path.read_text()
        path.write_text(old_names(text, it.web.dns_port))
        it.give_all()
        it.agent.start()
        it.until("the end", lambda: len(it.manager.finished) == 2)
        told = {(one.old, one.new) for one in it.manager.syncs[-1].renamed_settings}
        assert told == set(OLD_NAMES.items())
        said = it.agent.prs("status")
        assert "settings: network.resolver was renamed to dns.servers" in said
        assert it.captures(), "pages were fetched by the name servers and ranges of the old names"
        path.write_text(text)
        it.until("a sync without", lambda: not it.manager.syncs[-1].renamed_settings)
        it.until("a status without", lambda: "is called" not in it.agent.prs("status"))
