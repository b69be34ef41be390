"""`prsm release key|root|sign|cosign`: where the keys are; `signer`: the signing process.

None of these calls a manager. The first four run on a machine that is never on the network; their
files are carried. A passphrase is asked for, or read from PRSM_KEY_PASSPHRASE.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

import click

from manager.cli import output as showing
from manager.cli.manager_client import RefusedError
from shared.errors import PrsmError

__all__ = ["cosign", "key", "root", "sign", "signer", "signer_keys"]

YEAR_DAYS: Final = 365
PASSPHRASE: Final = "PRSM_KEY_PASSPHRASE"  # noqa: S105 - a variable's name
_new: Final = click.Path(path_type=Path, dir_okay=False)
_old: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
_folder: Final = click.Path(path_type=Path, file_okay=False)
_keys_option = click.option(
    "--key", "keys", type=_old, multiple=True, help="A key to sign with; may be repeated."
)
_out_option = click.option("-o", "--output", type=_new, required=True, help="What to write.")
_days_option = click.option(
    "--days", type=click.IntRange(1, 3650), default=YEAR_DAYS, show_default=True, help="Good for."
)


@click.command()
@click.argument("path", type=_new)
def key(path: Path) -> None:
    """Create a person's key: PATH, encrypted by a passphrase, and PATH.pub, which is public."""
    words = os.environ.get(PASSPHRASE) or click.prompt(
        "Passphrase", hide_input=True, confirmation_prompt=True
    )
    with _in_words() as files:
        showing.say(files.make_key(path, words))


@click.command()
@click.option("--previous", type=_old, help="The root that this one follows.")
@click.option("--root-key", "root_keys", type=_old, multiple=True, help="A .pub; may be repeated.")
@click.option("--targets-key", "targets_keys", type=_old, multiple=True, help="The same.")
@click.option("--snapshot-key", type=_old, help="snapshot.pem.pub of `prsm release signer-keys`.")
@click.option("--timestamp-key", type=_old, help="timestamp.pem.pub of the same.")
@click.option("--root-threshold", type=click.IntRange(1, 20), help="How many root keys must sign.")
@click.option("--targets-threshold", type=click.IntRange(1, 20), help="The same for targets.")
@_days_option
@_out_option
def root(
    previous: Path | None,
    root_keys: tuple[Path, ...],
    targets_keys: tuple[Path, ...],
    snapshot_key: Path | None,
    timestamp_key: Path | None,
    root_threshold: int | None,
    targets_threshold: int | None,
    days: int,
    output: Path,
) -> None:
    """Write a root that names the keys of all roles; sign it with `prsm release cosign`.

    With --previous, roles that are not named keep their keys.
    """
    given = {
        "root": root_keys,
        "targets": targets_keys,
        "snapshot": (snapshot_key,) if snapshot_key else (),
        "timestamp": (timestamp_key,) if timestamp_key else (),
    }
    asked = {"root": root_threshold, "targets": targets_threshold}
    thresholds = {role: number for role, number in asked.items() if number}
    with _in_words() as files:
        showing.say(files.make_root(previous, given, thresholds, days, output))


@click.command()
@click.argument("bundle", type=_old, required=False)
@click.option("--version", help="The version of BUNDLE, as 1.4.0.")
@click.option("--revoke", help="A version to take away.")
@click.option("--targets", "before", type=_old, help="The newest targets.json; none: the first.")
@_keys_option
@_days_option
@_out_option
def sign(
    bundle: Path | None,
    version: str | None,
    revoke: str | None,
    before: Path | None,
    keys: tuple[Path, ...],
    days: int,
    output: Path,
) -> None:
    """Write the next targets, with BUNDLE or without a version, and sign them.

    Without BUNDLE and --revoke it renews the date of the file of --targets; without --targets
    too, it writes the first targets, which name no release.
    """
    if bool(bundle) != bool(version) or (bundle and revoke):
        raise click.UsageError("give BUNDLE and --version, or --revoke VERSION, or none of them")
    if before is None and (bundle or revoke):
        raise click.UsageError("--targets: name the newest (`prsm release metadata targets.json`)")
    with _in_words() as files:
        made = files.make_targets(before, bundle, version, revoke, days)
        showing.say(files.sign(made, _words(keys), output))


@click.command()
@click.argument("path", type=_old)
@_keys_option
def cosign(path: Path, keys: tuple[Path, ...]) -> None:
    """Add signatures to root or targets in PATH."""
    with _in_words() as files:
        showing.say(files.sign(files.read_either(path), _words(keys), path))


@click.command("signer-keys")
@click.argument("folder", type=_folder)
def signer_keys(folder: Path) -> None:
    """Create the keys of the signing process in FOLDER, if missing; show the public ones."""
    with _in_words() as files:
        for line in files.make_signer_keys(folder):
            showing.say(line)


@click.command()
@click.option("--keys", type=_folder, required=True, help="The folder of `signer-keys`.")
@click.option("--socket", type=_new, required=True, help="Where managers ask.")
@click.option("--root", "first", type=_old, help="The first root; needed at the first start.")
def signer(keys: Path, socket: Path, first: Path | None) -> None:
    """Run the signing process: sign snapshots and timestamps for managers, until SIGTERM.

    Run it as a separate user: its keys are in the hands of every reader of its folder. It signs
    only data that the keys of people have signed, and has no other state.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    with _in_words() as files:
        files.run_signer(keys, socket, first)


def _words(keys: tuple[Path, ...]) -> list[tuple[Path, str]]:
    """Return the keys, each with its passphrase."""
    words = os.environ.get(PASSPHRASE)
    return [
        (path, words or click.prompt(f"Passphrase of {path}", hide_input=True)) for path in keys
    ]


@contextmanager
def _in_words() -> Iterator[ModuleType]:
    """Yield the module for keys and metadata, and turn its refusals into a sentence."""
    # TUF and cryptography take a third of a second to import; other commands need neither.
    from manager.cli.releases import release_files  # noqa: PLC0415 - see above

    try:
        yield release_files
    except PrsmError as error:
        raise RefusedError.of(error) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
