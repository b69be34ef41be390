"""Start of worker processes: as programs here, forked by a fork server elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

__all__ = ["Files", "Launch", "Launched", "by_command"]


class Files(NamedTuple):
    """The open files of a worker, by their numbers: pages in, results out, the counter."""

    source: int
    sink: int
    counter: int


class Launched(Protocol):
    """A process that runs."""

    @property
    def pid(self) -> int:
        """The number of the process."""

    def kill(self) -> None:
        """End the process; one that has ended stays unchanged."""

    def wait(self) -> int:
        """Wait for its end; return its exit code, or minus the number of a signal."""


Launch = Callable[[Files], Launched]
"""Starts a worker with copies of these files; raises OSError where it cannot."""


def by_command(command: Sequence[str]) -> Launch:
    """Return what starts a program that calls `child.serve`."""

    def launch(files: Files) -> Launched:
        import subprocess  # noqa: PLC0415  # a worker imports this module too

        return subprocess.Popen(  # noqa: S603  # our own program
            [*command, *map(str, files)],
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    return launch
