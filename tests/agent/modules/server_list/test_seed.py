"""Lists become jobs, and jobs that are done become news."""

from __future__ import annotations

from collections.abc import Iterable

from agent.modules.server_list.scope import scope_of
from agent.modules.server_list.seed import Seed
from agent.pipeline.handler import Output
from agent.pipeline.messages.hosts import HostFailed
from agent.pipeline.messages.jobs import Job, ListChanged, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Links
from shared.wire.orders import Order
from tests.agent.fakes import FakeLedger, handle
from tests.agent.world import slices_of

A, B = "http://a.example:80/", "http://b.example:80/"
HOME = "http://a.example:80/~koji/"


class Desk:
    """A seed, its ledger, and what it says."""

    def __init__(self, ledger: FakeLedger | None = None) -> None:
        self.ledger = ledger or FakeLedger()
        self.seed = Seed(self.ledger, scope_of(self.ledger))

    def give(self, *orders: Order, round_number: int | None = 1) -> list[Output]:
        slices = slices_of(self.ledger, orders, round_number)
        return [output for one in slices for output in self.seed.handle_list([one])]

    def tell(self, port: str, *messages: object) -> list[Output]:
        return handle(self.seed, port, *messages)

    def job(self, unit: str) -> Job:
        return self.seed.scope.jobs[unit]


def of(outputs: Iterable[Output], port: str) -> list[object]:
    return [message for name, message in outputs if name == port]


def change(outputs: Iterable[Output]) -> ListChanged:
    """Return what all slices of a list have changed, as one."""
    changes = [message for message in of(outputs, "changed") if isinstance(message, ListChanged)]
    return ListChanged(
        tuple(job for one in changes for job in one.begun),
        tuple(job for one in changes for job in one.ended),
        frozenset(number for one in changes for number in one.closed),
        tuple(job for one in changes for job in one.done),
        tuple(job for one in changes for job in one.woken),
    )


def done(job: Job, reason: str = "complete") -> UnitFinished:
    return UnitFinished(job.number, job.unit, A, job.kind, job.round, 3, 900, reason)


def test_a_first_list_begins_its_units() -> None:
    """Each unit begins with its top page; the scope is told before the links that need it."""
    desk = Desk()
    outputs = desk.give(Order(A), Order(B, "http://from.example/", max_transfer=50))
    assert [port for port, _ in outputs] == ["changed", "links", "links", "changed"]
    assert change(outputs).begun == (desk.job(A), desk.job(B))
    assert of(outputs, "links") == [
        Links(("http://a.example/",), None, 0, 0),
        Links(("http://b.example/",), "http://from.example/", 0, 0),
    ]
    assert (desk.job(A).kind, desk.job(A).round) == ("crawl", 1)
    assert (desk.job(B).kind, desk.job(B).max_pages) == ("probe", 50)
    assert [row.job for row in desk.ledger.jobs()] == [desk.job(A), desk.job(B)]


def test_start_pages_belong_to_the_longest_unit() -> None:
    """A line that names a page is fetched inside the longest unit of the list that holds it."""
    desk = Desk()
    page, other = "http://a.example/~koji/x.html", "http://a.example/y"
    outputs = desk.give(Order(A), Order(page, "http://ref.example/"), Order(HOME), Order(other))
    assert desk.job(HOME).start_pages == ((page, "http://ref.example/"),)
    assert desk.job(A).start_pages == ((other, None),)
    assert Links((page,), "http://ref.example/", 0, 0) in of(outputs, "links")


def test_the_same_unit_round_and_kind_goes_on() -> None:
    """A list that comes again changes nothing; one with other orders keeps the job's number."""
    desk = Desk()
    desk.give(Order(A))
    before = desk.job(A)
    assert of(desk.give(Order(A)), "links") == []
    page = "http://a.example/new"
    outputs = desk.give(Order(A, interval_ms=500, excepted=("/~koji/",)), Order(page))
    assert desk.job(A).number == before.number
    assert (desk.job(A).interval_ms, desk.job(A).excepted) == (500, ("/~koji/",))
    assert of(outputs, "links") == [Links((page,), None, 0, 0)]
    assert change(outputs).begun == change(outputs).ended == ()
    row = desk.ledger.job(before.number)
    assert row is not None
    assert row.job == desk.job(A)


def test_another_round_or_kind_is_another_job() -> None:
    """A crawl after a probe, or the next round, begins anew and ends the job before it."""
    desk = Desk()
    desk.give(Order(A, max_transfer=50))
    probe = desk.job(A)
    outputs = desk.give(Order(A))
    crawl = desk.job(A)
    assert change(outputs).ended == (probe,)
    assert change(outputs).begun == (crawl,)
    assert crawl.number > probe.number
    desk.give(Order(A), round_number=2)
    assert desk.job(A).number > crawl.number
    assert [row.job for row in desk.ledger.jobs()] == [desk.job(A)]


def test_a_list_without_a_round_goes_on_too() -> None:
    """A plain manager names no round: the same unit is then always the same job."""
    desk = Desk()
    desk.give(Order(A), round_number=None)
    number = desk.job(A).number
    desk.give(Order(A), Order(B), round_number=None)
    assert desk.job(A).number == number


def test_a_done_job_is_told_once_and_rests() -> None:
    """A job is finished once, its row stays, and the list that still names it wakes nothing."""
    desk = Desk()
    desk.give(Order(A), Order(B))
    job = desk.job(A)
    outputs = desk.tell("finished", done(job), done(job))
    assert of(outputs, "finished") == [done(job)]
    assert change(outputs).done == (job,)
    assert desk.tell("finished", done(job)) == []
    assert of(desk.give(Order(A), Order(B)), "links") == []
    assert desk.seed.scope.finished == {A}
    row = desk.ledger.job(job.number)
    assert row is not None
    assert row.finished


def test_news_of_a_job_that_is_gone_means_nothing() -> None:
    """A job that was replaced cannot finish the one that took its place."""
    desk = Desk()
    desk.give(Order(A, max_transfer=50))
    probe = desk.job(A)
    desk.give(Order(A))
    assert desk.tell("finished", done(probe)) == []
    assert not desk.seed.scope.finished


def test_a_host_without_an_address_ends_its_units() -> None:
    """All units of a host that cannot be found are finished, with the reason."""
    desk = Desk()
    desk.give(Order(A), Order(HOME), Order(B))
    outputs = desk.tell("failed", HostFailed(A, "no such name"), HostFailed(A, "no such name"))
    units = [unit for unit in of(outputs, "finished") if isinstance(unit, UnitFinished)]
    assert [(unit.unit, unit.reason, unit.pages) for unit in units] == [
        (A, "unreachable: no such name", 0),
        (HOME, "unreachable: no such name", 0),
    ]
    assert desk.seed.scope.finished == {A, HOME}


def test_a_restart_takes_up_what_was_in_force() -> None:
    """A new process holds the same jobs, finished ones too, and goes on with their numbers."""
    desk = Desk()
    desk.give(Order(A), Order(B))
    desk.tell("finished", done(desk.job(B)))
    desk.ledger.commit()
    again = Desk(desk.ledger.after_crash())
    assert again.seed.scope.jobs == desk.seed.scope.jobs
    assert again.seed.scope.finished == {B}
    assert of(again.give(Order(A), Order(B)), "links") == []


def test_unplaced_and_finished_jobs_close_at_once() -> None:
    """What no frontier has anything of is closed as soon as the list leaves it out."""
    desk = Desk()
    desk.give(Order(A), Order(B))
    a, b = desk.job(A), desk.job(B)
    desk.ledger.place_job(b.number, B, "192.0.2.2")
    desk.tell("finished", done(b))
    outputs = desk.give(round_number=2)
    assert change(outputs).closed == {a.number, b.number}
    assert of(outputs, "closed") == [
        UnitClosed(a.number, A, A),
        UnitClosed(b.number, B, B),
    ]
    assert desk.ledger.jobs() == []


def test_a_unit_that_is_done_continues_for_a_page_it_never_met() -> None:
    """It left the list and comes back in its round: its seen-set is there, its top not seeded."""
    desk = Desk()
    desk.give(Order(A))
    job = desk.job(A)
    desk.ledger.add_new(job.number, ["http://a.example/", "http://a.example/met"])
    desk.tell("finished", done(job))
    assert of(desk.give(), "closed") == []
    known = Order("http://a.example/met", "http://b.example/")
    assert of(desk.give(Order(A), known), "links") == []
    assert desk.seed.scope.finished == {A}
    outputs = desk.give(Order(A), known, Order("http://a.example/new", "http://b.example/"))
    again = desk.job(A)
    assert again.number == job.number
    assert change(outputs).begun == (again,)
    assert of(outputs, "links") == [Links(("http://a.example/new",), "http://b.example/", 0, 0)]
    assert desk.seed.scope.finished == set()
    assert desk.ledger.add_new(job.number, ["http://a.example/met"]) == [False]


def test_a_unit_that_was_given_up_does_not_continue() -> None:
    """Its queue was dropped: it has pages again in the next round."""
    desk = Desk()
    desk.give(Order(A))
    desk.tell("finished", done(desk.job(A), "page limit"))
    outputs = desk.give(Order(A), Order("http://a.example/new", None))
    assert of(outputs, "links") == []
    assert desk.seed.scope.finished == {A}


def test_closing_waits_for_the_requests_of_the_host() -> None:
    """A job is not closed while a request of another job that left the list is under way."""
    desk = Desk()
    desk.give(Order(A))
    placed = desk.job(A)
    desk.ledger.place_job(placed.number, A, "192.0.2.1")
    assert of(desk.give(), "closed") == []  # the frontier will say
    desk.give(Order(A), round_number=2)
    unplaced = desk.job(A)
    assert of(desk.give(), "closed") == []
    outputs = desk.tell("quiet", UnitClosed(placed.number, A, A))
    assert of(outputs, "closed") == [
        UnitClosed(placed.number, A, A),
        UnitClosed(unplaced.number, A, A),
    ]


PIECE = Order(HOME, share=3)


def test_a_piece_begins_without_its_top_page() -> None:
    """Of a directory of a split host only what a link leads to is fetched; `/` as ever."""
    desk = Desk()
    outputs = desk.give(Order(A, share=3), Order(HOME, share=3, starts=(("/~koji/x/", B),)))
    assert of(outputs, "links") == [
        Links(("http://a.example/",), None, 0, 0),
        Links(("http://a.example/~koji/x/",), B, 0, 0),
    ]
    assert desk.job(HOME).start_pages == (("http://a.example/~koji/x/", B),)
    assert desk.seed.shares_hosts
    probe = Order(HOME, max_transfer=50, share=1)
    assert of(Desk().give(probe), "links") == [Links(("http://a.example/~koji/",), None, 0, 0)]


def test_a_piece_rests_and_is_woken_by_a_new_start_page() -> None:
    """Nothing of it is dropped when nothing is left; a list without news leaves it at rest."""
    desk = Desk()
    desk.give(PIECE)
    job = desk.job(HOME)
    outputs = desk.tell("finished", done(job), done(job))
    assert of(outputs, "finished") == [done(job)]
    assert of(outputs, "changed") == []
    assert (desk.seed.scope.resting, desk.seed.scope.finished) == ({HOME}, set())
    row = desk.ledger.job(job.number)
    assert row is not None
    assert not row.finished
    assert desk.tell("finished", done(job)) == []
    outputs = desk.give(Order(HOME, share=3, interval_ms=9_000))
    assert of(outputs, "links") == []
    assert desk.seed.scope.resting == {HOME}
    page = "http://a.example/~koji/new.html"
    outputs = desk.give(PIECE, Order(page, A))
    assert change(outputs).woken == (desk.job(HOME),)
    assert of(outputs, "links") == [Links((page,), A, 0, 0)]
    assert desk.seed.scope.resting == set()
    assert desk.job(HOME).number == job.number
    assert of(desk.tell("finished", done(job)), "finished") == [done(job)]


def test_a_piece_that_failed_is_finished() -> None:
    """A limit or a host that does not answer ends a piece: no list wakes it."""
    desk = Desk()
    desk.give(PIECE)
    job = desk.job(HOME)
    outputs = desk.tell("finished", done(job, "page limit"))
    assert change(outputs).done == (job,)
    assert (desk.seed.scope.resting, desk.seed.scope.finished) == (set(), {HOME})
    outputs = desk.give(PIECE, Order("http://a.example/~koji/new.html", A))
    assert of(outputs, "links") == []
    assert desk.seed.scope.finished == {HOME}


def test_only_new_start_pages_of_a_list_are_looked_at() -> None:
    """A list that repeats a thousand pages for one new one costs one."""
    desk = Desk()
    pages = [Order(f"http://a.example/~koji/{number}.html", A) for number in range(5)]
    desk.give(PIECE, *pages[:4])
    assert of(desk.give(PIECE, *pages), "links") == [Links((pages[4].url,), A, 0, 0)]


def test_pages_are_fetched_again_alone() -> None:
    """An order of single pages begins with these, not with the top page."""
    desk = Desk()
    outputs = desk.give(Order(A, None, 2, only=("/x.html", "/b/")))
    assert (desk.job(A).kind, desk.job(A).max_pages) == ("refetch", 2)
    assert of(outputs, "links") == [
        Links(("http://a.example/x.html",), None, 0, 0),
        Links(("http://a.example/b/",), None, 0, 0),
    ]


def test_other_pages_of_a_unit_are_another_order() -> None:
    """The same list again changes nothing; other pages, or a crawl, begin anew."""
    desk = Desk()
    first = Order(A, None, 1, only=("/x.html",))
    desk.give(first)
    number = desk.job(A).number
    assert of(desk.give(first), "links") == []
    assert desk.job(A).number == number
    assert of(desk.give(Order(A, None, 1, only=("/y.html",))), "links") == [
        Links(("http://a.example/y.html",), None, 0, 0)
    ]
    assert desk.job(A).number != number
    assert of(desk.give(Order(A)), "links") == [Links(("http://a.example/",), None, 0, 0)]
