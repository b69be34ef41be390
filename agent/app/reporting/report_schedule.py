"""Schedule of reports: when a crawl log is closed, and when found hosts are handed over.

A log goes when the hours have ended, at a time of the day, when the list is worked off (the round
waits for it), when a probe was finished a while ago, when it is long, or every so often where a
demonstration asks for it.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from agent.settings import day_minutes
from agent.settings.groups.reports import ReportSettings
from shared.frozen import frozen

__all__ = ["Moment", "ReportSchedule"]

PIECES_S: Final = 30.0  # pages for other pieces of a split host wait so long for more of them
SETTLE_S: Final = 2.0  # a list that was just worked off may be followed by another at once


@frozen
class Moment:
    """Facts that the schedule needs now."""

    epoch_ms: int
    now_s: float
    window_open: bool
    worked_off: bool  # units are held, and all of them are finished and quiet
    probes_waiting: bool  # finished, and their lines are in the open log
    log_bytes: int
    shares_hosts: bool = False  # it has pieces of hosts that others have pieces of
    piece_rests: bool = False  # and is through with one of them
    pages_on_way: bool = False  # pages for other pieces were sent, and not answered yet


class ReportSchedule:
    """Times at which a log is due. Pure but for what it remembers."""

    def __init__(
        self, settings: ReportSettings, zone: tzinfo, spread_minute: int, now_s: float
    ) -> None:
        """spread_minute: so long after the time of the day, as every site draws its own."""
        self._settings = settings
        self._zone = zone
        self._spread = timedelta(minutes=spread_minute)
        self._last_s = now_s
        self._last_ms: int | None = None
        self._hosts_s = now_s
        self._probes_since_s: float | None = None

    def retune(self, settings: ReportSettings, zone: tzinfo) -> None:
        """Take other times."""
        self._settings, self._zone = settings, zone

    def log_due(self, now: Moment) -> str:
        """Return why the open log must be closed now; empty: it need not."""
        settings = self._settings
        if not now.probes_waiting:
            self._probes_since_s = None
        elif self._probes_since_s is None:
            self._probes_since_s = now.now_s
        if self._last_ms is None:
            self._last_ms = now.epoch_ms
        if not now.log_bytes:
            return ""
        passed_s = now.now_s - self._last_s
        if settings.log_interval_s:
            return "scheduled" if passed_s >= settings.log_interval_s else ""
        if passed_s < SETTLE_S:
            return ""
        if now.worked_off:
            return "the list is worked off"
        if not now.window_open:
            return "the hours of this site have ended"
        if now.log_bytes >= settings.log_bytes:
            return "the log is long"
        since_s = self._probes_since_s
        if since_s is not None and now.now_s - since_s >= settings.probe_log_delay_s:
            return "a probe is finished"
        return "it is the time of the day" if self._daily(now.epoch_ms) else ""

    def log_closed(self, now: Moment) -> None:
        """Take note that the log was closed."""
        self._last_s, self._last_ms = now.now_s, now.epoch_ms
        self._probes_since_s = None

    def hosts_due(self, now: Moment) -> bool:
        """Return whether hosts that were found should go now."""
        wait_s = self._settings.log_interval_s or self._settings.discovery_delay_s
        if now.pages_on_way:
            return False  # a slow manager is sent fewer and larger reports, not more of them
        if now.shares_hosts:
            # Others may have nothing to do until they hear of these pages.
            wait_s = min(wait_s, SETTLE_S if now.piece_rests else PIECES_S)
        return now.worked_off or not now.window_open or now.now_s - self._hosts_s >= wait_s

    def hosts_sent(self, now: Moment) -> None:
        """Take note that found hosts were put into the outbox."""
        self._hosts_s = now.now_s

    def _daily(self, epoch_ms: int) -> bool:
        """Return whether the time of the day lies between the last log and now."""
        if not self._settings.daily_log_time or self._last_ms is None:
            return False
        minutes = day_minutes(self._settings.daily_log_time, "reports.daily_log_time")
        now = datetime.fromtimestamp(epoch_ms / 1000, UTC)
        last = datetime.fromtimestamp(self._last_ms / 1000, UTC)
        for day in (0, 1):
            midnight = datetime.combine(
                now.astimezone(self._zone).date() - timedelta(days=day), time(), self._zone
            )
            at = midnight.replace(hour=minutes // 60 % 24, minute=minutes % 60) + self._spread
            if last < at.astimezone(UTC) <= now:
                return True
        return False
