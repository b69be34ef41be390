"""Fork server of page workers: one process that has imported what they need, and forks them.

To start a worker as a program costs all that it imports, to fork one next to nothing. The server
is forked from the agent's process in its turn, before that has threads, a loop, its lock or its
key: nothing of them is in a worker, which reads hostile pages. It imports what they need for the
first of them: where there is nothing to crawl it never does. It carries out two orders:

    0, and three files      fork a worker; answered by its number, or by minus the error's number
    the number of a worker  kill it; answered by how it ended, perhaps before

Invariant: a worker's number is its own until its end was asked for, because no other process
reaps it. The server ends when the agent does, its workers when their pages do.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import traceback
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Final

from agent.adapters.pages.child import IGNORED_SIGNALS
from agent.adapters.pages.worker_start import Files

__all__ = ["ForkServer", "Serve"]

Serve = Callable[[Files], None]
"""Is a worker, until its pages end."""

ANSWER_S: Final = 60.0  # the first one takes what the imports take, on however busy a machine
_NUMBER: Final = Struct("<i")
_FORK: Final = 0


class ForkServer:
    """The fork server as the agent sees it."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        """Use `open`."""
        self._pid = pid
        self._line: socket.socket | None = line

    @classmethod
    def open(cls, prepare: Callable[[], Serve]) -> ForkServer:
        """Fork it. prepare: imports, over there, what workers need. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            _run(theirs, prepare)
        theirs.close()
        ours.settimeout(ANSWER_S)
        return cls(pid, ours)

    @property
    def is_open(self) -> bool:
        """Return whether it can be asked for workers."""
        return self._line is not None

    def launch(self, files: Files) -> _ForkedWorker:
        """Start a worker. Raises OSError; `is_open` says whether to ask again."""
        pid = self._send_order(_FORK, files)
        if pid < 0:
            raise OSError(-pid, f"no page worker: {os.strerror(-pid)}")
        return _ForkedWorker(pid, self._exit_code)

    def close(self) -> None:
        """Release it; it ends."""
        if self._line is not None:
            self._line.close()
            self._line = None
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._pid, 0)

    def _send_order(self, number: int, files: tuple[int, ...] = ()) -> int:
        """Return the answer to an order; raises OSError, and is closed, where none comes."""
        if self._line is None:
            raise BrokenPipeError("the fork server of page workers has ended")
        try:
            socket.send_fds(self._line, [_NUMBER.pack(number)], files)
            answer = self._line.recv(_NUMBER.size)
            if not answer:
                raise BrokenPipeError("the fork server of page workers has ended")
        except OSError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)  # only this process reaps it
            self.close()
            raise
        (value,) = _NUMBER.unpack(answer)
        return int(value)

    def _exit_code(self, pid: int) -> int:
        """Return how a worker ended, once it has; SIGKILL where that can no longer be known."""
        try:
            return self._send_order(pid)
        except OSError:
            return -signal.SIGKILL


class _ForkedWorker:
    """A worker as its parent sees it; fulfils `Launched`."""

    def __init__(self, pid: int, ended: Callable[[int], int]) -> None:
        self.pid = pid
        self._exit_code = ended
        self._code: int | None = None
        try:
            self._handle = os.pidfd_open(pid)  # means this process, even if its number is reused
        except OSError:
            self._handle = -1

    def kill(self) -> None:
        """End the process."""
        if self._handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def wait(self) -> int:
        """Kill it where it has not ended; return how it ended."""
        if self._code is None:
            self.kill()
            self._code = self._exit_code(self.pid)
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1
        return self._code


def _run(line: socket.socket, prepare: Callable[[], Serve]) -> None:
    """Run the fork server, and end this process."""
    with _exit_behind():
        # A terminal or a service manager signals the whole group; this ends with the agent.
        for number in IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        _keep_only(line.fileno())
        _carry_out_orders(line, prepare)


@contextlib.contextmanager
def _exit_behind() -> Iterator[None]:
    """End this process behind the body, whatever it raises: nothing continues as a second agent."""
    code = 1
    try:
        yield
        code = 0
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        os._exit(code)


def _keep_only(kept: int) -> None:
    """Close all files but standard error and one."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _carry_out_orders(line: socket.socket, prepare: Callable[[], Serve]) -> None:
    serve: Serve | None = None
    while True:
        order, handles, _, _ = socket.recv_fds(line, _NUMBER.size, len(Files._fields))
        if not order:
            return
        (number,) = _NUMBER.unpack(order)
        if serve is None:
            serve = prepare()
            gc.collect()
            gc.freeze()
        answer = (
            _kill_worker(number) if number != _FORK else _fork_worker(line, serve, Files(*handles))
        )
        for handle in handles:
            os.close(handle)
        line.send(_NUMBER.pack(answer))


def _fork_worker(line: socket.socket, serve: Serve, files: Files) -> int:
    try:
        pid = os.fork()
    except OSError as error:
        return -(error.errno or 1)
    if pid == 0:
        with _exit_behind():
            line.close()
            serve(files)
    return pid


def _kill_worker(pid: int) -> int:
    try:
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except (ChildProcessError, ProcessLookupError):
        return -signal.SIGKILL
