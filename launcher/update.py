"""One update, from the question what there is to a release that has proved itself.

    recover   what a killed launcher left         download  the file, as long and hashed as signed
    refresh   the signed files, from the root on  install   beside the others, without a network
    offer     what the manager wants run here     test      its own launcher starts
    decide    newer than all before, not bad      switch, sync, good or back (`switching`)

Invariant: `current` leads to a whole release at every moment, and never to one that is lower than
the highest that it ever led to, but the last good one.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from typing import Final

from launcher.bundle import install, try_launcher
from launcher.errors import LauncherError, OfflineError, RefusedError
from launcher.manager import Manager, read_site
from launcher.place import Journal, Place
from launcher.state import State, read_state
from launcher.switching import Outcome, Switching, higher
from launcher.telling import Telling
from launcher.trusted import Release, Trusted
from shared.versions import is_version, version_key

__all__ = ["tell", "update"]

KEPT: Final = 2


def update(place: Place, journal: Journal, *, again: bool, patience_s: float) -> int:
    """Bring a site up to date; return the exit code: 0 done or nothing to do, 1 it could not be.

    again: also try a version that went back before. Raises LauncherError where nothing can be
    done at all; a failure on the way is reported to the manager and is code 1.
    """
    run = _Run(place, journal, again=again, patience_s=patience_s)
    return run.run()


def tell(place: Place, journal: Journal) -> int:
    """Tell the manager what it could not be told before, and nothing else; return 0."""
    Telling(place.own, Manager(read_site(place.data)), journal.say).tell()
    return 0


class _Run:
    def __init__(self, place: Place, journal: Journal, *, again: bool, patience_s: float) -> None:
        self._place = place
        self._say = journal.say
        self._again = again
        self._switching = Switching(place, journal, patience_s=patience_s)
        self._manager = Manager(read_site(place.data))
        self._telling = Telling(place.own, self._manager, journal.say)
        self._step = "recover"
        self._version = ""

    def run(self) -> int:
        """Do all steps; tell the manager how it went."""
        others = tempfile.tempdir
        try:
            outcome = self._steps()
        except RefusedError as error:
            outcome = Outcome(self._version, "refused", self._step, str(error))
        except OfflineError as error:
            outcome = Outcome(self._version, "unreached", self._step, str(error))
        except (LauncherError, OSError, subprocess.SubprocessError) as error:
            outcome = Outcome(self._version, "failed", self._step, str(error))
        finally:
            tempfile.tempdir = others
            shutil.rmtree(self._place.scratch, ignore_errors=True)
        good = outcome is None or outcome.outcome == "updated"
        if outcome is not None:
            if not good:
                self._say(f"{outcome.outcome} at {outcome.step}: {outcome.detail}")
            self._telling.add(outcome)
        self._telling.tell()
        return 0 if good else 1

    def _steps(self) -> Outcome | None:
        state = self._recover()
        if isinstance(state, Outcome):
            return state
        running = self._place.running()
        self._begin("refresh", f"asking {self._manager.url} (running {running or 'unknown'})")
        trusted = Trusted(self._place, self._manager)
        self._begin("offer", "what is to be run here")
        release = self._wanted(state, trusted, running)
        if release is None:
            return None
        self._version = release.version
        self._begin("decide", f"{release.version} is to be run")
        self._check(state, release, running)
        if not self._place.is_complete(release.version):
            self._begin("download", f"{release.target.length} bytes of {release.version}")
            archive = trusted.download(release, self._place)
            self._begin("install", release.version)
            install(archive, release.version, self._place)
        self._begin("test", release.version)
        try_launcher(release.version, self._place)
        self._begin("switch", release.version)
        outcome = self._switching.begin(state, release.version)
        self._prune()
        return outcome

    def _recover(self) -> State | Outcome:
        """Return the state, or how a trial ended that a killed launcher had begun."""
        self._begin("recover", "what was left")
        scratch = self._place.scratch
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        tempfile.tempdir = str(scratch)
        state = read_state(self._place.own / "state.json")
        if state.trial is not None:
            self._version = state.trial.version
            self._say(f"recover: {self._version} was on trial")
            return self._switching.go_on(state)
        running = self._place.running()
        if running and running != state.good:
            # The installer, or a person, led `current` here: it is what works now.
            state = replace(state, good=running, highest=higher(state.highest, running))
            self._switching.keep(state)
        return state

    def _wanted(self, state: State, trusted: Trusted, running: str) -> Release | None:
        version, target, why = self._manager.offer(running)
        if state.pin and version and version != state.pin:
            self._say(f"offer: {version}, but this site is pinned to {state.pin}")
            version = ""
        if state.pin and not version and running != state.pin:
            version = state.pin
        if not version and not running and trusted.releases:
            version = max(trusted.releases, key=version_key)
            self._say(f"offer: none; the newest that is signed is {version}")
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

    def _check(self, state: State, release: Release, running: str) -> None:
        version = release.version
        lower = bool(state.highest) and version_key(version) < version_key(state.highest)
        if lower and version != state.good:
            raise RefusedError(
                f"{version} is older than {state.highest}, which was here; only the last good one "
                f"({state.good or 'none'}) may follow it"
            )
        if version in state.bad and not self._again:
            raise RefusedError(
                f"{version} went back before ({state.bad[version]}); `prs update --again` tries it"
            )

    def _begin(self, step: str, text: str) -> None:
        self._step = step
        self._say(f"{step}: {text}")

    def _prune(self) -> None:
        """Remove releases but the one that runs, the last good one and what came last."""
        state = read_state(self._place.own / "state.json")
        keep = {self._place.running(), state.good}
        others = [path for path in self._place.versions.iterdir() if path.name not in keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[max(0, KEPT - len(keep)) :]:
            self._say(f"remove: {path.name}")
            shutil.rmtree(path, ignore_errors=True)
