"""State of the launcher kept over kill -9: versions that were good, on trial, bad, or failed.

A trial is written down before the link moves, and its verdict before the link moves back. A release
that went back may have written more than the one before it knows: that is passed over.

A release that could not be installed here is left alone for a while (`Failure`): what does not
install today hardly does tomorrow, and a night's download is a partner's traffic. It is tried again
after a wait that doubles, or at once where something else is signed of it, or a person asks.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from launcher.errors import LauncherError
from launcher.installation import write_whole
from shared.plurals import with_plurals
from shared.versions import is_version, version_key

__all__ = [
    "Failure",
    "State",
    "Trial",
    "failure_text",
    "next_failure",
    "read_state",
    "write_state",
]

T = TypeVar("T")

FIRST_WAIT_MS: Final = 36 * 3_600_000  # one of the daily looks is left out
LONGEST_WAIT_MS: Final = 32 * 86_400_000
WHY: Final = 900


@dataclass(frozen=True)
class Failure:
    """A release's failures, the last of `times`. signed: digest of its signed data.

    at_ms, until_ms: when it was, and until when it is left alone; epoch, by this site's clock.
    """

    signed: str
    step: str
    why: str
    at_ms: int
    until_ms: int
    times: int = 1

    def blocks(self, signed: str, now_ms: int) -> bool:
        """Return whether the release is to be left alone; a clock that went back ends that."""
        return signed == self.signed and self.at_ms <= now_ms < self.until_ms


@dataclass(frozen=True)
class Trial:
    """A version that has to prove itself. before: where to go back to; empty: nowhere.

    verdict: why it goes back; empty: not decided yet. restart: how the agent ran that was stopped
    for it; empty: none did.
    """

    version: str
    before: str
    began_ms: int
    verdict: str = ""
    restart: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """highest: the greatest version that `current` ever led to. good: the last that proved itself.

    bad: versions that did not, each with why; they are not tried again by themselves. failed:
    versions that could not be installed; they wait. pin: the only version that the site wants;
    empty: what the manager offers. The agent shows bad and failed (`agent.control.updates`).
    """

    highest: str = ""
    good: str = ""
    pin: str = ""
    trial: Trial | None = None
    bad: dict[str, str] = field(default_factory=dict)
    failed: dict[str, Failure] = field(default_factory=dict)

    def with_good(self, version: str) -> State:
        """Return it with a version that has proved itself: what failed before it is past."""
        return replace(
            self.without_trial(),
            good=version,
            bad=_above(self.bad, version),
            failed=_above(self.failed, version),
        )

    def without_trial(self) -> State:
        """Return it with nothing on trial."""
        return replace(self, trial=None)


def read_state(path: Path) -> State:
    """Return the state; nothing is known yet: the defaults. Raises LauncherError."""
    try:
        said = _known(State, json.loads(path.read_bytes()))
        trial = _trial(said.pop("trial"))
        bad = {str(version): str(why) for version, why in said.pop("bad").items()}
        failed = {
            str(version): Failure(**_known(Failure, one))
            for version, one in said.pop("failed", {}).items()
        }
        return State(**said, trial=trial, bad=bad, failed=failed)
    except FileNotFoundError:
        return State()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LauncherError(
            f"{path}: cannot be read ({error}); remove it, and say `prs update` again"
        ) from error


def _above(versions: dict[str, T], version: str) -> dict[str, T]:
    """Return what is kept of versions that are still to come."""
    if not is_version(version):
        return versions
    key = version_key(version)
    return {
        one: kept for one, kept in versions.items() if is_version(one) and version_key(one) > key
    }


def _trial(said: dict[str, Any] | None) -> Trial | None:
    if not said:
        return None
    values = _known(Trial, said)
    return Trial(**{**values, "restart": tuple(map(str, values.get("restart", ())))})


def _known(kind: type[State | Trial | Failure], said: dict[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in said.items() if name in names}


def write_state(path: Path, state: State) -> None:
    """Keep the state, durably. Raises LauncherError."""
    write_whole(path, json.dumps(asdict(state), indent=1) + "\n")


def next_failure(before: Failure | None, signed: str, step: str, why: str, now_ms: int) -> Failure:
    """Return the record of a failure now. before: the earlier record; None: there is none."""
    times = before.times + 1 if before is not None and before.signed == signed else 1
    wait_ms = min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(times - 1, 8))
    return Failure(signed, step, why[:WHY], now_ms, now_ms + wait_ms, times)


def failure_text(version: str, failure: Failure) -> str:
    """Return in words how a release failed, how often, and until when it is left alone."""
    until = time.strftime("%Y-%m-%d %H:%M", time.localtime(failure.until_ms / 1000))
    often = "once" if failure.times == 1 else with_plurals(f"{failure.times} times")
    return (
        f"{version} failed at {failure.step} ({often}) and is left alone until "
        f"{until}: {failure.why}"
    )
