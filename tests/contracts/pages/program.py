"""A page worker that does what the body of a page orders: how workers end is tested with it."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path
from typing import Any

from agent.adapters.pages.child import Work, files_from_arguments, serve
from agent.adapters.pages.worker_start import Files
from agent.modules.limits import PageLimits
from agent.modules.page.work import PageRead, finished, read, work_on
from agent.pipeline.messages.pages import Fetched, PageWork

LIMITS = PageLimits(agent_token="prsm")
FILES: list[Files] = []  # of this process, where it is a worker


def read_obediently(page: Fetched, unread: str) -> PageRead:
    """Read a page honestly, after what its body orders where that is read."""
    order, _, rest = page.capture.body.partition(b" ")
    if not unread or order == b"kill-always":
        obey(order, rest.decode("latin-1"))
    return read(page, LIMITS, unread)


def finish_obediently(done: PageRead) -> PageWork:
    """Make a page's record honestly, after what its body orders where it was read: `later ...`."""
    order, _, rest = done.page.capture.body.partition(b" ")
    if order == b"later" and not done.note:
        order, _, rest = rest.partition(b" ")
        obey(order, rest.decode("latin-1"))
    return finished(done)


def work(page: Fetched, unread: str) -> PageWork:
    """Do both halves, as a process does for itself."""
    return finish_obediently(read_obediently(page, unread))


def archive(page: Fetched, unread: str) -> PageWork:
    """Do what is done where no worker survives a page: here, whatever its body orders."""
    return work_on(page, LIMITS, unread)


def obey(order: bytes, rest: str) -> None:
    match order:
        case b"spin":
            while True:
                pass
        case b"eat":
            bytearray(2_000_000_000)
        case b"crash":
            ctypes.string_at(0)
        case b"hang":
            signal.pause()
        case b"raise":
            raise KeyError(rest)
        case b"kill" | b"kill-always":
            os.kill(os.getpid(), signal.SIGKILL)
        case b"kill-once":
            if not Path(rest).exists():
                Path(rest).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case b"lie":
            os.write(FILES[0].sink, b"\x10\0\0\0\x01\0\0\0" + b"\xff" * 16)
        case b"end":
            os._exit(3)


def make(told: dict[str, Any]) -> Work[PageRead]:
    return Work(read_obediently, finish_obediently)


def be_worker(files: Files) -> None:
    FILES.append(files)
    serve(make, files)


if __name__ == "__main__":
    be_worker(files_from_arguments())
