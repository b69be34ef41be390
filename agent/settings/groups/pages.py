"""Settings of the agent: page workers."""

from __future__ import annotations

from agent.settings.sizes import GB, MB
from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["PageSettings"]


@frozen
class PageSettings:
    """Limits on the cost of work on fetched pages for this machine."""

    workers: int = setting(
        -1,
        Range("processes", -1, 64),
        "how many processes read pages; -1: one a core, at most 4; 0: none, a bad page stops all",
    )
    page_cpu_s: float = setting(
        2.0,
        Range("s", 0.1, 60),
        "processor time to read a page, or to pack it; honest ones take 0.1 s",
    )
    worker_memory_bytes: int = setting(
        512 * MB,
        Range("bytes", 192 * MB, 64 * GB),
        "memory of each process that reads pages, program included",
    )
    max_load_per_core: float = setting(
        0.0,
        Range("times a core", 0, 1000),
        "load of the machine, this agent's included, above which the crawl pauses; 0: no limit",
    )
