"""A whole crawl in memory and fake time: the modules, a runner, and the fakes around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from agent.modules.assemble import Crawl, CrawlPorts
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.server_list.list_change import ListChange, wanted_of
from agent.pipeline.crawl import CRAWL
from agent.pipeline.handler import Handle, Handler, Input, Inputs, Output
from agent.pipeline.messages.jobs import ListSlice, ServerList
from agent.pipeline.messages.requests import Tick
from agent.pipeline.partition import Partition
from agent.pipeline.ports import PageWorker
from agent.pipeline.shared_addresses import SharedRules
from agent.pipeline.spec import Module, Pipeline
from agent.runners.in_process import InProcessRunner, Post
from shared.wire.orders import ListHead, Order
from tests.agent.fakes import (
    FakeClock,
    FakeFetcher,
    FakeLedger,
    FakeReports,
    FakeResolver,
    FakeWorker,
    Page,
)

# Little memory for what was seen: a test makes a crawl for each process that it plays, and until
# Python looks for cycles they all are there.
ANY_NAME = CrawlLimits(require_public_suffix=False, seen_in_memory=1 << 10, hosts_in_memory=1 << 10)
TWO_OF_EACH = {module.name: 2 for module in CRAWL.modules if module.key.value != "single"}


def site(name: str, pages: int, *, fan_out: int = 3) -> dict[str, Page]:
    """Return a host of so many pages, each of which leads to `fan_out` more, and to the top."""
    top = f"http://{name}/"
    urls = [top, *(f"{top}p{number}" for number in range(1, pages))]
    web = {
        url: Page((top, *urls[index * fan_out + 1 : (index + 1) * fan_out + 1]))
        for index, url in enumerate(urls)
    }
    web[f"{top}robots.txt"] = Page(status=404)
    return web


def order(unit: str, **more: object) -> Order:
    """Return an order for a whole unit."""
    return Order(unit, **more)  # type: ignore[arg-type]  # the caller's keywords are Order's


def slices_of(
    ledger: FakeLedger, orders: Iterable[Order], round_number: int | None = 1
) -> Iterator[ListSlice]:
    """Return how a list is taken."""
    server_list = ServerList(ListHead(round_number), tuple(orders))
    return ListChange(ledger, wanted_of(server_list)).slices()


class TypedHandler:
    """A handler whose messages are checked against the types of the graph."""

    def __init__(self, module: Module, handler: Handler) -> None:
        self._module = module
        self._handler = handler
        if wants := getattr(handler, "wants_tick", None):
            self.wants_tick = wants

    def inputs(self) -> Inputs:
        """Return the handler's inputs, each with checks before and behind."""
        return {
            port: Input(one.message, partial(self._handle, port, one.handle))
            for port, one in self._handler.inputs().items()
        }

    def _handle(self, port: str, handle: Handle, batch: Sequence[object]) -> Iterator[Output]:
        for message in batch:
            assert isinstance(message, self._module.inputs[port]), (self._module.name, port)
        for output, message in handle(batch):
            assert isinstance(message, self._module.outputs[output]), (self._module.name, output)
            yield output, message


@dataclass
class World:
    """One process of the agent at a time, and everything that outlives it."""

    web: dict[str, Page]
    limits: CrawlLimits = ANY_NAME
    politeness: Politeness = field(default_factory=Politeness)
    partitions: Mapping[str, int] = field(default_factory=dict)
    choose: Callable[[int], int] | None = None
    capacity: int = 1024
    batch: int = 256
    blocked: Callable[[str], bool] = lambda url: False
    pipeline: Pipeline = CRAWL
    shared: SharedRules = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.ledger = FakeLedger()
        self.reports = FakeReports()
        self.started: list[tuple[float, str, str]] = []
        self.resolver_addresses: dict[str, tuple[str, ...]] = {}
        self.fetching = True
        self.boot()

    def boot(self) -> None:
        """Start a process on what the ledger's disk holds."""
        self.fetcher = FakeFetcher(self.clock, self.web)
        self.fetcher.started = self.started
        self.resolver = FakeResolver()
        self.resolver.addresses = self.resolver_addresses
        self.worker = FakeWorker(self.web)
        ports = CrawlPorts(
            *(self.ledger, self.fetcher, self.resolver),
            *(self.page_worker(), self.reports, self.clock),
        )
        self.crawl = Crawl(
            ports, self.politeness, self.limits, "PRS", self.blocked, shared=self.shared
        )
        self.runner = self.make_runner()

    def page_worker(self) -> PageWorker:
        """Return what works on the pages of a new process."""
        return self.worker

    def make_handler(self, module: str, partition: Partition, post: Post) -> Handler:
        """Build a handler that refuses messages of other types than the graph names."""
        (graph,) = (one for one in self.pipeline.modules if one.name == module)
        return TypedHandler(graph, self.crawl.make(module, partition, post))

    def make_runner(self) -> InProcessRunner:
        """Return the runner of a new process."""
        return InProcessRunner(
            self.pipeline,
            self.make_handler,
            partitions=self.partitions,
            choose=self.choose,
            capacity=self.capacity,
            batch=self.batch,
        )

    def crash(self) -> None:
        """End the process with kill -9, and start another one a minute later."""
        self.ledger = self.ledger.after_crash()
        self.clock.now_s += 60
        self.boot()

    def give_list(self, orders: Iterable[Order], round_number: int = 1) -> None:
        """Hand out a list, as the manager does."""
        for one in slices_of(self.ledger, orders, round_number):
            self.take(one)

    def take(self, one: ListSlice) -> None:
        """Carry a slice of a list out."""
        self.runner.post("seed.list", one)
        self.runner.run_until_settled()

    def tick(self, seconds: float = 0.0) -> None:
        """Let time pass, and tell the modules."""
        self.clock.now_s += seconds
        self.runner.run_until_settled()
        fetching = self.fetching and not self.crawl.paused
        self.runner.tick(Tick(self.clock.now_s, self.clock.epoch_ms(), fetching))

    def complete(self, choose: Callable[[int], int] = lambda count: 0) -> bool:
        """Let one thing that is under way outside be done; False: nothing is."""
        waiting: list[tuple[int, Callable[[int], object]]] = [
            (len(self.resolver.waiting), self.resolver.answer),
            (len(self.fetcher.flights), self.fetcher.answer),
            (len(self.worker.waiting), self.worker.answer),
        ]
        total = sum(count for count, _ in waiting)
        if not total:
            return False
        chosen = choose(total)
        for count, answer in waiting:
            if chosen < count:
                answer(chosen)
                break
            chosen -= count
        self.runner.run_until_settled()
        return True

    def run(self, *, ticks: int = 10_000, step_s: float = 1.0) -> None:
        """Crawl until nothing is left: complete everything, let time pass, commit."""
        for _ in range(ticks):
            while self.complete():
                pass
            self.tick(step_s)
            self.ledger.commit()
            if not self.open_jobs and not self.fetcher.flights:
                return
        raise AssertionError(f"not done after {ticks} ticks: {self.crawl.state()}")

    @property
    def open_jobs(self) -> list[str]:
        """Units of jobs that are not finished."""
        return [row.job.unit for row in self.ledger.jobs() if not row.finished]

    def fetched(self, *, rules: bool = False) -> list[str]:
        """URLs of the requests that were begun, in order."""
        urls = [url for _, _, url in self.started]
        return [url for url in urls if url.endswith("/robots.txt") is rules]
