"""`python -m launcher`: update this site, pin it, or give it the first root.

Exit codes: 0 up to date, 1 it could not be updated (the last line says why), 2 wrong command line;
of --self-test: 0 it works, 1 it does not, 3 the manager was not reached.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tuf.api.metadata import Metadata, Root

from launcher.bundle import UNREACHED
from launcher.errors import LauncherError, OfflineError
from launcher.installation import Installation, Journal, write_whole
from launcher.lock import take_lock
from launcher.rehearsal import rehearse
from launcher.state import read_state, write_state
from launcher.update import deliver_reports, update
from shared.versions import is_version

__all__ = ["main"]

PATIENCE_S: Final = 180.0


def main() -> int:
    """Do what the command line says; return the exit code."""
    options = _options()
    home = options.home.expanduser().absolute()
    data = (options.data or home / "data").expanduser().absolute()
    installation = Installation(home, data)
    if options.self_test:
        return _test(installation, whole=options.data is not None)
    try:
        installation.own.mkdir(mode=0o700, parents=True, exist_ok=True)
        installation.versions.mkdir(exist_ok=True)
        journal = Journal(installation, quiet=options.quiet)
        if (
            take_lock(installation.own / "lock", journal.write) is None
        ):  # held until this process ends
            return 0 if options.pin is None and options.root is None else 1
        os.umask(0o077)
        return _run_option(installation, options, journal)
    except (LauncherError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1


def _test(installation: Installation, *, whole: bool) -> int:
    """Run a self-test of this launcher. whole: try all of an update that changes nothing."""
    try:
        if whole:
            rehearse(installation)
        print("launcher works")
    except (LauncherError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return UNREACHED if isinstance(error, OfflineError) else 1
    return 0


def _run_option(installation: Installation, options: argparse.Namespace, journal: Journal) -> int:
    if options.root is not None:
        _trust(installation, options.root)
        return 0
    if options.pin is not None:
        _pin(installation, options.pin)
        return 0
    if options.tell:
        return deliver_reports(installation, journal)
    return update(installation, journal, again=options.again, patience_s=options.patience)


def _trust(installation: Installation, path: Path) -> None:
    """Keep the first root, once."""
    data = path.read_bytes()
    try:
        root: Metadata[Root] = Metadata[Root].from_bytes(data)
        root.verify_delegate("root", root)
    except Exception as error:
        raise LauncherError(f"{path}: no root that its own keys signed ({error})") from error
    if installation.root.exists() and installation.root.read_bytes() != data:
        raise LauncherError(
            f"{installation.root}: another root is trusted here already; a new one comes by "
            "itself, signed by the old one's keys. Remove that file only if the crawl was set up "
            "again"
        )
    write_whole(installation.root, data.decode())


def _pin(installation: Installation, version: str) -> None:
    """Keep this site on one version; empty: on what the manager offers."""
    if version and not is_version(version):
        raise LauncherError(f"--pin {version[:40]!r}: must be a version, as 1.4.0, or empty")
    path = installation.own / "state.json"
    write_state(path, replace(read_state(path), pin=version))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m launcher", description=__doc__)
    parser.add_argument("--version", action="version", version=f"launcher {version('prsm')}")
    parser.add_argument("--home", type=Path, required=True, help="the folder of the installation")
    parser.add_argument("--data", type=Path, help="the agent's folder; default: HOME/data")
    parser.add_argument("--again", action="store_true", help="also what failed or went back before")
    parser.add_argument("--quiet", action="store_true", help="only into the log")
    parser.add_argument("--pin", metavar="VERSION", help="stay on VERSION; empty: no more")
    parser.add_argument("--root", type=Path, metavar="FILE", help="trust this first root")
    parser.add_argument("--tell", action="store_true", help="only send the reports that wait")
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help=argparse.SUPPRESS)
    parser.add_argument("--self-test", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
