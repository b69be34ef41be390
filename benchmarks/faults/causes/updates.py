"""Attacks on the update of a site: it keeps its version, says why, and is well after them.

Each is on the line between a real launcher and a real manager (`attacked`).
Source: The Update Framework, specification, section 1.5 (threat model).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks.faults.causes.clocks import environment, set_clock
from benchmarks.faults.fault import Fault, Trial
from benchmarks.faults.system.needs import needs_faketime
from benchmarks.faults.transit.attacked import UPDATE, Attacked, attacked, instead
from benchmarks.faults.transit.courier import Answer, Deliver, Message, Way, straight

__all__ = ["FAULTS"]

TIMESTAMP: Final = f"{UPDATE}metadata/timestamp.json"
ENDLESS: Final = b" " * 50_000_000

Attack = Callable[[Attacked], Way]


def _system(trial: Trial) -> Attacked:
    """Return the system that all attacks are made on, as the attack before left it: well."""
    return trial.shared.get("attacked", lambda: attacked(trial.folder))


def _attack(trial: Trial, attack: Attack, says: str) -> None:
    """Attack, then let the honest files through."""
    it = _system(trial)
    it.line.way = attack(it)
    keeps = it.runs
    said = it.update()
    trial.claim(f"it keeps {keeps}, not {it.runs}", it.runs == keeps)
    trial.claim(f"it says {says!r}, not: {said}", says in said)
    _well_again(trial, it)


def _well_again(trial: Trial, it: Attacked) -> None:
    it.line.way = straight
    newest = it.publish()
    said = it.update()
    trial.claim(f"it runs {newest} after the attack, not {it.runs}: {said}", it.runs == newest)
    trial.causes += 1


def _corrupted(it: Attacked) -> Way:
    """One bit of the archive."""
    it.publish()

    def way(message: Message, deliver: Deliver) -> Answer | None:
        answer = deliver(message)
        if "/targets/" not in message.path:
            return answer
        body, middle = answer.body, len(answer.body) // 2
        return answer.with_body(body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1 :])

    return way


def _rolled_back(it: Attacked) -> Way:
    """All the files of before, genuine as they are, when something newer was seen."""
    old = it.seen()
    it.publish()
    it.update()
    return instead(old)


def _mixed(it: Attacked) -> Way:
    """The targets of before under the newest snapshot."""
    old = it.seen()
    before = max((path for path in old if path.endswith(".targets.json")), key=_number)
    it.publish()

    def way(message: Message, deliver: Deliver) -> Answer | None:
        return old[before] if message.path.endswith(".targets.json") else deliver(message)

    return way


def _endless(it: Attacked) -> Way:
    """More than anybody should read."""
    it.publish()
    return instead({TIMESTAMP: it.seen()[TIMESTAMP].with_body(ENDLESS)})


def _number(path: str) -> int:
    """Return the version of a signed file, which its name begins with."""
    return int(path.rpartition("/")[2].partition(".")[0])


def _late(trial: Trial, days: int, says: str) -> None:
    """So much later (libfaketime) nothing but what is signed today has come through."""
    it = _system(trial)
    keeps = it.runs
    it.publish()
    it.line.way = instead({TIMESTAMP: it.seen()[TIMESTAMP]})
    offset = trial.folder / "clock"
    set_clock(offset, days)
    said = it.update(environment(offset, monotonic=False))
    trial.claim(f"it keeps {keeps}, not {it.runs}", it.runs == keeps)
    trial.claim(f"it says {says!r}, not: {said}", says in said)
    _well_again(trial, it)


def _fault(name: str, promise: str, act: Callable[[Trial], None]) -> Fault:
    return Fault(f"update-{name}", promise, act, alone=True)


FAULTS: Final = [
    _fault(
        "corrupted", "one bit: refused", partial(_attack, attack=_corrupted, says="the file of 1.")
    ),
    _fault(
        "rolled-back",
        "older than seen: refused",
        partial(_attack, attack=_rolled_back, says="not genuine"),
    ),
    _fault(
        "mixed", "two states mixed: refused", partial(_attack, attack=_mixed, says="not genuine")
    ),
    _fault(
        "endless", "no end: cut off", partial(_attack, attack=_endless, says="the signed files")
    ),
    Fault(
        "update-frozen",
        "30 days nothing new: said",
        partial(_late, days=30, says="timestamp.json is expired"),
        needs=needs_faketime,
        alone=True,
    ),
    Fault(
        "update-keys-expired",
        "no signature for a year: reported",
        partial(_late, days=400, says="root.json is expired"),
        needs=needs_faketime,
        alone=True,
    ),
]
