"""Metrics for Prometheus, on a separate address that only the operators reach.

Events of the process are counted as they happen; the tables are queried at a scrape, at most every
`FRESH_S`. Invariant: labels have few values, all defined here: routes, states, jobs. No name of an
agent, a host or a person is one, so a growing fleet adds no series.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manager.errors import BusyError
from manager.operations.health.system_figures import SystemFigures
from manager.settings import ServerSettings
from shared.errors import SettingError

__all__ = ["Metrics"]

FRESH_S: Final = 10.0
PREFIXES: Final = ("/api/v1", "/console")
REQUEST_S: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
JOB_S: Final = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0)

_log: Final = logging.getLogger(__name__)


class Metrics(Collector):
    """The metrics of one manager; any thread may count. Those of tables are read at a scrape."""

    def __init__(
        self,
        standing: Callable[[], SystemFigures],
        epoch: Callable[[], int],
        database_gone_s: Callable[[], float],
    ) -> None:
        """standing: what the tables say. epoch: in which this manager leads, 0: it does not."""
        self.registry: Final = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._requests = Histogram(
            "prsm_request_seconds",
            "Requests answered, by route and status.",
            ("route", "status"),
            buckets=REQUEST_S,
            registry=self.registry,
        )
        self._jobs = Histogram(
            "prsm_job_seconds",
            "What the clock called, by job.",
            ("job",),
            buckets=JOB_S,
            registry=self.registry,
        )
        self._failures = Counter(
            "prsm_job_failures", "Jobs of the clock that failed.", ("job",), registry=self.registry
        )
        self._standing = standing
        self._epoch = epoch
        self._gone_s = database_gone_s
        self._lock = threading.Lock()
        self._seen: SystemFigures | None = None
        self._seen_at = 0.0
        self.registry.register(self)

    def counted(self, app: ASGIApp) -> ASGIApp:
        """Return the application with its requests counted."""
        requests = self._requests

        async def count(scope: Scope, receive: Receive, send: Send) -> None:
            """Serve a request, and count it with its status and time."""
            begun, status = time.perf_counter(), 500

            async def watch(message: Message) -> None:
                """Note the status of the response, and send the message."""
                nonlocal status
                if message["type"] == "http.response.start":
                    status = int(message["status"])
                await send(message)

            try:
                await app(scope, receive, watch)
            finally:
                took_s = time.perf_counter() - begun
                requests.labels(_route(scope), f"{status // 100}xx").observe(took_s)

        return count

    def timed(self, name: str, job: Callable[[], object]) -> Callable[[], object]:
        """Return a job of the clock with its calls counted."""
        jobs, failures = self._jobs.labels(name), self._failures.labels(name)

        def run() -> None:
            with failures.count_exceptions(), jobs.time():
                job()

        return run

    def serve(self, server: ServerSettings) -> Callable[[], None]:
        """Answer scrapes, if a port is set; return what ends that. Raises SettingError."""
        if not server.metrics_port:
            return lambda: None
        try:
            http, thread = start_http_server(
                server.metrics_port, server.metrics_host, registry=self.registry
            )
        except OSError as error:
            raise SettingError(
                "app.metrics_port_failed",
                port=server.metrics_port,
                host=server.metrics_host,
                problem=str(error.strerror),
            ) from error
        _log.info("metrics at http://%s:%d/metrics", server.metrics_host, server.metrics_port)

        def stop() -> None:
            """Stop the server of the metrics."""
            http.shutdown()
            http.server_close()
            thread.join()

        return stop

    def describe(self) -> Iterable[Metric]:
        """Describe no metrics in advance: the registry would query the database."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges; those of the tables are missing while the database is gone."""
        epoch = self._epoch()
        yield _one("prsm_leads", "Whether this manager leads.", float(epoch > 0))
        yield _one("prsm_database_gone_seconds", "Since when it does not answer.", self._gone_s())
        seen = self._fresh()
        if seen is None:
            return
        yield _one("prsm_leader_epoch", "Of whoever leads.", seen.epoch)
        yield _one("prsm_last_tick_timestamp_seconds", "When it ticked.", seen.last_tick_ms / 1000)
        yield _one("prsm_held_until_timestamp_seconds", "Restored.", seen.held_until_ms / 1000)
        yield _one("prsm_alerts", "Audit rows that want a look.", seen.alerts)
        if seen.disk_free_bytes is not None:
            yield _one("prsm_disk_free_bytes", "Of the data directory.", seen.disk_free_bytes)
        yield _one("prsm_reports", "Crawl logs taken.", seen.reports)
        yield _one("prsm_log_lines", "Lines of them.", seen.lines)
        yield _one("prsm_segments", "That are given away.", seen.segments)
        yield _one("prsm_segment_bytes", "All of them together.", seen.segment_bytes)
        yield _one("prsm_round", "Number of the newest.", seen.round)
        yield _by("prsm_managers", "Known, by state.", "state", _managers(seen))
        yield _by("prsm_agents", "By state.", "state", seen.agents)
        yield _by("prsm_round_units", "Of the open round, by state.", "state", seen.units)
        yield _by("prsm_transfers", "From agents, by state.", "state", seen.transfers)

    def _fresh(self) -> SystemFigures | None:
        with self._lock:
            if self._seen is None or time.monotonic() - self._seen_at > FRESH_S:
                try:
                    self._seen = self._standing()
                    self._seen_at = time.monotonic()
                except BusyError:
                    self._seen = None
            return self._seen


def _route(scope: Scope) -> str:
    """Return the template of a request's route, as `/api/v1/agents/{name}`; of none: `other`."""
    template = getattr(scope.get("route"), "path", None)
    if not isinstance(template, str):
        return "other"
    path = str(scope["path"])
    # A router within another, or an application, knows only its own part.
    for prefix in PREFIXES:
        if path.startswith(f"{prefix}/") and not template.startswith(f"{prefix}/"):
            return prefix + template
    return template


def _managers(seen: SystemFigures) -> dict[str, int]:
    silent = sum(one.is_silent for one in seen.managers)
    return {"serving": len(seen.managers) - silent, "silent": silent}


def _one(name: str, said: str, value: float) -> Metric:
    return GaugeMetricFamily(name, said, value=value)


def _by(name: str, said: str, label: str, values: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, said, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family
