"""Applies changes of `prs.toml` while the agent runs, and names those that must wait.

Invariant: a file that cannot be read, or under which no agent may run, changes nothing; it is
reported once, and the crawl continues as before.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.app.manager_link.conversation import Conversation
from agent.app.site.site import windows_of
from agent.app.startup.agent_parts import Parts
from agent.app.startup.file_limits import allow_files
from agent.app.startup.settings_mapping import blocked_by
from agent.control.settings_watch import SettingsWatch
from agent.settings import SETTINGS_FILE, Settings, check_can_run, taken_up
from shared.errors import SettingError

__all__ = ["SettingsReload"]


class SettingsReload:
    """The settings of the site, as they are in force."""

    def __init__(
        self,
        parts: Parts,
        site: Settings,
        read: Callable[[], Settings],
        rereading: SettingsWatch,
    ) -> None:
        """read: reads the file as at the start, with what the command line says over it."""
        self._parts = parts
        self._site = site
        self._read = read
        self._rereading = rereading

    def look(self, talk: Conversation) -> None:
        """Read the file again where that is due."""
        if not self._rereading.due():
            return
        say = self._parts.say
        try:
            wanted = self._read()
            check_can_run(wanted)
            blocked_by(wanted.politeness.blocked)
        except SettingError as error:
            say(f"{SETTINGS_FILE} was changed and is not applied: {error}")
            return
        self._parts.renamed.look()
        change = taken_up(self._site, wanted)
        if change.now:
            self._apply(change.settings, talk)
        told = [
            f"{', '.join(names)} {'holds' if len(names) == 1 else 'hold'} from {when} on"
            for names, when in ((change.now, "now"), (change.later, "the next start"))
            if names
        ]
        say(f"{SETTINGS_FILE} was read again: {'; '.join(told) or 'no setting differs'}")

    def _apply(self, settings: Settings, talk: Conversation) -> None:
        parts, disk = self._parts, settings.disk
        before, self._site = windows_of(self._site), settings
        windows = windows_of(settings)
        parts.permission.retune(windows)
        parts.disk.retune(disk.reserve_bytes)
        parts.month.retune(settings.network.month_bytes, windows.zone)
        parts.load.retune(settings.pages.most_load)
        parts.outbox.retune(limit_bytes=disk.outbox_bytes, keep_logs_s=disk.keep_logs_s)
        parts.schedule.retune(settings.reports, windows.zone)
        allow_files(settings, parts.say)
        talk.take_site(settings)
        if windows != before:
            # The next call may be an hour away, and what is fetched needs a permit.
            talk.poller.hurry(parts.clock.boottime_s())
