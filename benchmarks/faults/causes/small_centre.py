"""The centre that most begin with: one manager on SQLite, killed again and again under load.

It has no follower: what is promised is that systemd's restart, 2 s later, is all that it needs. A
client sends reports all the time, and the tick comes five times a second.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from benchmarks.faults.evidence.witness import Witness
from benchmarks.faults.fault import PATIENCE_S, SERVICE_S, Fault, Trial
from benchmarks.faults.system.supervisor import RESTART_S
from tests.e2e.commands import AskedManager

__all__ = ["FAULTS"]

SETTINGS: Final = """\
[policy]
tick_s = 0.2
max_tick_gap_s = 2.0

[limits]
reserve_bytes = 0
uploads_per_minute = 100000
"""
HOSTS: Final = 500
LOOK_S: Final = 0.02  # a fiftieth of the measured time
LONGEST_S: Final = 1.5  # between two kills, of service

_chance: Final = random.Random(9)


@contextmanager
def _report_stream(witness: Witness) -> Iterator[None]:
    """Send one report behind the other while the block runs."""
    over = threading.Event()

    def send() -> None:
        while not over.is_set():
            if not witness.send_next().good:
                over.wait(LOOK_S)

    thread = threading.Thread(target=send, daemon=True, name="witness")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(60)


def _back_after(trial: Trial, witness: Witness, since_s: float) -> float | None:
    """Return how long after a moment the first report was acknowledged that was sent after it."""
    end_s = since_s + PATIENCE_S * trial.patience
    while time.monotonic() < end_s:
        for answer in reversed(witness.answers):
            if answer.began_s < since_s:
                break
            if answer.good:
                return (
                    min(
                        one.ended_s
                        for one in list(witness.answers)
                        if one.good and one.began_s >= since_s
                    )
                    - since_s
                )
        time.sleep(LOOK_S)
    return None


def _killed(trial: Trial) -> None:
    manager = AskedManager(trial.folder / "small" / "data", SETTINGS)
    manager.start()
    try:
        token = manager.prsm("agents", "token", "witness")["token"]
        witness = Witness("witness", manager.url, token, trial.folder / "small" / "kept.jsonl")
        listed = trial.folder / "small" / "hosts.txt"
        listed.write_text("".join(f"http://h{one}.example/\n" for one in range(HOSTS)))
        manager.prsm("hosts", "import", str(listed))
        with _report_stream(witness):
            for _ in range(trial.times):
                time.sleep(_chance.random() * LONGEST_S)  # a kill falls anywhere into the work
                manager.kill()
                trial.lasts(RESTART_S)
                gone_s = time.monotonic()
                manager.program.start()
                trial.causes += 1
                trial.within("service", _back_after(trial, witness, gone_s), SERVICE_S)
        manager.prsm("agents", "list")  # it answers people, too
        _judge(trial, manager, witness)
    finally:
        manager.stop()


def _judge(trial: Trial, manager: AskedManager, witness: Witness) -> None:
    kept: set[str] = set()
    page: tuple[str, ...] = ()
    while rows := manager.prsm("reports", "--limit", "1000", *page):
        kept |= {row["sha256"] for row in rows}
        page = ("--before", str(rows[-1]["id"]))
    lost = [one for one in witness.acknowledged if one.sha256 not in kept]
    trial.say(f"    {len(witness.acknowledged)} reports acknowledged, {len(lost)} lost")
    trial.lost += len(lost)
    trial.claim("no report is lost that was acknowledged", not lost)
    found = manager.prsm("check")["findings"]
    trial.claim(f"`prsm check` finds nothing, not: {found}", not found)


FAULTS: Final = [
    Fault("small-centre-killed", "one manager, SQLite: a restart is enough", _killed, 25, 3,
          alone=True, limit_s=600),
]  # fmt: skip
