"""People with keys and the signing process: they sign the first root, and each release.

The manager has none of it.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tools.demo.system import BIN, Program, wait_for

__all__ = ["People", "Signing"]

PASSPHRASE: Final = "words of the story"  # noqa: S105  # of keys that are deleted with it
ROOTS: Final = ("anna", "ben", "cleo")


class People:
    """Their keys, in one folder. docs/operations.md tells the ceremony."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.root = folder / "1.root.json"
        self.targets = folder / "targets.json"
        self.signer = folder / "signer"

    def meet(self) -> None:
        """Make keys; sign the first root, by two of three, and targets that name no release."""
        for name in (*ROOTS, "release"):
            self.do("key", f"{name}.pem")
        self.do("signer-keys", "signer")
        words = ["--root-threshold", "2", "--targets-key", "release.pem.pub"]
        for name in ROOTS:
            words += ["--root-key", f"{name}.pem.pub"]
        words += ["--snapshot-key", "signer/snapshot.pem.pub"]
        words += ["--timestamp-key", "signer/timestamp.pem.pub"]
        self.do("root", "-o", "1.root.json", *words)
        for name in ROOTS[:2]:
            self.do("cosign", "1.root.json", "--key", f"{name}.pem")
        self.do("sign", "--key", "release.pem", "-o", "targets.json")

    def sign(
        self, bundle: Path, version: str, key: str = "release.pem", output: str = "targets.json"
    ) -> Path:
        """Sign targets that name one release more; return their file."""
        words = ["sign", str(bundle), "--version", version, "--targets", "targets.json"]
        self.do(*words, "--key", key, "-o", output)
        return self.folder / output

    def do(self, *words: str) -> None:
        """Run a `prsm release` command on the machine that has the keys."""
        subprocess.run(
            [str(BIN / "prsm"), "release", *words],
            cwd=self.folder,
            env={**os.environ, "PRSM_KEY_PASSPHRASE": PASSPHRASE},
            stdout=subprocess.DEVNULL,
            check=True,
        )


class Signing:
    """People with keys, and the signing process; the stack ends it."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.people = People(folder / "keys")
        self.socket = folder / "sign.sock"
        self._program = Program(
            [
                *("prsm", "release", "signer", "--keys", str(self.people.signer)),
                *("--socket", str(self.socket), "--root", str(self.people.root)),
            ],
            folder / "signer.log",
        )
        stack.callback(self._program.stop)

    def start(self) -> None:
        """Start the process, with the keys that the people made."""
        self._program.start()
        wait_for("the signing process", self.socket.exists, seconds=60)
