"""Run a round of a whole system to its end, saying how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tools.demo.system import Manager, wait_for

__all__ = ["run_round"]


def run_round(
    manager: Manager,
    method: str,
    *,
    seconds: float,
    say: Callable[[str], None],
    look_every_s: float = 0.5,
) -> dict[str, Any]:
    """Start a round, wait until it is finished, and return what the manager says of it.

    `wall_s` is added: what this process's clock showed. Each look costs half a second of CPU.
    Raises TimeoutError after `seconds`.
    """
    begun = time.monotonic()
    manager.prsm("rounds", "start", "--method", method)
    number = manager.prsm("rounds", "show")["round"]["number"]
    told = ""

    def finished() -> dict[str, Any] | None:
        nonlocal told
        detail: dict[str, Any] = manager.prsm("rounds", "show", str(number))
        state = detail["round"]["state"]
        if state != told:
            say(f"round {number} ({method}): {state}, {time.monotonic() - begun:.0f} s")
            told = state
        return detail if state == "finished" else None

    detail: dict[str, Any] = wait_for(
        f"round {number}", finished, seconds=seconds, every_s=look_every_s
    )
    detail["wall_s"] = time.monotonic() - begun
    return detail
