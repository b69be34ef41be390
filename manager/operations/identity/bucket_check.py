"""The question whether a bucket answers, in bounded time.

An address that swallows packets answers after minutes.
"""

from __future__ import annotations

import threading
from typing import Final

from manager.errors import PrsmError
from manager.store.owner_marks import MARK, Mark
from manager.store.segments.object_store import ObjectStore
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["ANSWER_S", "BucketAnswer", "BucketQuestion"]

ANSWER_S: Final = 10.0
"""How long a bucket is waited for."""


@frozen
class BucketAnswer:
    """The mark of a bucket, None where it has none. why: no answer came; None: it did."""

    mark: Mark | None = None
    why: Message | None = None


class BucketQuestion:
    """The question for the mark of a bucket; at most one is under way."""

    def __init__(self, store: ObjectStore, answer_s: float = ANSWER_S) -> None:
        """answer_s: how long an answer is waited for."""
        self._store = store
        self._answer_s = answer_s
        self._asking: threading.Thread | None = None
        self._found = BucketAnswer()

    def ask(self) -> BucketAnswer:
        """Return the mark, or why none came in time."""
        if self._asking is None or not self._asking.is_alive():
            self._asking = threading.Thread(target=self._read, name="bucket", daemon=True)
            self._asking.start()
        self._asking.join(self._answer_s)
        if self._asking.is_alive():
            return BucketAnswer(why=Message("identity.bucket_silent", waited_s=self._answer_s))
        return self._found

    def _read(self) -> None:
        try:
            data = self._store.read_mark(MARK)
            self._found = BucketAnswer(None if data is None else Mark.decoded(data))
        except PrsmError as error:
            self._found = BucketAnswer(why=error.message)
