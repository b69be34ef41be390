"""What the signing process answers when its own disk fails."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from typing import cast

import pytest

from manager.signing.protocol import Signed, question_line, read_answer
from manager.signing.server import answer
from manager.signing.signer import Signer
from shared.messages import Message


class FullDisk:
    """A signer that cannot keep anything."""

    def sign(self, roots: Sequence[bytes], targets: bytes) -> Signed:
        """Fail as the disk does."""
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_said_and_written_down(caplog: pytest.LogCaptureFixture) -> None:
    """Who asked hears why nothing was signed, and the log of the signer has it too."""
    asks, answers = socket.socketpair()
    with asks, answers:
        asks.sendall(question_line([b"root"], b"targets"))
        said = read_answer(answer(cast(Signer, FullDisk()), answers))
    assert isinstance(said, Message)
    assert said == Message("releases.signer_disk", problem="No space left on device")
    assert "No space left on device" in caplog.text
