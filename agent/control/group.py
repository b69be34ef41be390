"""A process group of the agent's own, so that all that it started can be ended with it."""

from __future__ import annotations

import contextlib
import os

__all__ = ["lead_a_group"]


def lead_a_group() -> None:
    """Make this process and those that it will start a process group.

    On a terminal the shell has done so; elsewhere no Ctrl-C stops it.
    """
    if os.getpgrp() != os.getpid() and not any(os.isatty(number) for number in range(3)):
        with contextlib.suppress(OSError):  # a session's first process leads one already
            os.setpgid(0, 0)
