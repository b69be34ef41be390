"""One update, from the question what there is to a release that has proved itself.

    recover   what a killed launcher left         download  the file, as long and hashed as signed
    refresh   the signed files, from the root on  install   beside the others, without a network
    offer     what the manager wants run here     test      its own launcher rehearses all this
    decide    newer than all before, not bad      switch, sync, good or back (`switch`)

Invariant: `current` leads to a whole release at every moment, and never to one that is lower than
the highest that it ever led to, but the last good one. A failure is reported once, and not tried
again each night (`state.Failure`).
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
from launcher.installation import Installation, Journal
from launcher.manager import Manager, read_site
from launcher.signed_releases import Release, SignedReleases
from launcher.state import State, failure_text, next_failure, read_state
from launcher.switch import Outcome, Switch, higher
from launcher.update_reports import UpdateReports
from shared.plurals import with_plurals
from shared.versions import is_version, version_key

__all__ = ["deliver_reports", "update"]

KEPT_RELEASES: Final = 2
OFFER_MARK: Final = "looked"  # the agent starts this launcher where it is old


def update(installation: Installation, journal: Journal, *, again: bool, patience_s: float) -> int:
    """Bring a site up to date; return the exit code: 0 done or nothing to do, 1 it could not be.

    again: also try a version that went back before. Raises LauncherError where nothing can be
    done at all; a failure on the way is reported to the manager and is code 1.
    """
    run = _Run(installation, journal, again=again, patience_s=patience_s)
    return run.run()


def deliver_reports(installation: Installation, journal: Journal) -> int:
    """Deliver reports that wait, and nothing else; return 0."""
    UpdateReports(installation.own, Manager(read_site(installation.data)), journal.write).deliver()
    return 0


class _Run:
    def __init__(
        self, installation: Installation, journal: Journal, *, again: bool, patience_s: float
    ) -> None:
        self._installation = installation
        self._log_line = journal.write
        self._again = again
        self._switch = Switch(installation, journal, patience_s=patience_s)
        self._manager = Manager(read_site(installation.data))
        self._reports = UpdateReports(installation.own, self._manager, journal.write)
        self._step = "recover"
        self._version = ""
        self._skip_reason = ""  # why what is to be run is left alone

    def run(self) -> int:
        """Do all steps; tell the manager how it went."""
        outcome = self._outcome()
        if outcome is not None:
            self._add_report(outcome)
        self._reports.deliver()
        good = not self._skip_reason if outcome is None else outcome.outcome == "updated"
        return 0 if good else 1

    def _add_report(self, outcome: Outcome) -> None:
        if outcome.outcome != "updated":
            self._log_line(f"{outcome.outcome} at {outcome.step}: {outcome.detail}")
        self._reports.add(outcome)

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
            shutil.rmtree(self._installation.scratch, ignore_errors=True)

    def _steps(self) -> Outcome | None:
        state = self._recover()
        if isinstance(state, Outcome):
            return state
        running = self._installation.running()
        if not self._installation.has_root() and self._nothing_offered(running):
            self._log_line(
                f"offer: nothing new; updates are off here, without {self._installation.root}"
            )
            return None
        self._log_step("refresh", f"asking {self._manager.url} (running {running or 'unknown'})")
        signed = SignedReleases(self._installation, self._manager)
        self._log_step("offer", "what is to be run here")
        release = self._offered_release(state, signed, running)
        if release is None:
            return None
        self._version = release.version
        self._log_step("decide", f"{release.version} is to be run")
        self._refuse_downgrade(state, release)
        if not self._again and (why := self._reason_to_skip(state, release)):
            self._skip(why)
            return None
        failed = self._install(state, signed, release)
        if failed is not None:
            self._record_failure(state, release, failed)
            return None
        self._log_step("switch", release.version)
        outcome = self._switch.begin(state, release.version)
        self._prune()
        return outcome

    def _nothing_offered(self, running: str) -> bool:
        """Ask a manager whose releases could not be verified here whether it has a newer one."""
        self._log_step("offer", "what is to be run here")
        version, _, _ = self._manager.offer(running)
        return version in ("", running)

    def _install(self, state: State, signed: SignedReleases, release: Release) -> Outcome | None:
        """Install a release beside the others; return how it failed, if that is its own doing."""
        version = release.version
        archive = None
        if not self._installation.is_complete(version):
            self._log_step("download", with_plurals(f"{release.target.length} bytes of {version}"))
            archive = signed.download(release, self._installation)
        try:
            if archive is not None:
                self._log_step("install", version)
                install(archive, version, self._installation)
            self._log_step("test", version)
            self._test(version)
        except (RefusedError, BrokenError) as error:
            if version != state.good:
                shutil.rmtree(self._installation.release(version), ignore_errors=True)
            outcome = "failed" if isinstance(error, BrokenError) else "refused"
            return Outcome(version, outcome, self._step, str(error))
        return None

    def _test(self, version: str) -> None:
        """Rehearse the release's launcher; it is broken where only it misses the manager.

        Raises OfflineError: this one does not reach the manager either; LauncherError, BrokenError.
        """
        for last in (False, True):
            try:
                try_launcher(version, self._installation)
                break
            except OfflineError as error:
                self._manager.offer(self._installation.running())
                if last:
                    raise BrokenError(f"{error}; the one that runs here does reach it") from error

    def _record_failure(self, state: State, release: Release, outcome: Outcome) -> None:
        """Report that a release failed here, the first time, and store that it did."""
        before = state.failed.get(release.version)
        now_ms = time.time_ns() // 1_000_000
        failure = next_failure(before, release.fingerprint, outcome.step, outcome.detail, now_ms)
        if failure.times == 1:
            self._add_report(outcome)
        self._switch.write(replace(state, failed={**state.failed, release.version: failure}))
        self._skip(failure_text(release.version, failure))

    def _recover(self) -> State | Outcome:
        """Return the state, or how a trial ended that a killed launcher had begun."""
        self._log_step("recover", "an interrupted update, if any")
        scratch = self._installation.scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        tempfile.tempdir = str(scratch)
        state = read_state(self._installation.own / "state.json")
        trial = state.trial
        if trial and self._installation.running() not in (trial.version, trial.before):
            self._log_line(f"recover: the trial of {trial.version} is over: another was installed")
            state = self._switch.write(state.without_trial())
        if state.trial is not None:
            self._version = state.trial.version
            self._log_line(f"recover: {self._version} was on trial")
            return self._switch.resume(state)
        running = self._installation.running()
        if running and running != state.good:
            # The installer, or a person, led `current` here: it is what works now.
            state = replace(state.with_good(running), highest=higher(state.highest, running))
            self._switch.write(state)
        return state

    def _offered_release(
        self, state: State, signed: SignedReleases, running: str
    ) -> Release | None:
        version, target, why = self._manager.offer(running)
        with contextlib.suppress(OSError):
            (self._installation.own / OFFER_MARK).touch()
        if state.pin and version and version != state.pin:
            self._log_line(f"offer: {version}, but this site is pinned to {state.pin}")
            version = ""
        if state.pin and not version and running != state.pin:
            version = state.pin
        if not version or version == running:
            self._log_line(f"offer: nothing new ({why})")
            return None
        if not is_version(version):
            raise RefusedError(f"{version[:40]!r} is offered, and is no version")
        self._version = version
        release = signed.releases.get(version)
        if release is None:
            raise RefusedError(f"{version} is offered, but not signed, or it was revoked")
        if target and target != release.target.path:
            raise RefusedError(f"{version} is signed as {release.target.path}, not {target[:80]!r}")
        return release

    def _refuse_downgrade(self, state: State, release: Release) -> None:
        version = release.version
        lower = bool(state.highest) and version_key(version) < version_key(state.highest)
        if lower and version != state.good:
            raise RefusedError(
                f"{version} is older than {state.highest}, which was here; only the last good one "
                f"({state.good or 'none'}) may follow it"
            )

    def _reason_to_skip(self, state: State, release: Release) -> str:
        """Return how a release failed here, unless it is to be tried; the manager knows it."""
        version = release.version
        failure = state.failed.get(version)
        if version in state.bad:
            return f"{version} went back before ({state.bad[version]})"
        if failure and failure.blocks(release.fingerprint, time.time_ns() // 1_000_000):
            return failure_text(version, failure)
        return ""

    def _skip(self, why: str) -> None:
        self._skip_reason = why
        self._log_line(f"decide: {why}; `prs update --again` tries it now")

    def _log_step(self, step: str, text: str) -> None:
        self._step = step
        self._log_line(f"{step}: {text}")

    def _prune(self) -> None:
        """Remove releases but the one that runs, the last good one and the newest one."""
        state = read_state(self._installation.own / "state.json")
        keep = {self._installation.running(), state.good}
        others = [path for path in self._installation.versions.iterdir() if path.name not in keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[max(0, KEPT_RELEASES - len(keep)) :]:
            self._log_line(f"remove: {path.name}")
            shutil.rmtree(path, ignore_errors=True)
