"""What of a job's queues is in memory, and in which order it is fetched."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agent.modules.frontier.linked_queue import Line
from agent.modules.frontier.queue_window import Front
from agent.pipeline.ledger import LEVELS, QueuedUrl
from agent.pipeline.messages.jobs import Job
from tests.agent.fakes import FakeLedger, Page
from tests.agent.modules.frontier.sites import PLAIN, A
from tests.agent.world import ANY_NAME, World, order

WINDOW = 4


class Desk:
    """One job with its queues, and a front."""

    def __init__(self) -> None:
        self.ledger = FakeLedger()
        self.number = self.ledger.new_job_number()
        self.ledger.open_job(Job(self.number, A, "crawl", 1))
        self.front = Front()
        self.names = iter(range(10**9))

    def push(self, *levels: int) -> None:
        self.ledger.push(
            QueuedUrl(0, f"{A}{next(self.names)}", self.number, 1, 0, None, 0, level)
            for level in levels
        )
        self.front.has_more()

    def take(self, now_s: float = 0.0) -> QueuedUrl | None:
        return self.front.next_url(
            self.number, now_s, self.ledger, WINDOW, lambda url: url.due_ms / 1000
        )

    def fetch(self, now_s: float = 0.0) -> int | None:
        """Take a URL, be done with it, and return its level."""
        url = self.take(now_s)
        if url is None:
            return None
        self.ledger.remove(self.number, url.position)
        return url.level


def test_the_first_level_is_worked_off_first_and_none_starves() -> None:
    """Seven of eight turns go to the first level that has anything, the others in rotation."""
    desk = Desk()
    desk.push(*([3, 2, 1, 0] * 64))
    counted = Counter(desk.fetch() for _ in range(64))
    assert counted[0] >= 56
    assert all(counted[level] >= 2 for level in (1, 2, 3))


def test_what_is_found_later_may_come_earlier() -> None:
    """A plain page overtakes a thousand queries that were found before it."""
    desk = Desk()
    desk.push(*([2] * 1000))
    for _ in range(20):
        desk.fetch()
    desk.push(0)
    assert 0 in [desk.fetch() for _ in range(2)]


@given(st.lists(st.one_of(st.integers(0, LEVELS - 1), st.just(-1)), max_size=80))
def test_everything_is_taken_once_in_the_order_of_its_level(steps: list[int]) -> None:
    """Whatever is pushed and taken in between: nothing twice, nothing lost, first in first out,
    and never more than a window of each level in memory."""
    desk = Desk()
    taken: list[QueuedUrl] = []
    for step in steps:
        if step >= 0:
            desk.push(step)
        elif (url := desk.take()) is not None:
            taken.append(url)
        assert desk.front.held <= WINDOW * LEVELS
    while (url := desk.take()) is not None:
        taken.append(url)
    assert not desk.front.waits
    assert sorted(one.position for one in taken) == [
        one.position for level in range(LEVELS) for one in desk.ledger.take(1, 0, 999, level)
    ]
    for level in range(LEVELS):
        positions = [one.position for one in taken if one.level == level]
        assert positions == sorted(positions)


def test_a_url_that_is_given_back_keeps_its_place() -> None:
    """What was not fetched is the next one of its level."""
    desk = Desk()
    desk.push(1, 1)
    first = desk.take()
    assert first is not None
    desk.front.put_back(first)
    assert desk.take() == first


def test_a_further_attempt_waits_for_its_time() -> None:
    """A URL that went back to its queue is not taken before its time, but others are."""
    desk = Desk()
    desk.push(0, 0)
    first = desk.take()
    assert first is not None
    desk.ledger.retry(1, first.position, 1, 60_000)
    desk.front.has_more()
    second = desk.take(1.0)
    assert second is not None
    assert second.url != first.url
    desk.ledger.remove(1, second.position)
    assert desk.take(2.0) is None
    assert desk.front.later_s == 60.0
    assert desk.front.waits
    again = desk.take(60.0)
    assert again is not None
    assert (again.url, again.attempts) == (first.url, 1)


def test_nothing_left_is_known_without_a_further_turn() -> None:
    """With the last URL of a queue it is known that it was the last."""
    desk = Desk()
    desk.push(0)
    url = desk.take()
    assert url is not None
    desk.front.under_way[url.url] = url
    desk.push(1)
    desk.fetch()
    assert not desk.front.waits


def test_endless_queries_do_not_hide_a_site() -> None:
    """Of a host with very many queries of which few pages may be fetched, the plain ones are."""
    queries = tuple(f"http://a.example/list?page={number}" for number in range(200))
    plain = tuple(f"http://a.example/article{number}" for number in range(20))
    web = {"http://a.example/": Page(("http://a.example/index",))}
    web["http://a.example/index"] = Page(queries + plain)
    world = World(web, limits=ANY_NAME, politeness=PLAIN)
    world.give_list([order(A, max_transfer=30)])
    world.run()
    assert len(world.fetched()) == 30
    assert set(plain) <= set(world.fetched())
    assert any("?" in url for url in world.fetched())


class Person:
    """Stands in lines."""

    def __init__(self, name: int) -> None:
        self.name = name
        self.ahead: object = None
        self.behind: object = None


@given(st.lists(st.booleans(), max_size=60))
def test_a_line_serves_who_came_first(steps: list[bool]) -> None:
    """It behaves as a queue, whatever is done to it, and keeps nobody who has left."""
    line: Line[Person] = Line()
    model: list[Person] = []
    for number, comes in enumerate(steps):
        if comes:
            line.append(person := Person(number))
            model.append(person)
        elif model:
            gone = line.popleft()
            assert gone is model.pop(0)
            assert gone.behind is None
        assert list(line) == model
        assert bool(line) is bool(model)
        assert line.first is (model[0] if model else None)
    line.clear()
    assert not line
    assert all(person.behind is None for person in model)
