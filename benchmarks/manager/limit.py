"""The limits: what the web server alone does with the same bytes, and what only counts the lines.

    python -m benchmarks.manager.limit PORT

serves a FastAPI application that reads the same sync and answers with the same bytes, and does
nothing else: no key, no database, no middleware.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import uvicorn
from fastapi import FastAPI

from benchmarks.manager.data import GENERATION, ROUND
from shared.wire.sync import Permit, SyncAnswer, SyncRequest

__all__ = ["count_lines_s"]

COUNT: Final = """
import duckdb, sys
connection = duckdb.connect(config={"threads": 1})
found = connection.execute('''
    SELECT count(*), sum(response) FROM read_csv('/dev/stdin', auto_detect=false,
        header=false, skip=4, delim=',', quote='"', escape='\\\\', max_line_size=1000000,
        columns={'url': 'VARCHAR', 'request': 'BIGINT', 'response': 'BIGINT', 'ms': 'BIGINT',
                 'headers': 'VARCHAR'})
''').fetchone()
print(found[0])
"""


def application() -> FastAPI:
    """Return what answers any sync at once."""
    app = FastAPI()

    @app.post("/api/v1/sync")
    async def sync(asked: SyncRequest) -> SyncAnswer:
        return SyncAnswer(
            server_time_ms=time.time_ns() // 1_000_000,
            next_poll_s=60.0,
            round=ROUND,
            generation=GENERATION,
            permit=Permit(epoch=1, duration_s=7200.0),
            withdrawn_number=asked.withdrawn_held,
        )

    return app


def count_lines_s(plain: Path) -> tuple[int, float]:
    """Return how many lines zcat and DuckDB count in a gzip file, and their CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(["zcat", plain], stdout=subprocess.PIPE) as zcat:
        counted = subprocess.run(
            [sys.executable, "-c", COUNT], stdin=zcat.stdout, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return int(counted.stdout), cpu_s


if __name__ == "__main__":
    uvicorn.run(application(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
