"""Settings by which nothing is an alert but what always is one."""

from typing import Final

from manager.settings import AlertSettings

__all__ = ["OFF"]

OFF: Final = AlertSettings(
    repeat_interval_s=3600.0,
    agent_late_s=0,
    agent_problem_s=0,
    min_reachable_share=0,
    manager_silence_s=0,
    moves_per_day=0,
    disk_bytes=0,
    expiry_days=0,
    round_days=0,
    round_late_share=0,
    backup_days=0,
)
