"""A list is read behind the last file that came, so that none is missed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from client import file_list
from client.file_list import list_segments
from tests.client.answering import server_of
from tests.client.test_run import listed

NAMES = [f"{letter}.warc.gz" for letter in "abcdefg"]


class Moving:
    """A server whose first file goes away as soon as it was listed."""

    def __init__(self, *, names_last: bool) -> None:
        """names_last: it says in `next` behind what to go on, as one of this version does."""
        self._files = dict(enumerate(NAMES, 1))
        self._names_last = names_last

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer with a page."""
        asked = request.url.params
        size, page = int(asked["page_size"]), int(asked["page"])
        if "after_file" in asked:
            left = [number for number in self._files if number > int(asked["after_file"])]
        else:
            left = list(self._files)[(page - 1) * size :]
        shown = left[:size]
        answer: dict[str, Any] = {"files": [listed(self._files[number]) for number in shown]}
        answer["next"] = None
        if len(left) > size:
            more = f"&after_file={shown[-1]}" if self._names_last else ""
            answer["next"] = f"https://evil.example/webdata?page={page + 1}{more}&page_size={size}"
        self._files.pop(1, None)
        return httpx.Response(200, json=answer)


@pytest.mark.parametrize(("names_last", "lost"), [(True, 0), (False, 1)])
def test_what_stays_is_listed(names_last: bool, lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older manager names no file; its pages are read all the same."""
    monkeypatch.setattr(file_list, "PAGE", 2)
    with server_of(Moving(names_last=names_last)) as server:
        found = [file.name for file in list_segments(server)]
    assert len(found) == len(NAMES) - lost
    assert names_last is (found == NAMES)


@pytest.mark.parametrize("odd", [7, ["x"], "?after_file=../x", "?after_file=1;2", "x" * 10_000])
def test_odd_addresses_name_no_file(odd: object) -> None:
    """Of the address only a number is taken; anything else counts on from page to page."""
    asked: list[str] = []

    def answers(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url.params))
        last = len(asked) == 2
        files = [listed(f"{len(asked)}.warc.gz")]
        return httpx.Response(200, json={"files": files, "next": None if last else odd})

    with server_of(answers) as server:
        assert [file.name for file in list_segments(server)] == ["1.warc.gz", "2.warc.gz"]
    assert "after_file" not in asked[1]
