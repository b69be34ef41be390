"""Settings of the manager: logs and messages that come in."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["IntakeSettings"]

MB, GB = 1000**2, 1000**3
HOUR_S, DAY_S = 3600, 86400


@frozen
class IntakeSettings:
    """Intake of reports into the tables."""

    workers: int = setting(
        1,
        Range("processes", 1, 64),
        "how many processes read crawl logs; one keeps up with 100 agents of 50,000 hosts",
    )
    long_task_workers: int = setting(
        2,
        Range("processes", 1, 64),
        "how many processes, beside these, read what takes longer than intake.time_slice_s, so "
        "that the others need not wait for it",
    )
    time_slice_s: float = setting(
        1.0,
        Range("s", 0.1, 600),
        "how long a body may be read before it lets the bodies of other agents go first; a second "
        "reads half a million lines",
    )
    worker_memory_bytes: int = setting(
        4 * GB,
        Range("bytes", GB, 1000 * GB),
        "how much address space a process that reads bodies may take beside what it begins with; a "
        "body that needs more is refused",
    )
    host_list_cpu_s: float = setting(
        60.0,
        Range("s", 1, DAY_S),
        "how much processor time may be spent on reading one list of found hosts (M2) or of hosts "
        "to import; a million lines take 5 s",
    )
    message_cpu_s: float = setting(
        5.0,
        Range("s", 1, 600),
        "how much processor time may be spent on reading one large message in JSON, as a sync; the "
        "largest take half a second",
    )
    answer_timeout_s: float = setting(
        45.0,
        Range("s", 1, HOUR_S),
        "how long the sender of a log waits for its answer; then it has to ask again (503); agents "
        "wait 60 s for an answer",
    )
    duckdb_memory_bytes: int = setting(
        512 * MB,
        Range("bytes", 64 * MB, 1000 * GB),
        "how much memory DuckDB may use in each process that reads logs; it spills to disk beyond",
    )
    log_cpu_s: float = setting(
        600.0,
        Range("s", 1, DAY_S),
        "how much processor time may be spent on one log; enough for 20 million lines; a "
        "decompression bomb must not hold a worker",
    )
    max_logged_answer_bytes: int = setting(
        100 * MB,
        Range("bytes", MB, 1000 * GB),
        "largest answer that a line of a crawl log can be about; a larger one is kept and set "
        "apart in all sums; agents keep 20 MB of a page unless their limits.body_bytes is more",
    )
    max_logged_request_s: float = setting(
        7200.0,
        Range("s", 1, 3650 * DAY_S),
        "longest request that a line of a crawl log can be about; a longer one is kept and set "
        "apart in all sums; agents give a request up after an hour at most",
    )
    log_retention_s: float = setting(
        0.0,
        Range("s", 0, 36_500 * DAY_S),
        "how long the lines of a crawl log are kept after it came; 0: for ever; their sums are "
        "kept as well",
    )
    rejected_retention_s: float = setting(
        30.0 * DAY_S,
        Range("s", 0, 3650 * DAY_S),
        "how long bodies that were refused are kept for the administrator to look at",
    )
    rejected_bytes: int = setting(
        1 * GB,
        Range("bytes", 0, 1000 * GB),
        "how much disk all refused bodies may take together; oldest go first",
    )
