"""Switch to a new release: it must complete a sync, or the old one returns.

Invariant: the trial is on the disk before the link moves, the verdict before it moves back, and how
the agent ran before it is stopped; so a launcher that was killed anywhere continues from
there, and a trial is over only when the agent runs again. A network that is down is no release's
fault: where the old release reaches the manager no better, the new one goes back without blame.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from launcher.errors import LauncherError
from launcher.installation import Installation, Journal
from launcher.state import State, Trial, write_state
from shared.versions import is_version, version_key

__all__ = ["Outcome", "Switch", "higher", "start_command_of"]

STOP_S: Final = 60.0
CALL_S: Final = 240
SYSTEMCTL_S: Final = 180.0  # a unit of ours stops within 60
LOOK_S: Final = 0.2
SYNCED: Final = "synced.json"  # written by the agent: which version completed a sync, and when
SYSTEMCTL: Final = ("systemctl", "--user")
UNIT: Final = re.compile(r"/(prs-[0-9a-f]{8}\.service)$", re.MULTILINE)
"""How systemd calls an agent that it runs; the agent's `prs schedule systemd` names it so."""


@dataclass(frozen=True)
class Outcome:
    """Result of an update, for the report."""

    version: str
    outcome: str
    step: str = ""
    detail: str = ""


class Switch:
    """Moves `current`, with the state written first."""

    def __init__(self, installation: Installation, journal: Journal, *, patience_s: float) -> None:
        """patience_s: for which a new release may take to complete a sync."""
        self._installation = installation
        self._log_line = journal.write
        self._patience_s = patience_s
        self._path = installation.own / "state.json"
        self._stopped_command: tuple[
            str, ...
        ] = ()  # how an agent ran that this process has stopped

    def write(self, state: State) -> State:
        """Write the state, and return it."""
        write_state(self._path, state)
        return state

    def begin(self, state: State, version: str) -> Outcome:
        """Switch to an installed release and decide; the outcome is final."""
        began_ms = time.time_ns() // 1_000_000
        trial = Trial(
            version,
            self._installation.running(),
            began_ms,
            restart=start_command_of(self._agent_pid()),
        )
        state = self.write(replace(state, trial=trial, highest=higher(state.highest, version)))
        return self.resume(state)

    def resume(self, state: State) -> Outcome:
        """Carry a trial through from wherever it stands."""
        trial = state.trial
        assert trial is not None, "somebody began"
        if trial.verdict and self._installation.is_complete(trial.before):
            return self._roll_back(state, trial, blamed=True)
        if self._installation.running() != trial.version:
            self._log_line(f"switch: current -> {trial.version}")
            self._installation.point_at(trial.version)
        self._stop_agent()
        self._log_line(f"sync: waiting for {trial.version} to complete one")
        why = self._wait_for_sync(trial.version, trial.began_ms)
        if not why:
            self._start_agent(trial)
            self.write(state.with_good(trial.version))
            self._log_line(f"good: {trial.version} has completed a sync")
            return Outcome(trial.version, "updated")
        if not trial.before or not self._installation.is_complete(trial.before):
            self._start_agent(trial)
            self.write(state.without_trial())
            self._log_line(f"sync: {why}; there is no release to go back to")
            return Outcome(trial.version, "failed", "sync", why)
        self._stop_agent()  # one of the new release that cron started meanwhile
        blamed = not self._wait_for_sync(trial.before, time.time_ns() // 1_000_000)
        trial = replace(trial, verdict=why[:900])
        if blamed:
            state = self.write(replace(state, trial=trial))
        return self._roll_back(state, trial, blamed=blamed)

    def _roll_back(self, state: State, trial: Trial, *, blamed: bool) -> Outcome:
        self._log_line(f"back: current -> {trial.before}: {trial.verdict}")
        self._installation.point_at(trial.before)
        self._stop_agent()
        self._start_agent(trial)
        bad = {**state.bad, trial.version: trial.verdict} if blamed else state.bad
        self.write(replace(state.without_trial(), bad=bad))
        if blamed:
            return Outcome(trial.version, "went-back", "sync", trial.verdict)
        return Outcome(
            trial.version,
            "failed",
            "sync",
            f"neither it nor {trial.before} completes a sync; it is tried again: {trial.verdict}",
        )

    def _wait_for_sync(self, version: str, since_ms: int) -> str:
        """Return an empty text once a release completed a sync, else why it did not."""
        deadline = time.monotonic() + self._patience_s
        while True:
            why = self._run_sync(version)
            if not why or self._has_synced(version, since_ms):
                return ""
            # An agent of this release may be at work already, started by cron meanwhile.
            if not self._agent_pid() or time.monotonic() > deadline:
                return why
            time.sleep(LOOK_S)

    def _run_sync(self, version: str) -> str:
        words = [
            str(self._installation.prs(version)),
            "--home",
            str(self._installation.data),
            "sync",
        ]
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=CALL_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`prs sync` of {version}: {error}"
        if done.returncode == 0:
            return ""
        said = (done.stderr or done.stdout)[-500:].strip()
        return f"`prs sync` of {version} ended with {done.returncode}: {said}"

    def _has_synced(self, version: str, since_ms: int) -> bool:
        try:
            said = json.loads((self._installation.data / SYNCED).read_bytes())
            return bool(said["version"] == version and said["at_ms"] >= since_ms)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _agent_pid(self) -> int:
        """Return the process that works in the agent's folder; 0: none."""
        path = self._installation.data / "lock"
        try:
            with path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(json.loads(path.read_bytes())["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        return 0

    def _stop_agent(self) -> None:
        """Stop the agent that runs, if one does."""
        pid = self._agent_pid()
        if not pid:
            return
        words = start_command_of(pid)
        self._stopped_command = self._stopped_command or words
        self._log_line(f"stop: process {pid}")
        if words[:1] == ("systemctl",):
            _systemctl("stop", words[-1])
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                break
            deadline = time.monotonic() + STOP_S
            while self._agent_pid() == pid and time.monotonic() < deadline:
                time.sleep(LOOK_S)
            if self._agent_pid() != pid:
                break

    def _start_agent(self, trial: Trial) -> None:
        """Start the agent as it ran before the trial."""
        words = trial.restart or self._stopped_command
        version = self._installation.running()
        if not words or not version or self._agent_pid():
            return
        if words[:1] == ("systemctl",):
            self._log_line(f"start: {' '.join(words)}")
            _systemctl("start", words[-1])
            return
        if "run" in words and "--quiet" not in words:
            words = (*words, "--quiet")  # no terminal reads along, and a file would only grow
        self._log_line(f"start: prs {' '.join(words)}")
        log = str(self._installation.own / "agent.log")
        prs = str(self._installation.prs(version))
        # Not a child to wait for: it outlives this process.
        os.posix_spawn(
            prs,
            [prs, *words],
            {**os.environ, "PRS_HOME": str(self._installation.data)},
            setsid=True,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
        )


def higher(one: str, other: str) -> str:
    """Return the greater of two versions; what is none is below all."""
    if not is_version(one):
        return other if is_version(other) else ""
    if not is_version(other):
        return one
    return max(one, other, key=version_key)


def start_command_of(pid: int) -> tuple[str, ...]:
    """Return the arguments behind `prs` of a process, or those by which systemd starts it.

    pid: 0: of none. Empty: it does not run.
    """
    if not pid:
        return ()
    try:
        unit = UNIT.search(Path(f"/proc/{pid}/cgroup").read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return ()
    except OSError as error:
        raise LauncherError(f"process {pid} cannot be looked at ({error.strerror})") from error
    if unit is not None:
        return (*SYSTEMCTL, "start", unit[1])
    names = [os.fsdecode(word) for word in words]
    at = next((index for index, word in enumerate(names) if Path(word).name == "prs"), None)
    return tuple(names[at + 1 :]) if at is not None else ()


def _systemctl(verb: str, unit: str) -> None:
    # Cron does not say where a user's own systemd listens.
    environment = {"XDG_RUNTIME_DIR": f"/run/user/{os.getuid()}", **os.environ}
    words = [*SYSTEMCTL, verb, unit]
    try:
        done = subprocess.run(
            words,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SYSTEMCTL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LauncherError(f"{' '.join(words)}: not done within {SYSTEMCTL_S:g} s") from error
    if done.returncode:
        raise LauncherError(f"{' '.join(words)}: {done.stderr.strip()}")
