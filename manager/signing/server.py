"""Serve a signer on a Unix socket, one question after the other, until SIGTERM.

Who may ask is decided by the rights of the socket and its folder: the group of the managers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
from pathlib import Path
from typing import Final

from manager.signing.protocol import LINE_LIMIT_BYTES, answer_line, read_question, refusal_line
from manager.signing.signer import Signer
from shared.errors import PrsmError, SettingError
from shared.messages import Message

__all__ = ["answer", "serve_signer"]

PATIENCE_S: Final = 10.0
_log: Final = logging.getLogger(__name__)


class _Stop(Exception):  # noqa: N818 - no error: the end
    """SIGTERM or SIGINT."""


def serve_signer(signer: Signer, path: Path) -> None:
    """Answer until SIGTERM. Raises SettingError where the socket cannot be made."""
    listener = _listener(path)

    def stop(_number: int, _frame: object) -> None:
        raise _Stop

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    print(f"signing at {path} (process {os.getpid()})", flush=True)
    try:
        while True:
            line, _ = listener.accept()
            with line, contextlib.suppress(OSError):
                line.settimeout(PATIENCE_S)
                line.sendall(answer(signer, line))
    except _Stop:
        pass
    finally:
        listener.close()
        path.unlink(missing_ok=True)


def answer(signer: Signer, line: socket.socket) -> bytes:
    """Answer the one request of a connection; return the answer. OSError: the caller is gone."""
    with line.makefile("rb") as file:
        asked = file.readline(LINE_LIMIT_BYTES)
    try:
        signed = signer.sign(*read_question(asked))
    except PrsmError as error:
        _log.warning("refused: %s", error)
        return refusal_line(error.message)
    except OSError as error:
        # Nothing goes out that is not on its disk.
        _log.exception("not signed")
        return refusal_line(Message("releases.signer_disk", problem=error.strerror))
    _log.info("signed")
    return answer_line(signed)


def _listener(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o660)
        listener.listen(16)
    except OSError as error:
        listener.close()
        raise SettingError(
            "releases.signer_socket", path=str(path), problem=error.strerror
        ) from error
    return listener
