"""Crontab lines and their next times. Pure."""

from __future__ import annotations

from manager.schedules.crontab import Crontab, ScheduleError

__all__ = ["Crontab", "ScheduleError"]
