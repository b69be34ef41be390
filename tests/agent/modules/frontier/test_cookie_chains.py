"""Redirects that set a cookie and lead back: the page behind them is fetched, once."""

from __future__ import annotations

import pytest

from agent.pipeline.messages.requests import FetchRequest
from tests.agent.fakes import HTML, Page
from tests.agent.modules.frontier.sites import PLAIN
from tests.agent.world import World, order

A = "http://a.example/"
SETS = HTML[:-2] + b"Set-Cookie: seen=1; Path=/\r\n\r\n"


class Walled(World):
    """A world whose pages are behind walls: what a request without its cookie gets."""

    def __init__(self, web: dict[str, Page], walls: dict[str, Page]) -> None:
        self.walls = walls
        self.cookies: list[tuple[str, str]] = []
        super().__init__(web, politeness=PLAIN)

    def boot(self) -> None:
        """Start a process whose fetcher knows cookies."""
        super().boot()
        fetcher, usual = self.fetcher, self.fetcher.answer

        def answer(index: int = 0, outcome: object = None) -> FetchRequest:
            request = fetcher.flights[index].request
            self.cookies.append((request.url, request.cookies))
            wall = None if request.cookies else self.walls.get(request.url)
            fetcher.web = self.web if wall is None else {request.url: wall}
            return usual(index)

        fetcher.answer = answer  # type: ignore[method-assign]  # a wall before it


def test_the_page_behind_a_cookie_wall_is_fetched() -> None:
    """One that leads to itself, and one that leads away and back."""
    web = {A: Page(links=(f"{A}p", f"{A}q")), f"{A}p": Page(links=(f"{A}r",)), f"{A}q": Page()}
    walls = {
        f"{A}p": Page(status=302, location="/p", header=SETS),
        f"{A}q": Page(status=302, location="/ask?back=q", header=SETS),
    }
    web[f"{A}ask?back=q"] = Page(status=302, location="/q")
    web[f"{A}r"] = Page()
    world = Walled(web, walls)
    world.give_list([order(A)])
    world.run()
    asked = [one for one in world.cookies if not one[0].endswith("robots.txt")]
    assert asked.count((f"{A}p", "")) == 1
    assert asked.count((f"{A}p", "seen=1")) == 1
    assert asked.count((f"{A}q", "seen=1")) == 1
    assert (f"{A}ask?back=q", "seen=1") in asked
    assert (f"{A}r", "") in asked  # links of the page carry nothing
    (unit,) = world.reports.units
    assert unit.reason == "complete"
    assert not world.ledger.queued(1)


@pytest.mark.parametrize("cookies", [["a=1"] * 30, [f"a={number}" for number in range(30)]])
def test_a_wall_that_never_opens_ends(cookies: list[str]) -> None:
    """The same cookie again is no reason to ask again; another one each time ends at the limit."""
    world = Walled({A: Page()}, {})
    turns, usual = iter(cookies), world.fetcher.answer

    def answer(index: int = 0, outcome: object = None) -> FetchRequest:
        if not world.fetcher.flights[index].request.rules:
            fields = f"Set-Cookie: {next(turns)}\r\n\r\n".encode()
            world.web[A] = Page(status=302, location="/", header=HTML[:-2] + fields)
        return usual(index)

    world.fetcher.answer = answer  # type: ignore[method-assign]  # another page each time
    world.give_list([order(A)])
    world.run()
    fetched = [url for url, _ in world.cookies if url == A]
    assert len(fetched) == (2 if len(set(cookies)) == 1 else world.limits.redirects + 1)
