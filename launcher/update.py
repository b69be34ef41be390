"""One update, from the question what there is to a release that has proved itself.

    recover   what a killed launcher left         download  the file, as long and hashed as signed
    refresh   the signed files, from the root on  install   beside the others, without a network
    offer     what the manager wants run here     test      its own launcher rehearses all this
    decide    newer than all before, not bad      switch, sync, good or back (`switching`)

Invariant: `current` leads to a whole release at every moment, and never to one that is lower than
the highest that it ever led to, but the last good one. A failure is reported once, and not tried
again each night (`failures`).
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from typing import Final

from launcher.bundle import install, try_launcher
from launcher.errors import BrokenError, LauncherError, OfflineError, RefusedError
from launcher.failures import failed_before, failure_after
from launcher.manager import Manager, read_site
from launcher.place import Journal, Place
from launcher.state import State, read_state
from launcher.switch import Outcome, Switch, higher
from launcher.trusted import Release, Trusted
from launcher.update_reports import UpdateReports
from shared.plurals import with_plurals
from shared.versions import is_version, version_key

__all__ = ["tell", "update"]

KEPT: Final = 2
LOOKED: Final = "looked"  # the agent has this launcher look where it is old


def update(place: Place, journal: Journal, *, again: bool, patience_s: float) -> int:
    """Bring a site up to date; return the exit code: 0 done or nothing to do, 1 it could not be.

    again: also try a version that went back before. Raises LauncherError where nothing can be
    done at all; a failure on the way is reported to the manager and is code 1.
    """
    run = _Run(place, journal, again=again, patience_s=patience_s)
    return run.run()


def tell(place: Place, journal: Journal) -> int:
    """Deliver reports that wait, and nothing else; return 0."""
    UpdateReports(place.own, Manager(read_site(place.data)), journal.say).tell()
    return 0


class _Run:
    def __init__(self, place: Place, journal: Journal, *, again: bool, patience_s: float) -> None:
        self._place = place
        self._say = journal.say
        self._again = again
        self._switching = Switch(place, journal, patience_s=patience_s)
        self._manager = Manager(read_site(place.data))
        self._telling = UpdateReports(place.own, self._manager, journal.say)
        self._step = "recover"
        self._version = ""
        self._held = ""  # why what is to be run is left alone

    def run(self) -> int:
        """Do all steps; tell the manager how it went."""
        outcome = self._outcome()
        if outcome is not None:
            self._note(outcome)
        self._telling.tell()
        good = not self._held if outcome is None else outcome.outcome == "updated"
        return 0 if good else 1

    def _note(self, outcome: Outcome) -> None:
        if outcome.outcome != "updated":
            self._say(f"{outcome.outcome} at {outcome.step}: {outcome.detail}")
        self._telling.add(outcome)

    def _outcome(self) -> Outcome | None:
        others = tempfile.tempdir
        try:
            return self._steps()
        except RefusedError as error:
            return Outcome(self._version, "refused", self._step, str(error))
        except OfflineError as error:
            return Outcome(self._version, "unreached", self._step, str(error))
        except (LauncherError, OSError, subprocess.SubprocessError) as error:
            return Outcome(self._version, "failed", self._step, str(error))
        finally:
            tempfile.tempdir = others
            shutil.rmtree(self._place.scratch, ignore_errors=True)

    def _steps(self) -> Outcome | None:
        state = self._recover()
        if isinstance(state, Outcome):
            return state
        running = self._place.running()
        if not self._place.has_root() and self._nothing_offered(running):
            self._say(f"offer: nothing new; updates are off here, without {self._place.root}")
            return None
        self._begin("refresh", f"asking {self._manager.url} (running {running or 'unknown'})")
        trusted = Trusted(self._place, self._manager)
        self._begin("offer", "what is to be run here")
        release = self._wanted(state, trusted, running)
        if release is None:
            return None
        self._version = release.version
        self._begin("decide", f"{release.version} is to be run")
        self._check(state, release)
        if not self._again and (why := self._obstacle(state, release)):
            self._leave_alone(why)
            return None
        failed = self._make_ready(state, trusted, release)
        if failed is not None:
            self._remember(state, release, failed)
            return None
        self._begin("switch", release.version)
        outcome = self._switching.begin(state, release.version)
        self._prune()
        return outcome

    def _nothing_offered(self, running: str) -> bool:
        """Ask a manager whose releases could not be verified here whether it has a newer one."""
        self._begin("offer", "what is to be run here")
        version, _, _ = self._manager.offer(running)
        return version in ("", running)

    def _make_ready(self, state: State, trusted: Trusted, release: Release) -> Outcome | None:
        """Install a release beside the others; return how it failed, if that is its own doing."""
        version = release.version
        archive = None
        if not self._place.is_complete(version):
            self._begin("download", with_plurals(f"{release.target.length} bytes of {version}"))
            archive = trusted.download(release, self._place)
        try:
            if archive is not None:
                self._begin("install", version)
                install(archive, version, self._place)
            self._begin("test", version)
            self._test(version)
        except (RefusedError, BrokenError) as error:
            if version != state.good:
                shutil.rmtree(self._place.release(version), ignore_errors=True)
            outcome = "failed" if isinstance(error, BrokenError) else "refused"
            return Outcome(version, outcome, self._step, str(error))
        return None

    def _test(self, version: str) -> None:
        """Rehearse the release's launcher; it is broken where only it misses the manager.

        Raises OfflineError: this one does not reach the manager either; LauncherError, BrokenError.
        """
        for last in (False, True):
            try:
                try_launcher(version, self._place)
                break
            except OfflineError as error:
                self._manager.offer(self._place.running())
                if last:
                    raise BrokenError(f"{error}; the one that runs here does reach it") from error

    def _remember(self, state: State, release: Release, outcome: Outcome) -> None:
        """Report that a release failed here, the first time, and store that it did."""
        before = state.failed.get(release.version)
        now_ms = time.time_ns() // 1_000_000
        failure = failure_after(before, release.fingerprint, outcome.step, outcome.detail, now_ms)
        if failure.times == 1:
            self._note(outcome)
        self._switching.keep(replace(state, failed={**state.failed, release.version: failure}))
        self._leave_alone(failed_before(release.version, failure))

    def _recover(self) -> State | Outcome:
        """Return the state, or how a trial ended that a killed launcher had begun."""
        self._begin("recover", "what was left")
        scratch = self._place.scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        tempfile.tempdir = str(scratch)
        state = read_state(self._place.own / "state.json")
        trial = state.trial
        if trial and self._place.running() not in (trial.version, trial.before):
            self._say(f"recover: the trial of {trial.version} is over: another was installed")
            state = self._switching.keep(state.without_trial())
        if state.trial is not None:
            self._version = state.trial.version
            self._say(f"recover: {self._version} was on trial")
            return self._switching.go_on(state)
        running = self._place.running()
        if running and running != state.good:
            # The installer, or a person, led `current` here: it is what works now.
            state = replace(state.with_good(running), highest=higher(state.highest, running))
            self._switching.keep(state)
        return state

    def _wanted(self, state: State, trusted: Trusted, running: str) -> Release | None:
        version, target, why = self._manager.offer(running)
        with contextlib.suppress(OSError):
            (self._place.own / LOOKED).touch()
        if state.pin and version and version != state.pin:
            self._say(f"offer: {version}, but this site is pinned to {state.pin}")
            version = ""
        if state.pin and not version and running != state.pin:
            version = state.pin
        if not version or version == running:
            self._say(f"offer: nothing new ({why})")
            return None
        if not is_version(version):
            raise RefusedError(f"{version[:40]!r} is offered, and is no version")
        self._version = version
        release = trusted.releases.get(version)
        if release is None:
            raise RefusedError(f"{version} is offered, but not signed, or it was revoked")
        if target and target != release.target.path:
            raise RefusedError(f"{version} is signed as {release.target.path}, not {target[:80]!r}")
        return release

    def _check(self, state: State, release: Release) -> None:
        version = release.version
        lower = bool(state.highest) and version_key(version) < version_key(state.highest)
        if lower and version != state.good:
            raise RefusedError(
                f"{version} is older than {state.highest}, which was here; only the last good one "
                f"({state.good or 'none'}) may follow it"
            )

    def _obstacle(self, state: State, release: Release) -> str:
        """Return how a release failed here, unless it is to be tried; the manager knows it."""
        version = release.version
        failure = state.failed.get(version)
        if version in state.bad:
            return f"{version} went back before ({state.bad[version]})"
        if failure and failure.holds(release.fingerprint, time.time_ns() // 1_000_000):
            return failed_before(version, failure)
        return ""

    def _leave_alone(self, why: str) -> None:
        self._held = why
        self._say(f"decide: {why}; `prs update --again` tries it now")

    def _begin(self, step: str, text: str) -> None:
        self._step = step
        self._say(f"{step}: {text}")

    def _prune(self) -> None:
        """Remove releases but the one that runs, the last good one and the newest one."""
        state = read_state(self._place.own / "state.json")
        keep = {self._place.running(), state.good}
        others = [path for path in self._place.versions.iterdir() if path.name not in keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[max(0, KEPT - len(keep)) :]:
            self._say(f"remove: {path.name}")
            shutil.rmtree(path, ignore_errors=True)
