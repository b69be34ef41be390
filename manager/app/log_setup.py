"""The manager's log on standard error: lines for people, or JSON for machines that collect logs.

Each line that a request causes names it by the id that its answer carries (`X-Request-Id`), which
agents write into their own logs. Invariants: one line per event, whatever its text; an event is
logged by the part of the manager that it belongs to, so lines of libraries on it are suppressed.
"""

from __future__ import annotations

import contextvars
import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

from shared.plurals import with_plurals

__all__ = ["REQUEST_ID", "log_to_stderr"]

REQUEST_ID: Final = contextvars.ContextVar("request_id", default="")
"""Of the request that is being answered, in its task and the threads that work for it."""


class _Lines(logging.Formatter):
    """Lines for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        said = with_plurals(super().format(record))
        request_id = REQUEST_ID.get()
        return f"{said} [{request_id}]" if request_id else said


class _Json(logging.Formatter):
    """An object a line: time, level, logger, message, request_id, error."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the JSON object of a record."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {
            "time": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": with_plurals(record.getMessage()),
        }
        if request_id := REQUEST_ID.get():
            told["request_id"] = request_id
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def _is_not_cut_off(record: logging.LogRecord) -> bool:
    """Leave out a server's own line on the requests that it cancels when it stops."""
    return not str(record.msg).startswith("Cancel %s running task(s)")


def log_to_stderr(*, as_json: bool) -> None:
    """Write the log of this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if as_json else _Lines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # Every tick would be four lines; `manager.clock` tells which jobs are late.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    # A job that fails is reported by `manager.clock`, with a traceback only where it is a defect.
    logging.getLogger("apscheduler.executors").setLevel(logging.CRITICAL)
    # What a pool meets while the database is gone; `leadership` says it once.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    # A driver's line on the context of a failed statement; the caller logs the failure.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    # One line for each step of the schema; `migrate` tells the schema.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # Two servers run in this process, and each would tell the same; `servers` tells it.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(_is_not_cut_off)
