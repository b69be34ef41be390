"""Old names of settings: refused with the new name, as a manager's file is edited at an upgrade."""

from __future__ import annotations

from typing import Final

from shared.settings import Renamed

__all__ = ["RENAMED"]

_IN_0_2: Final = {
    "naming.servers": "dns.servers",
    "naming.timeout_s": "dns.timeout_s",
    "naming.tries": "dns.attempts",
    "naming.at_once": "dns.parallel_queries",
    "naming.batch": "dns.hosts_per_tick",
    "naming.allowed_networks": "dns.allowed_networks",
    "limits.uploads_at_once": "limits.parallel_uploads",
    "limits.logins_waiting": "limits.queued_logins",
    "limits.logins_of_known_devices": "limits.queued_known_device_logins",
    "limits.upload_least_bytes_per_s": "limits.min_upload_bytes_per_s",
    "database.files": "database.files_folder",
    "database.leader_s": "database.leader_timeout_s",
    "intake.turn_s": "intake.time_slice_s",
    "intake.long_workers": "intake.long_task_workers",
    "intake.answer_s": "intake.answer_timeout_s",
    "intake.list_cpu_s": "intake.host_list_cpu_s",
    "intake.memory_bytes": "intake.duckdb_memory_bytes",
    "intake.line_bytes": "intake.max_logged_answer_bytes",
    "intake.line_s": "intake.max_logged_request_s",
    "intake.keep_logs_s": "intake.log_retention_s",
    "intake.keep_rejected_s": "intake.rejected_retention_s",
    "intake.keep_rejected_bytes": "intake.rejected_bytes",
    "archive.memory_bytes": "archive.duckdb_memory_bytes",
    "archive.selections_at_once": "archive.parallel_selections",
    "archive.compact_s": "archive.compaction_interval_s",
    "archive.keep_results_s": "archive.selection_retention_s",
    "archive.keep_changes_s": "archive.change_retention_s",
    "archive.trash_s": "archive.trash_retention_s",
    "archive.trash_share": "archive.trash_share_per_hour",
    "archive.front": "archive.x_accel_redirect_path",
    "collection.chunks_at_once": "collection.parallel_chunks",
    "collection.upload_keep_s": "collection.upload_retention_s",
    "collection.keep_logs_s": "collection.transfer_log_retention_s",
    "alerts.look_s": "alerts.check_interval_s",
    "alerts.resend_s": "alerts.repeat_interval_s",
    "alerts.late_s": "alerts.agent_late_s",
    "alerts.agent_s": "alerts.agent_problem_s",
    "alerts.hosts_share": "alerts.min_reachable_share",
    "alerts.manager_s": "alerts.manager_silence_s",
    "alerts.database_s": "alerts.database_outage_s",
    "alerts.moves_a_day": "alerts.moves_per_day",
}
RENAMED: Final = tuple(Renamed(old, new) for old, new in _IN_0_2.items())
