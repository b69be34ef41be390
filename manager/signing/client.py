"""Ask the signing process, from a manager."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from manager.errors import BusyError, ForbiddenError
from manager.signing.protocol import LINE_LIMIT_BYTES, Signed, question_line, read_answer
from shared.errors import FormatError
from shared.messages import Message

__all__ = ["SigningClient"]

PATIENCE_S: Final = 30.0


class SigningClient:
    """The signer behind a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def sign(self, roots: Sequence[bytes], targets: bytes) -> Signed:
        """Return what the signer signed.

        Raises BusyError (it does not answer), ForbiddenError (it refuses, with its reason).
        """
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.settimeout(PATIENCE_S)
                line.connect(str(self._path))
                line.sendall(question_line(roots, targets))
                with line.makefile("rb") as file:
                    answer = read_answer(file.readline(LINE_LIMIT_BYTES))
        except (OSError, FormatError) as error:
            raise BusyError(
                "releases.signer_unanswered",
                retry_after_s=60,
                path=str(self._path),
                problem=error.message if isinstance(error, FormatError) else str(error),
            ) from error
        if isinstance(answer, Message):
            raise ForbiddenError("releases.signer_refuses", reason=answer)
        return answer
