"""Files that are made while they are sent take threads of their sender's share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import cast

from starlette.responses import StreamingResponse

from manager.console.streamed_files import in_threads
from manager.console.tables.files import file_response
from manager.operations.request_senders import sender, work_for


def test_each_piece_is_made_for_the_sender() -> None:
    """In a thread that knows whose request it is."""

    def pieces() -> Iterator[str]:
        for _ in range(3):
            yield sender()

    async def story() -> list[str]:
        work_for("user anna")
        return [piece async for piece in in_threads(pieces())]

    assert asyncio.run(story()) == ["user anna"] * 3


def test_what_makes_pieces_is_closed_when_nobody_takes_them() -> None:
    """The client may go in the middle; a folder of files is removed then, and not some time."""
    closed: list[bool] = []

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            closed.append(True)

    async def story() -> None:
        made = cast("AsyncGenerator[bytes, None]", in_threads(pieces()))
        assert await anext(made) == b"x"
        await made.aclose()

    asyncio.run(story())
    assert closed == [True]


def test_a_list_of_many_rows_is_made_for_its_sender() -> None:
    """CSV of a million rows: some hundred at a time, in its sender's share of threads."""
    seen: set[str] = set()

    def rows() -> Iterator[tuple[int]]:
        for number in range(2_000):
            seen.add(sender())
            yield (number,)

    async def story() -> int:
        work_for("user anna")
        answer = file_response("hosts", "csv", ["n"], rows())
        assert isinstance(answer, StreamingResponse)
        return sum([len(str(piece).splitlines()) async for piece in answer.body_iterator])

    assert asyncio.run(story()) == 2_001
    assert seen == {"user anna"}
