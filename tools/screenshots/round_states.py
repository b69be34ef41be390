"""Rounds that probe, crawl and are late, brought about one after the other to be looked at.

The stage ends with rounds that are done. An agent that is paused, and one that stands still, keep
the next ones open.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any, Final

from tools.demo.system import wait_for
from tools.screenshots.stage import Stage

__all__ = ["round_states"]

CHANGE_S: Final = 300.0
"""Seconds of a quiet machine within which a round comes to a state."""


def round_states(stage: Stage) -> Iterator[tuple[str, str]]:
    """Yield the name of a picture and its address, when the round is in that state."""
    slow = stage.agents[0]
    stage.manager.prsm("agents", "pause", slow.name)
    # People of the stage ordered probes of partners that call no more.
    number = _start(stage)
    _wait(stage, number, lambda detail: detail["round"]["state"] == "probing")
    yield "round-probing", f"/console/rounds/{number}"
    stage.manager.prsm("rounds", "use-predictions")
    _wait(stage, number, lambda detail: set(detail["units"]) > {"finished"})
    yield "round-crawling", f"/console/rounds/{number}"
    for agent in stage.agents:
        stage.manager.prsm("agents", "resume", agent.name)
    _wait(stage, number, lambda detail: detail["round"]["state"] == "finished")
    slow.program.send(signal.SIGSTOP)
    try:
        number = _start(stage)
        _wait(stage, number, lambda detail: detail["forecast"]["late_ms"] > 0)
        yield "round-late", f"/console/rounds/{number}"
    finally:
        slow.program.send(signal.SIGCONT)


def _start(stage: Stage) -> int:
    stage.manager.prsm("rounds", "start", "--method", "keep", "--no-probe")
    return int(stage.manager.prsm("rounds", "show")["round"]["number"])


def _wait(stage: Stage, number: int, ready: Any) -> None:
    def found() -> bool:
        return bool(ready(stage.manager.prsm("rounds", "show", str(number))))

    wait_for(f"round {number}", found, seconds=CHANGE_S, every_s=1.0)
