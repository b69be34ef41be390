"""Services of the process that the components of a running agent share."""

from __future__ import annotations

from agent.control.robot_log import LineLogger
from agent.control.stop import StopRequest
from agent.pipeline.ports import Clock
from agent.settings import Home
from shared.frozen import frozen

__all__ = ["Runtime"]


@frozen
class Runtime:
    """The home, time, the request to stop, and the log."""

    home: Home
    clock: Clock
    stopping: StopRequest
    log_line: LineLogger
